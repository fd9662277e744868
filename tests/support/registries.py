"""What every toolset's tools must hold so that all clients take them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from gateway.tools.registry import Registry, Tool, fold

MAX_TEXT: Final = 2_000  # characters of a description or of instructions that clients show
MAX_NAME: Final = 60  # characters of server and tool name together that one client takes
MAX_RESULT_CHARS: Final = 500_000
SERVER_NAME: Final = "knowledge"  # as a person would name the entry

_PLAIN: Final = frozenset(("string", "integer", "number", "boolean", "array", "object"))
# Composition breaks some clients; uniqueItems is checked in quadratic time.
_FORBIDDEN: Final = frozenset("anyOf oneOf allOf not if then else $ref $defs uniqueItems patternProperties".split())


def check_registry(registry: Registry, *, instructions: str = "") -> list[str]:
    """What is wrong with the tools of a registry, one line each."""
    problems = [] if len(instructions) <= MAX_TEXT else [f"instructions have more than {MAX_TEXT} characters"]
    for spelled, tool in registry.listed():
        problems += [f"{tool.name}: {problem}" for problem in _problems(spelled, tool)]
    return problems


def _problems(spelled: str, tool: Tool) -> Iterator[str]:
    if not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?", tool.name):
        yield "its name has other characters than letters, digits, hyphens, underscores and one dot"
    if len(f"{SERVER_NAME}{fold(spelled)}") > MAX_NAME:
        yield f"its name and {SERVER_NAME} have more than {MAX_NAME} characters"
    if not tool.title or not tool.description:
        yield "no title or no description"
    if len(tool.description) > MAX_TEXT:
        yield f"its description has more than {MAX_TEXT} characters"
    if tool.read_only and tool.destructive:
        yield "read-only and destructive"
    if tool.max_result_chars is not None and not 0 < tool.max_result_chars <= MAX_RESULT_CHARS:
        yield f"max_result_chars is not between 1 and {MAX_RESULT_CHARS}"
    yield from _schema_problems("input", tool.input_schema)
    if tool.input_schema.get("additionalProperties", True) is not False:
        yield "takes unknown arguments"
    yield from _argument_problems(tool.input_schema)
    if tool.output_schema is not None:
        yield from _schema_problems("output", tool.output_schema)


def _schema_problems(which: str, schema: Mapping[str, Any]) -> Iterator[str]:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield f"{which} schema: {error.message}"
        return
    if schema.get("type") != "object":
        yield f"{which} schema: no object"
    for where, part in _parts(which, schema):
        if not isinstance(part.get("type"), str) or part["type"] not in _PLAIN:
            yield f"{where}: its type is not one plain type"
        for keyword in sorted(_FORBIDDEN & part.keys()):
            yield f"{where}: {keyword}"
        for name in part.get("required", ()):
            if name not in part.get("properties", {}):
                yield f"{where}: requires {name}, which it does not describe"


def _argument_problems(schema: Mapping[str, Any]) -> Iterator[str]:
    """Arguments say what they mean and how large they may be."""
    for name, argument in schema.get("properties", {}).items():
        if not argument.get("description"):
            yield f"{name}: no description"
    for where, part in _parts("input", schema):
        if part.get("type") == "string" and not {"maxLength", "enum", "const"} & part.keys():
            yield f"{where}: a string without maxLength"
        if part.get("type") == "array" and "maxItems" not in part:
            yield f"{where}: an array without maxItems"
        if "default" in part and list(Draft202012Validator(part).iter_errors(part["default"])):
            yield f"{where}: a default that it does not allow"


def _parts(where: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A schema and those inside it, each with where it stands."""
    yield where, schema
    for name, part in schema.get("properties", {}).items():
        yield from _parts(f"{where}.{name}", part)
    if "items" in schema:
        yield from _parts(f"{where}[]", schema["items"])
