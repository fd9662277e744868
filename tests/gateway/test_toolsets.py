"""Every tool of every toolset, as all are served together: what clients take, and bad arguments, which never reach one.

Each is refused on one line that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client
from mcp.types import TextContent

from cache.errors import NotConfigured
from gateway.server import build_server
from gateway.settings import Settings, ToolsetName
from gateway.tools.registry import Listing, NameForm, Registry, Tool
from gateway.toolsets import TOOLSETS, Assembled, Endpoint, Once, assemble
from tests.support.registries import check_registry


def _assembled(listing: Listing) -> Assembled:
    """All toolsets on one list, with nothing configured."""
    return assemble(Settings(), tuple(TOOLSETS), Endpoint(listing, AsyncExitStack()))


TOOLS = {tool.name: tool for tool in _assembled(Listing()).registry.tools}


@pytest.mark.parametrize("form", NameForm)
@pytest.mark.parametrize("read_only", [False, True])
def test_all_together_are_what_clients_take(form: NameForm, read_only: bool) -> None:
    served = _assembled(Listing(form, read_only))
    assert check_registry(served.registry, instructions=served.instructions) == []


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("name", TOOLSETS)
def test_words_name_no_tool_that_is_not_listed(name: ToolsetName, read_only: bool) -> None:
    served = assemble(Settings(), [name], Endpoint(Listing(read_only=read_only), AsyncExitStack()))
    listed = dict(served.registry.listed())
    words = " ".join([served.instructions, *(tool.description for tool in listed.values())])
    assert [other for other in TOOLS if other not in listed and re.search(rf"\b{other}\b", words)] == []


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
            is_path = argument in TOOLS[name].paths and isinstance(arguments.get(argument), str)
            code = "invalid_path" if is_path else "invalid_argument"
            assert block.text.startswith(f"{code}: "), (argument, arguments)
            assert argument in block.text
            assert block.text.isprintable()
            assert len(block.text) < 300


class TestOnce:
    @pytest.mark.anyio
    async def test_what_many_ask_for_at_once_is_made_once(self) -> None:
        async def make() -> object:
            await anyio.lowlevel.checkpoint()
            return object()

        once = Once(make)
        found: list[object] = []

        async def ask() -> None:
            found.append(await once.get())

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)
        assert len(found) == 3
        assert len(set(map(id, found))) == 1

    @pytest.mark.anyio
    async def test_what_failed_is_tried_again(self) -> None:
        outcomes = iter((NotConfigured("not yet"), "made"))

        async def make() -> str:
            outcome = next(outcomes)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        once = Once(make)
        with pytest.raises(NotConfigured):
            await once.get()
        assert [await once.get(), await once.get()] == ["made", "made"]
