"""What the forge's own description says of its API, and whether a request keeps to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft4Validator

from tests.fake_gitea.log import Exchange
from tests.fake_gitea.recordings import DESCRIPTION

BOOLEANS = {"true", "false"}


@cache
def description() -> Mapping[str, Any]:
    loaded: dict[str, Any] = json.loads(DESCRIPTION.read_bytes())
    return loaded


def operation(method: str, template: str) -> Mapping[str, Any] | None:
    """What is described under this method and path, if anything is."""
    found: Mapping[str, Any] | None = description()["paths"].get(template, {}).get(method.lower())
    return found


def parameters(method: str, template: str) -> dict[str, Mapping[str, Any]]:
    """The query parameters that are described, by name."""
    described = operation(method, template) or {}
    return {one["name"]: one for one in described.get("parameters", []) if one["in"] == "query"}


def undescribed(exchanges: Iterable[Exchange]) -> list[str]:
    """What these requests do that the description does not know, one line each."""
    return [f"{exchange.key}: {one}" for exchange in exchanges for one in _problems(exchange)]


def _problems(exchange: Exchange) -> Iterator[str]:
    described = operation(exchange.method, exchange.route)
    if described is None:
        yield "not described"
        return
    known = parameters(exchange.method, exchange.route)
    for name, value in exchange.query:
        if name not in known:
            yield f"no such parameter: {name}"
        elif not _fits(known[name], value):
            yield f"parameter {name} cannot be {value!r}"
    for name in (name for name, one in known.items() if one.get("required")):
        if name not in dict(exchange.query):
            yield f"the parameter {name} is missing"
    yield from _problems_of_body(exchange, described)


def _fits(parameter: Mapping[str, Any], value: str) -> bool:
    if parameter["type"] == "integer":
        return value.isascii() and value.isdigit() and int(value) >= parameter.get("minimum", 0)
    if parameter["type"] == "boolean":
        return value in BOOLEANS
    return value in parameter.get("enum", [value])


def _problems_of_body(exchange: Exchange, described: Mapping[str, Any]) -> Iterator[str]:
    bodies = [one["schema"] for one in described.get("parameters", []) if one["in"] == "body"]
    if not exchange.body or not bodies:
        if exchange.body:
            yield "no body is described"
        return
    if "application/json" not in exchange.headers.get("content-type", ""):
        yield "the body is not called JSON"
    try:
        value = exchange.json()
    except ValueError:
        yield "the body is not JSON"
        return
    validator = Draft4Validator({**bodies[0], "definitions": _closed_definitions()})
    for error in validator.iter_errors(value):
        yield f"body{error.json_path.removeprefix('$')}: {error.message}"


@cache
def _closed_definitions() -> dict[str, Any]:
    """The description's types, but without room for keys that it does not name."""
    return {
        name: {**schema, "additionalProperties": False} if "properties" in schema else schema
        for name, schema in description()["definitions"].items()
    }
