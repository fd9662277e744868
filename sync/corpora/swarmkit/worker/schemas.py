"""The engine for where SwarmKit is not installed: each file by its own JSON Schema, and nothing across files."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import referencing
from jsonschema.exceptions import ValidationError, best_match
from referencing.exceptions import NoSuchResource, Unresolvable

from .artifacts import Artifact, Workspace
from .report import Finding, reported

NAME = "schema-only"
MAX_ERRORS = 20  # of one file

CODES = {
    "required": "required-field",
    "type": "type-mismatch",
    "pattern": "pattern-mismatch",
    "enum": "enum-mismatch",
    "const": "const-mismatch",
    "minLength": "length",
    "maxLength": "length",
    "minimum": "range",
    "maximum": "range",
    "minItems": "array-size",
    "maxItems": "array-size",
    "minProperties": "object-size",
    "maxProperties": "object-size",
    "additionalProperties": "unknown-field",
    "oneOf": "variant-mismatch",
    "anyOf": "variant-mismatch",
    "allOf": "conditional",
    "if": "conditional",
    "format": "format",
}
"""What the resolver calls a broken rule of JSON Schema, behind ``schema.``; what is not here it calls ``other``."""


class SchemasOnly:
    """The schemas of the checkout."""

    name = NAME
    sources = ""

    def is_current(self) -> bool:
        return True

    def check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        workspace = Workspace(Path(request["workspace"]))
        findings = list(_findings(workspace, Schemas(Path(request["schemas"]))))
        return {
            "valid": not findings,
            "engine": self.name,
            "complete": False,
            **workspace.outline(),
            "errors": reported(findings, workspace),
        }


class Schemas:
    """The JSON Schemas of a folder and those below it. References between them are found here and never fetched."""

    def __init__(self, folder: Path) -> None:
        self._by_name: dict[str, dict[str, Any]] = {}
        by_id = []
        for path in sorted(folder.glob("**/*.json")):
            try:
                schema = json.loads(path.read_bytes())
            except (OSError, ValueError):
                continue
            if not isinstance(schema, dict):
                continue
            self._by_name.setdefault(path.name.removesuffix(".json").removesuffix(".schema"), schema)
            if isinstance(schema.get("$id"), str):
                by_id.append((schema["$id"], _resource(schema)))
        self._registry: Any = referencing.Registry(retrieve=self._retrieve).with_resources(by_id)  # type: ignore[call-arg]

    @property
    def names(self) -> Collection[str]:
        return self._by_name.keys()

    def _retrieve(self, uri: str) -> Any:
        """The schema that a reference means by its last part: files name each other by other ids than they bear."""
        name = re.split(r"[/:]", uri.partition("#")[0])[-1].removesuffix(".json").removesuffix(".schema")
        if name not in self._by_name:
            raise NoSuchResource(uri)
        return _resource(self._by_name[name])

    def errors(self, kind: str, raw: Mapping[str, Any]) -> list[ValidationError] | None:
        """What is wrong with an artifact; ``None`` where there is no schema for its kind."""
        schema = self._by_name.get(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", kind).lower())
        if schema is None:
            return None
        validator = jsonschema.Draft202012Validator(schema, registry=self._registry)
        deepest = (best_match([error]) for error in validator.iter_errors(raw))
        return [error for error, _ in zip((one for one in deepest if one), range(MAX_ERRORS), strict=False)]


def _resource(schema: dict[str, Any]) -> Any:
    return referencing.Resource.from_contents(schema, default_specification=referencing.jsonschema.DRAFT202012)


def _findings(workspace: Workspace, schemas: Schemas) -> Iterator[Finding]:
    if not schemas.names:
        yield Finding("schema.other", "there are no schemas to check against", workspace.root)
        return
    if not workspace.of_kind("Workspace"):
        yield Finding("workspace.missing-workspace-yaml", "no workspace.yaml that can be read", workspace.root)
    for artifact in workspace.artifacts:
        if artifact.problem is not None:
            yield Finding(artifact.problem.code, artifact.problem.message, artifact.path, line=artifact.problem.line)
        else:
            yield from _broken_rules(artifact, schemas)


def _broken_rules(artifact: Artifact, schemas: Schemas) -> Iterator[Finding]:
    try:
        errors = schemas.errors(artifact.kind, artifact.raw)
    except (Unresolvable, RecursionError) as unusable:
        yield Finding("schema.other", f"its schema cannot be used: {type(unusable).__name__}", artifact.path)
        return
    if errors is None:
        yield Finding("workspace.kind-mismatch", f"no kind of artifact: {artifact.kind!r}", artifact.path, "/kind")
        return
    for error in errors:
        rule = str(error.validator)
        pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
        code = f"schema.{CODES.get(rule, 'other')}"
        yield Finding(code, error.message, artifact.path, pointer, f"{rule}: {error.validator_value!r}")
