"""Over standard streams: each bad line gets one answer and the server goes on, nothing else reaches the wire, and
the process ends with its client."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from gateway.transports.jsonrpc import MAX_MESSAGE
from gateway.transports.stdio import _Wire
from tests.support.stdio_process import (
    INITIALIZE,
    MODERN,
    PATIENCE,
    ROOT,
    SAMPLE,
    StdioProcess,
    call,
    line_of,
    request,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioProcess]:
    """One verbose server for all tests that it must survive, after the handshake."""
    with StdioProcess(tmp_path_factory.mktemp("stdio") / "log", [*SAMPLE, "-v"]) as process:
        process.handshake()
        yield process


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[StdioProcess]:
    """A server for a test that ends it, after the handshake."""
    with StdioProcess(tmp_path / "log") as process:
        process.handshake()
        yield process


class TestBothEras:
    @pytest.mark.anyio
    @pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
    async def test_a_client_of_each_era_is_served(self, mode: str, version: str) -> None:
        command, *args = SAMPLE
        async with Client(StdioServerParameters(command=command, args=args, cwd=ROOT), mode=mode) as session:
            assert session.protocol_version == version
            assert (await session.list_tools()).tools[0].name == "sample.echo"
            result = await session.call_tool("sample_echo", {"query": "Grüße"})
        assert result.structured_content == {"arguments": {"query": "Grüße"}}


class TestBadLines:
    @pytest.mark.parametrize(
        ("line", "id_", "code", "message"),
        [
            (b"garbage", None, -32700, "invalid JSON: expected value"),
            (line_of(call(1, "sample.echo", query="x"))[:-3], 1, -32700, "invalid JSON: EOF"),
            (line_of(call(2, "sample.echo", query="Z")).replace(b"Z", b"\xff"), 2, -32700, "invalid JSON: "),
            (line_of(call(3, "sample.echo", query="Z")).replace(b"Z", b"\0"), 3, -32700, "invalid JSON: control"),
            (line_of(call(4, "sample.echo", query="Z")).replace(b'"Z"', b"[" * 100_000), 4, -32700, "invalid JSON: "),
            (line_of(call(5, "sample.echo", query="Z")).replace(b'"Z"', b"NaN"), 5, -32700, "invalid JSON: "),
            (line_of([call(6, "sample.echo", query="x")]), None, -32600, "batches are not supported"),
            (line_of(request(None, "ping")), None, -32600, "id must be a string or an integer"),
            (line_of(request(1.5, "ping")), None, -32600, "id must be a string or an integer"),
            (line_of({"id": 7, "method": "ping"}), 7, -32600, "invalid message: jsonrpc: Field required"),
            (line_of({"jsonrpc": "2.0", "id": 8, "method": "ping", "params": [1]}), 8, -32600, "invalid message: par"),
            (line_of({"jsonrpc": "2.0", "id": 9}), None, -32600, "a message has a method"),
            (line_of(request(10, "no/such")), 10, -32601, "Method not found"),
            (line_of(request(11, "tools/call", name=7)), 11, -32602, "Invalid request parameters"),
            (line_of(request(12, "tools/call", name="\ud800")), 12, -32602, "unknown tool '\ufffd'"),
            (line_of(request(13, "\ud800")), 13, -32601, "Method not found"),
        ],
    )
    def test_each_gets_one_error_with_its_id_where_it_has_one(
        self, server: StdioProcess, line: bytes, id_: int | None, code: int, message: str
    ) -> None:
        server.send(line.rstrip(b"\n") + b"\n")
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (id_, code)
        assert answer["error"]["message"].startswith(message)
        assert server.ask(request("on", "ping"))["result"] == {}

    def test_one_that_is_too_long_is_not_kept_and_has_one_answer(self, server: StdioProcess) -> None:
        head = line_of(call(20, "sample.echo", query="Z"))[:-5]
        server.send(head, *[b"x" * MAX_MESSAGE] * 3, b'"}}}\n')
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (20, -32600)
        assert answer["error"]["message"] == f"a message has at most {MAX_MESSAGE} bytes"
        assert server.ask(request("on", "ping"))["result"] == {}

    @pytest.mark.parametrize("line", [b"\n", b" \r\n", b'{"jsonrpc":"2.0","method":"notifications/unknown"}\r\n'])
    def test_blank_lines_and_notifications_get_no_answer(self, server: StdioProcess, line: bytes) -> None:
        server.send(line)
        assert server.ask(request("on", "ping"))["result"] == {}

    @pytest.mark.parametrize(
        ("argument", "line"),
        [
            ("\ud800", "invalid_argument: query must not contain lone surrogates"),
            ("a\0", "invalid_argument: query must not contain NUL characters"),
            ("x" * (4 << 20), "invalid_argument: query must have at most 2000 characters"),
            ([1] * (1 << 20), "invalid_argument: query must be a string, not an array"),
        ],
        ids=["lone surrogate", "NUL", "4 MiB string", "array of a million"],
    )
    def test_a_bad_argument_is_named_in_a_tool_error(self, server: StdioProcess, argument: object, line: str) -> None:
        result = server.ask(call("bad", "sample.echo", query=argument))["result"]
        assert result["isError"]
        assert [block["text"] for block in result["content"]] == [line]


def test_of_a_line_without_end_no_more_is_kept_than_tells_that_it_is_too_long() -> None:
    incoming, outgoing = os.pipe()
    with os.fdopen(incoming), os.fdopen(outgoing, "wb", buffering=0) as client:
        lines = _Wire(incoming, -1).lines()
        sender = threading.Thread(target=client.write, args=(b"x" * 3 * MAX_MESSAGE + b"\nshort\n",))
        sender.start()
        assert next(lines) == b"x" * (MAX_MESSAGE + 1)
        assert next(lines) == b"short"
        sender.join()


class TestTheWire:
    def test_stray_output_goes_to_standard_error_and_input_is_out_of_reach(self, server: StdioProcess) -> None:
        assert server.ask(call("noise", "sample.noise"))["result"]["content"][0]["text"] == "done"
        assert server.ask(request("on", "ping"))["result"] == {}
        log = server.log.read_text()
        assert "stray bytes" in log
        assert "stray child" in log

    def test_what_print_still_holds_at_the_end_does_not_reach_it(self, own_server: StdioProcess) -> None:
        own_server.ask(call("noise", "sample.noise"))
        own_server.end_input()
        assert own_server.rest() == []
        assert own_server.exit_code() == 0
        assert "stray print" in own_server.log.read_text()

    def test_a_slow_call_delays_no_other_and_is_cancelled_without_an_answer(self, server: StdioProcess) -> None:
        server.send(call("slow", "sample.wait"))
        server.await_log("waiting")
        assert server.ask(call("quick", "sample.text"))["result"]["content"][0]["text"].startswith("Grüße")
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}})
        server.await_log("cancelled")
        assert server.ask(request("on", "ping"))["result"] == {}


class TestTheEnd:
    def test_what_was_asked_before_the_end_of_input_is_answered(self, tmp_path: Path) -> None:
        with StdioProcess(tmp_path / "log") as process:
            process.send(request(0, "tools/list", **MODERN), line_of(request(1, "tools/list", **MODERN))[:-1])
            process.end_input()
            assert {answer["id"] for answer in process.rest() if "result" in answer} == {0, 1}
            assert process.exit_code() == 0

    def test_a_call_that_hangs_in_a_thread_does_not_keep_the_process(self, own_server: StdioProcess) -> None:
        own_server.send(call("hang", "sample.hang"))
        own_server.ask(request("on", "ping"))
        own_server.end_input()
        assert own_server.exit_code() == 0

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_ends_it_cleanly(self, own_server: StdioProcess, number: signal.Signals) -> None:
        own_server.send(call("wait", "sample.wait"))
        own_server.await_log("waiting")
        own_server.process.send_signal(number)
        assert own_server.exit_code() == 0
        log = own_server.log.read_text()
        assert "cancelled" in log
        assert "Traceback" not in log

    def test_a_client_that_reads_no_more_ends_it_without_a_traceback(self, tmp_path: Path) -> None:
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                SAMPLE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=ROOT, bufsize=0
            )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdout.close()
            process.stdin.write(line_of(request(0, "initialize", **INITIALIZE)))
            assert process.wait(PATIENCE) == 0
        assert (tmp_path / "log").read_text() == ""

    @pytest.mark.parametrize("closed", ["<&-", ">&-"])
    def test_it_does_not_start_without_its_streams(self, closed: str) -> None:
        command = f"exec {shlex.join(SAMPLE)} {closed}"
        done = subprocess.run(
            ["sh", "-c", command], stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=PATIENCE, check=False
        )
        assert done.stderr.startswith("unavailable: standard input or output is closed")

    def test_it_needs_no_standard_error(self, tmp_path: Path) -> None:
        with StdioProcess(tmp_path / "log", ["sh", "-c", f"exec {shlex.join(SAMPLE)} 2>&-"]) as process:
            process.handshake()
            assert process.ask(call("noise", "sample.noise"))["result"]["content"][0]["text"] == "done"
