"""Every tool of every toolset: bad arguments never reach it, each is refused on one line that names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextContent

from gateway.server import build_server
from gateway.tools.federation import federation_tools, unconfigured
from gateway.tools.registry import Listing, Registry, Tool

TOOLS = {tool.name: tool for tool in federation_tools(unconfigured, Listing())}


def _bad_values(schema: Mapping[str, Any]) -> Iterator[object]:
    """Values that an argument of ``schema`` must not take."""
    yield {"a": 1}
    match schema["type"]:
        case "string":
            yield from (7, True, ["x"], "", "x" * (schema.get("maxLength", 0) + 1), "a\0b", "a\ud800b")
        case "integer":
            yield from ("7", 1.5, True, schema["minimum"] - 1)
            if "maximum" in schema:
                yield schema["maximum"] + 1
        case "array":
            yield from ("x", 7, ["x"] * (schema["maxItems"] + 1))
            yield from ([bad] for bad in _bad_values(schema["items"]))
            if schema.get("minItems", 0) > 0:
                yield []
        case "boolean":
            yield from ("true", 1, ["x"])


def _good_value(schema: Mapping[str, Any]) -> object:
    return ["x"] if schema["type"] == "array" else "x" if schema["type"] == "string" else schema.get("minimum", 1)


def _bad_calls(tool: Tool) -> Iterator[tuple[str, dict[str, object]]]:
    """Arguments that are wrong in one place, with the name that stands there."""
    properties: Mapping[str, Any] = tool.input_schema["properties"]  # type: ignore[assignment] # JSON Schema's own rule
    required: list[str] = list(tool.input_schema.get("required", ()))  # type: ignore[call-overload]
    good = {name: _good_value(properties[name]) for name in required}
    for name in required:
        yield name, {other: value for other, value in good.items() if other != name}
        yield name, {**good, name: None}
    for name, schema in properties.items():
        for bad in _bad_values(schema):
            yield name, {**good, name: bad}
    yield "no_such_argument", {**good, "no_such_argument": None}


@pytest.mark.anyio
@pytest.mark.parametrize("name", TOOLS)
async def test_each_bad_argument_is_refused_by_name(name: str) -> None:
    registry = Registry((TOOLS[name],))
    async with Client(build_server(registry, name="x", version="1", instructions=""), mode="legacy") as session:
        for argument, arguments in _bad_calls(TOOLS[name]):
            result = await session.call_tool(name, arguments)
            (block,) = result.content
            assert isinstance(block, TextContent)
            assert result.is_error, (argument, arguments)
            assert block.text.startswith("invalid_argument: "), (argument, arguments)
            assert argument in block.text
            assert block.text.isprintable()
            assert len(block.text) < 300
