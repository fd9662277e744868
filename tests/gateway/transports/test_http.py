"""Over HTTP: sessions, the era without them and single calls at one endpoint, for this machine only."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from cache.errors import InvalidArgument, Unavailable
from gateway.server import build_server
from gateway.transports import serve_http
from gateway.transports.http import _listen, http_app, local_only, loopback
from tests.support.sample_tools import INSTRUCTIONS, sample_registry
from tests.support.stdio_process import INITIALIZE, MODERN, PATIENCE, ROOT, call, request

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the application, without a socket."""
    app = http_app(build_server(sample_registry(), name="x", version="1", instructions=INSTRUCTIONS), local_only())
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321", headers=JSON) as client,
    ):
        yield client


def answer_of(response: httpx2.Response) -> dict[str, Any]:
    """The message in a response of either kind."""
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = next(line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: "))
    message: dict[str, Any] = json.loads(text)
    return message


async def post(http: httpx2.AsyncClient, message: object, **headers: str) -> httpx2.Response:
    return await http.post("/mcp", content=json.dumps(message), headers=headers)


async def open_session(http: httpx2.AsyncClient) -> Mapping[str, str]:
    """The headers that belong to a new session."""
    response = await post(http, request(0, "initialize", **INITIALIZE))
    headers = {"mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    await post(http, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers)
    return headers


class TestOneEndpoint:
    async def test_a_session_is_opened_used_and_closed(self, http: httpx2.AsyncClient) -> None:
        session = await open_session(http)
        answer = answer_of(await post(http, call(1, "sample.echo", query="x"), **session))
        assert answer["result"]["structuredContent"] == {"arguments": {"query": "x"}}
        assert (await http.delete("/mcp", headers=session)).status_code == 200
        gone = await post(http, call(2, "sample.echo", query="x"), **session)
        assert gone.status_code == 404
        assert answer_of(gone)["error"]["message"] == "Session not found"

    async def test_the_era_without_sessions_is_served_beside_them(self, http: httpx2.AsyncClient) -> None:
        message = request(1, "tools/call", name="sample.echo", arguments={"query": "x"}, **MODERN)
        headers = {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "sample.echo",
        }
        result = answer_of(await post(http, message, **headers))["result"]
        assert result["structuredContent"] == {"arguments": {"query": "x"}}
        assert result["resultType"] == "complete"

    async def test_a_single_call_without_anything_is_answered_in_json(self, http: httpx2.AsyncClient) -> None:
        response = await post(http, call(1, "sample.echo", query="x"), accept="*/*")
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/json"
        assert "mcp-session-id" not in response.headers
        assert answer_of(response)["result"]["structuredContent"] == {"arguments": {"query": "x"}}

    async def test_a_stream_without_a_session_is_refused_at_once(self, http: httpx2.AsyncClient) -> None:
        assert (await http.get("/mcp", headers={"accept": "text/event-stream"})).status_code == 400

    async def test_whoever_looks_elsewhere_is_told_where_in_json(self, http: httpx2.AsyncClient) -> None:
        for path in ("/", "/.well-known/oauth-protected-resource", "/mcp/x"):
            response = await http.get(path)
            assert response.status_code == 404
            assert response.json() == {"error": "not_found: the endpoint is /mcp"}


class TestBadRequests:
    @pytest.mark.parametrize("in_session", [False, True])
    @pytest.mark.parametrize(
        ("body", "id_", "code"),
        [
            (b"garbage", None, -32700),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{', 1, -32700),
            (b'{"jsonrpc":"2.0","id":2,"method":"x","params":{"a":"\xff"}}', 2, -32700),
            (b'{"jsonrpc":"2.0","id":3,"method":"x","params":{"a":' + b"[" * 100_000, 3, -32700),
            (rb'{"jsonrpc":"2.0","id":4,"method":"x","params":{"a":"\ud800"}}', 4, -32602),
            (b'[{"jsonrpc":"2.0","id":5,"method":"ping"}]', None, -32600),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
            (b"", None, -32700),
        ],
    )
    async def test_a_bad_body_gets_one_error_with_its_id(
        self, http: httpx2.AsyncClient, body: bytes, id_: int | None, code: int, in_session: bool
    ) -> None:
        session = await open_session(http) if in_session else {}
        response = await http.post("/mcp", content=body, headers=session)
        assert response.status_code == 400
        assert (response.json()["id"], response.json()["error"]["code"]) == (id_, code)
        assert answer_of(await post(http, request(9, "ping"), **session))["result"] == {}

    async def test_a_bad_argument_is_a_tool_error(self, http: httpx2.AsyncClient) -> None:
        result = answer_of(await post(http, call(1, "sample.echo", query="x" * 100_000)))["result"]
        assert result["isError"]
        assert result["content"][0]["text"] == "invalid_argument: query must have at most 2000 characters"

    async def test_a_body_over_4_mib_is_too_large(self, http: httpx2.AsyncClient) -> None:
        response = await post(http, call(1, "sample.echo", query="x" * (4 << 20)))
        assert (response.status_code, response.text) == (413, "Request body too large")

    async def test_another_kind_of_content_is_refused(self, http: httpx2.AsyncClient) -> None:
        assert (await post(http, request(1, "ping"), **{"content-type": "text/plain"})).status_code == 400

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"host": "evil.example.test"}, 421),
            ({"host": "evil.example.test:8321"}, 421),
            ({"origin": "http://evil.example.test"}, 403),
            ({"origin": "null"}, 403),
            ({"origin": "http://localhost:6274"}, 200),
            ({"host": "localhost:8321", "origin": "http://127.0.0.1"}, 200),
        ],
    )
    async def test_a_page_of_another_host_cannot_call(
        self, http: httpx2.AsyncClient, headers: Mapping[str, str], status: int
    ) -> None:
        assert (await post(http, request(1, "ping"), **headers)).status_code == status


