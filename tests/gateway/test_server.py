"""Tools over the protocol, in memory and in both eras: the list, results, and errors that tell no more than needed."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.to_thread
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from cache.errors import Denied, NotFound, StoreFailure
from gateway.server import build_server
from gateway.tools.registry import Listing, NameForm, Registry, Result, Structured, Texts
from tests.support.sample_tools import INSTRUCTIONS, sample_registry, tool

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["legacy", "auto"])
def era(request: pytest.FixtureRequest) -> str:
    """The handshake protocol, or the newest, which has none."""
    mode: str = request.param
    return mode


def client(registry: Registry, era: str) -> Client:
    return Client(build_server(registry, name="sample", version="1.2.3", instructions=INSTRUCTIONS), mode=era)


def serving(run: Any) -> Registry:
    return Registry((tool("sample.tool", run),))


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


class TestTheList:
    async def test_the_server_tells_who_it_is_and_what_it_is_for(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            assert session.server_info is not None
            assert (session.server_info.name, session.server_info.version) == ("sample", "1.2.3")
            assert session.instructions == INSTRUCTIONS

    async def test_a_tool_is_listed_with_all_that_clients_act_on(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            echo, text, *_ = (await session.list_tools()).tools
        assert (echo.name, echo.title, echo.description) == ("sample.echo", "sample.echo", "Does sample.echo.")
        assert echo.input_schema["additionalProperties"] is False
        assert echo.output_schema is not None
        assert echo.annotations is not None
        assert echo.annotations.model_dump(exclude_none=True) == {
            "read_only_hint": True,
            "destructive_hint": False,
            "idempotent_hint": True,
            "open_world_hint": False,
        }
        assert echo.meta == {"anthropic/alwaysLoad": True}
        assert text.output_schema is None
        assert text.meta == {"anthropic/maxResultSizeChars": 100_000}

    async def test_names_are_listed_in_the_form_of_the_registry(self, era: str) -> None:
        async with client(sample_registry(NameForm.UNDERSCORE), era) as session:
            assert (await session.list_tools()).tools[0].name == "sample_echo"

    async def test_there_is_one_page(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            assert (await session.list_tools()).next_cursor is None
            with pytest.raises(MCPError, match="unknown cursor") as caught:
                await session.list_tools(cursor="x")
        assert caught.value.error.code == -32602


class TestResults:
    async def test_a_structured_result_comes_as_such_and_as_the_same_json_in_text(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            result = await session.call_tool("sample.echo", {"query": "Grüße", "limit": 7.0, "exact": None})
        assert result.structured_content == {"arguments": {"query": "Grüße", "limit": 7}}
        assert texts(result) == ['{"arguments":{"query":"Grüße","limit":7}}']
        assert not result.is_error

    async def test_a_structured_result_fits_its_schema(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            schema = (await session.list_tools()).tools[0].output_schema
            result = await session.call_tool("sample.echo", {"query": "x"})
        assert schema is not None
        Draft202012Validator(schema).validate(result.structured_content)

    async def test_texts_come_exactly_and_alone(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            result = await session.call_tool("sample.text")
        assert texts(result) == ["Grüße, 世界 😀\n", '{"chars":12}']
        assert result.structured_content is None

    @pytest.mark.parametrize("called", ["sample.text", "sample_text"])
    async def test_a_call_is_accepted_in_both_forms_of_its_name(self, era: str, called: str) -> None:
        async with client(sample_registry(), era) as session:
            assert not (await session.call_tool(called)).is_error

    async def test_lone_surrogates_are_replaced(self, era: str) -> None:
        async def structured(_: Mapping[str, Any]) -> Result:
            return Structured({"title": "a\ud800b", "bad\udfffkey": 1})

        async def text(_: Mapping[str, Any]) -> Result:
            return Texts(("a\ud800b😀",))

        registry = Registry((tool("a.structured", structured, output_schema={"type": "object"}), tool("a.text", text)))
        async with client(registry, era) as session:
            result = await session.call_tool("a.structured")
            assert result.structured_content == json.loads(texts(result)[0]) == {"title": "a\ufffdb", "bad\ufffdkey": 1}
            assert texts(await session.call_tool("a.text")) == ["a\ufffdb😀"]


class TestErrors:
    async def test_an_error_of_the_contract_is_a_tool_error_of_one_line(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            result = await session.call_tool("sample.missing")
        assert result.is_error
        assert texts(result) == ["not_found: no such page: x (did you mean y?)"]
        assert result.structured_content is None

    async def test_bad_arguments_are_a_tool_error_that_names_them(self, era: str) -> None:
        async with client(sample_registry(), era) as session:
            result = await session.call_tool("sample.echo", {"query": "x", "limit": 21})
        assert result.is_error
        assert texts(result) == ["invalid_argument: limit must be at most 20"]

    async def test_a_tool_is_not_run_with_bad_arguments(self, era: str) -> None:
        runs: list[Mapping[str, Any]] = []

        async def run(arguments: Mapping[str, Any]) -> Result:
            runs.append(arguments)
            return Texts(())

        async with client(serving(run), era) as session:
            assert (await session.call_tool("sample.tool", {"x": 1})).is_error
        assert runs == []

    @pytest.mark.parametrize("called", ["sample.write", "sample_write"])
    async def test_a_tool_that_writes_refuses_where_nothing_is_written(self, era: str, called: str) -> None:
        async def run(_: Mapping[str, Any]) -> Result:
            raise AssertionError

        write = tool("sample.write", run, read_only=False)
        async with client(Registry((write,), Listing(read_only=True)), era) as session:
            assert (await session.list_tools()).tools == []
            result = await session.call_tool(called, {"no such": "argument"})
        assert result.is_error
        assert texts(result) == [
            "denied: this gateway is read-only — start it without --read-only, and unset [gateway] read_only"
        ]

    async def test_any_other_exception_tells_the_client_nothing_and_the_log_everything(
        self, era: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with client(sample_registry(), era) as session:
            result = await session.call_tool("sample.broken")
        assert result.is_error
        assert texts(result) == ["unavailable: internal error (see the log)"]
        assert "secret-value in /secret/path" in caplog.text
        assert [record.levelno for record in caplog.records if record.name == "gateway.server"] == [logging.ERROR]

    async def test_the_one_error_of_a_task_group_is_that_error(self, era: str) -> None:
        async def run(_: Mapping[str, Any]) -> Result:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fail)
            return Texts(())

        async def fail() -> None:
            raise Denied("token refused by git.example.test")

        async with client(serving(run), era) as session:
            assert texts(await session.call_tool("sample.tool")) == ["denied: token refused by git.example.test"]

    async def test_of_several_errors_of_a_task_group_the_first_is_told(self, era: str) -> None:
        both = threading.Barrier(2)

        async def run(_: Mapping[str, Any]) -> Result:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, fail)
                tasks.start_soon(anyio.to_thread.run_sync, fail)
            return Texts(())

        def fail() -> None:
            both.wait(timeout=10)
            raise StoreFailure("no space is left for the cache")

        async with client(serving(run), era) as session:
            assert texts(await session.call_tool("sample.tool")) == ["unavailable: no space is left for the cache"]

    async def test_an_error_line_is_printable(self, era: str) -> None:
        async def run(_: Mapping[str, Any]) -> Result:
            raise NotFound("no page \x1b[2J\ud800\u202e")

        async with client(serving(run), era) as session:
            assert texts(await session.call_tool("sample.tool")) == ["not_found: no page \ufffd[2J\ufffd\ufffd"]

    async def test_a_result_that_is_no_json_is_an_internal_error(self, era: str) -> None:
        async def run(_: Mapping[str, Any]) -> Result:
            return Structured({"score": float("nan")})

        async with client(serving(run), era) as session:
            assert texts(await session.call_tool("sample.tool")) == ["unavailable: internal error (see the log)"]

    @pytest.mark.parametrize(
        ("called", "message"),
        [
            ("sample.ecoh", "unknown tool 'sample.ecoh' (did you mean sample.echo?)"),
            ("nothing_like_it", "unknown tool 'nothing_like_it' (see tools/list)"),
            ("x" * 100_000, f"unknown tool '{'x' * 40}…' (see tools/list)"),
        ],
    )
    async def test_an_unknown_tool_is_an_error_of_the_protocol(self, era: str, called: str, message: str) -> None:
        async with client(sample_registry(), era) as session:
            with pytest.raises(MCPError) as caught:
                await session.call_tool(called)
        assert (caught.value.error.code, caught.value.error.message) == (-32602, message)


class TestConcurrency:
    async def test_calls_run_side_by_side(self, era: str) -> None:
        met = anyio.Event()

        async def wait(_: Mapping[str, Any]) -> Result:
            await met.wait()
            return Texts(("waited",))

        async def meet(_: Mapping[str, Any]) -> Result:
            met.set()
            return Texts(("met",))

        registry = Registry((tool("a.wait", wait), tool("a.meet", meet)))
        with anyio.fail_after(10):
            async with client(registry, era) as session, anyio.create_task_group() as tasks:
                tasks.start_soon(session.call_tool, "a.wait")
                tasks.start_soon(session.call_tool, "a.meet")

    async def test_a_cancelled_call_cancels_its_tool(self, era: str) -> None:
        started, cancelled = anyio.Event(), anyio.Event()

        async def wait(_: Mapping[str, Any]) -> Result:
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                cancelled.set()
            raise AssertionError

        with anyio.fail_after(10):
            async with client(serving(wait), era) as session, anyio.create_task_group() as tasks:
                tasks.start_soon(session.call_tool, "sample.tool")
                await started.wait()
                tasks.cancel_scope.cancel()
            await cancelled.wait()