class TestAddresses:
    @pytest.mark.parametrize(
        ("host", "address"),
        [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("::1", "::1"), ("[::1]", "::1"), ("127.8.8.8",) * 2],
    )
    def test_loopback_addresses_are_served(self, host: str, address: str) -> None:
        assert loopback(host) == address

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.7", "git.example.test", "127.1", "::2"])  # noqa: S104
    async def test_no_other_is_before_there_is_authentication(self, host: str) -> None:
        server = build_server(sample_registry(), name="x", version="1", instructions="")
        with pytest.raises(InvalidArgument, match=r"only 127\.0\.0\.1, ::1 or localhost can be served"):
            await serve_http(server, host, 0, on_ready=pytest.fail)

    async def test_a_port_that_is_taken_is_told(self) -> None:
        server = build_server(sample_registry(), name="x", version="1", instructions="")
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            with pytest.raises(Unavailable, match=f"cannot listen on 127.0.0.1:{port}: Address already in use — "):
                await serve_http(server, "127.0.0.1", port, on_ready=pytest.fail)


def test_answers_do_not_wait_until_the_client_has_confirmed_their_first_part() -> None:
    with _listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves the sample registry, and its URL."""
    command = [sys.executable, "-m", "tests.support.sample_server", "http"]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT) as process,
    ):
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def raw_request(url: str, method: str, headers: Mapping[str, str], body: bytes = b"") -> socket.socket:
    """A connection over which a request was sent."""
    connection = socket.create_connection(("127.0.0.1", httpx2.URL(url).port or 0), timeout=PATIENCE)
    all_headers = {"host": "localhost", "accept": "*/*", "content-length": str(len(body)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
    connection.sendall(f"{method} /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
    return connection


class TestTheProcess:
    async def test_clients_of_both_eras_are_served(self, process: tuple[subprocess.Popen[str], str]) -> None:
        _, url = process
        for mode, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28")):
            async with Client(url, mode=mode) as session:
                assert session.protocol_version == version
                assert (await session.list_tools()).tools[0].name == "sample.echo"
                result = await session.call_tool("sample_echo", {"query": "Grüße"})
                assert result.structured_content == {"arguments": {"query": "Grüße"}}

    async def test_it_ends_cleanly_with_a_stream_open_and_a_call_that_hangs(
        self, process: tuple[subprocess.Popen[str], str], tmp_path: Path
    ) -> None:
        server, url = process
        async with httpx2.AsyncClient(base_url=url.removesuffix("/mcp"), headers=JSON) as http:
            session = await open_session(http)
            with (
                raw_request(url, "GET", session) as stream,
                raw_request(url, "POST", JSON, json.dumps(call(1, "sample.hang")).encode()) as hanging,
            ):
                assert stream.recv(15) == b"HTTP/1.1 200 OK"
                assert answer_of(await post(http, request(2, "ping")))["result"] == {}
                server.send_signal(signal.SIGTERM)
                assert server.wait(PATIENCE) == 0
                assert hanging.recv(12) == b"HTTP/1.1 503"
        assert "Traceback" not in (tmp_path / "log").read_text()
