"""Faults of a real network, on loopback."""

import asyncio
import base64
import logging
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cache.errors import KnowledgeError, NotConfigured, TimedOut, TooLarge
from sync.exchange import Request, Response, Trouble, Unreachable
from sync.http import HttpClient, HttpSettings
from tests.support.loopback import Connection, closed_port, hang, make_authority, ok, reset, respond, serving

pytestmark = pytest.mark.anyio

IMPATIENT = HttpSettings(patience=0.0, connect_timeout=2.0, idle_timeout=0.2, attempt_timeout=0.5)


async def get(url: str, settings: HttpSettings = IMPATIENT) -> Response:
    """One request, one attempt, with a client of its own."""
    http = HttpClient(settings)
    try:
        with anyio.fail_after(10):
            return await http.send(Request("GET", url, limit=10_000, idempotent=False))
    finally:
        await http.aclose()


async def failure_of(answer: Connection) -> Unreachable:
    async with serving(answer) as port:
        with pytest.raises(Unreachable) as caught:
            await get(f"http://127.0.0.1:{port}/")
    return caught.value


async def test_an_answer_comes_through() -> None:
    async with serving(respond(ok(b"hello"))) as port:
        assert (await get(f"http://127.0.0.1:{port}/")).body == b"hello"


async def test_what_is_asked_for_arrives_as_it_was_encoded() -> None:
    lines = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append((await reader.readuntil(b"\r\n\r\n")).splitlines()[0])
        writer.write(ok(b""))

    target = "/gitea/api/v1/repos/a/b/raw/50%25%20%231%3F.md/%2E%2E/%C3%9C?ref=a%26b%2Bc"
    async with serving(answer) as port:
        await get(f"http://127.0.0.1:{port}{target}")
    assert lines == [f"GET {target} HTTP/1.1".encode()]


async def test_connections_are_used_again() -> None:
    connections = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(ok(b"x"))

    http = HttpClient(IMPATIENT)
    async with serving(answer) as port:
        for _ in range(5):
            await http.send(Request("GET", f"http://127.0.0.1:{port}/", limit=10))
        await http.aclose()
    assert connections == 1


async def test_a_refused_connection_is_named() -> None:
    port = closed_port()
    with pytest.raises(Unreachable) as caught:
        await get(f"http://127.0.0.1:{port}/")
    assert caught.value.trouble is Trouble.CONNECT
    assert caught.value.message == f"127.0.0.1:{port} unreachable: connection refused"


async def test_a_host_without_an_address_is_named() -> None:
    with pytest.raises(Unreachable) as caught:
        await get("http://no-such-host.invalid/")
    assert caught.value.trouble is Trouble.DNS


async def test_a_reset_connection_is_named() -> None:
    failure = await failure_of(reset)
    assert failure.trouble is Trouble.LOST


async def test_a_connection_closed_without_an_answer_is_named() -> None:
    failure = await failure_of(respond())
    assert failure.trouble is Trouble.LOST


async def test_a_body_cut_short_is_not_taken_for_whole() -> None:
    failure = await failure_of(respond(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"only this"))
    assert failure.trouble is Trouble.LOST


async def test_a_chunked_body_cut_short_is_not_taken_for_whole() -> None:
    failure = await failure_of(respond(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"))
    assert failure.trouble is Trouble.LOST


async def test_what_is_not_http_is_named() -> None:
    failure = await failure_of(respond(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"))
    assert failure.trouble is Trouble.GARBLED


async def test_a_host_that_says_nothing_times_out() -> None:
    async with serving(hang) as port:
        with pytest.raises(TimedOut, match=r"timed out after 0\.2 s"):
            await get(f"http://127.0.0.1:{port}/")


async def test_a_body_that_never_ends_is_bounded_by_bytes() -> None:
    endless = respond(b"HTTP/1.1 200 OK\r\n\r\n", forever=b"x" * 1000)
    async with serving(endless) as port:
        with pytest.raises(TooLarge):
            await get(f"http://127.0.0.1:{port}/")


async def test_a_body_that_trickles_is_bounded_by_time() -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with serving(trickle) as port:
        with pytest.raises(TimedOut, match=r"timed out after 0\.5 s"):
            await get(f"http://127.0.0.1:{port}/")


async def test_headers_without_end_are_bounded() -> None:
    failure = await failure_of(respond(b"HTTP/1.1 200 OK\r\n", forever=b"X-Pad: " + b"x" * 1000 + b"\r\n"))
    assert failure.trouble is Trouble.GARBLED


async def test_a_stale_connection_is_replaced() -> None:
    """The server closes after each answer without saying so, as one does that is restarted."""
    async with serving(respond(ok(b"x"))) as port:
        http = HttpClient(IMPATIENT)
        for _ in range(5):
            response = await http.send(Request("GET", f"http://127.0.0.1:{port}/", limit=10))
            assert response.body == b"x"
        await http.aclose()


async def test_callers_that_give_up_leave_room_for_others() -> None:
    async def slow_at_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readuntil(b"\r\n\r\n")
        if b"/slow" in line:
            await asyncio.Event().wait()
        writer.write(ok(b"x"))

    async with serving(slow_at_first) as port:
        http = HttpClient(HttpSettings(max_in_flight=2))
        for _ in range(6):
            with anyio.move_on_after(0.02):
                await http.send(Request("GET", f"http://127.0.0.1:{port}/slow", limit=10))
        with anyio.fail_after(5):
            await http.send(Request("GET", f"http://127.0.0.1:{port}/", limit=10))
        await http.aclose()


async def test_no_log_line_shows_a_header(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = (("Authorization", "token fake-token-for-tests"),)
    async with serving(respond(ok(b"x"))) as port:
        http = HttpClient(IMPATIENT)
        await http.send(Request("GET", f"http://127.0.0.1:{port}/", limit=10, headers=secret))
        await http.aclose()
    assert "Response(status=200)" in caplog.text
    assert "fake-token-for-tests" not in caplog.text


class TestTls:
    async def test_a_private_authority_is_trusted_by_its_file(self, tmp_path: Path) -> None:
        authority = make_authority(tmp_path)
        async with serving(respond(ok(b"secret")), tls=authority.server) as port:
            response = await get(f"https://127.0.0.1:{port}/", HttpSettings(ca_file=authority.ca_file))
        assert response.body == b"secret"

    async def test_the_environment_may_name_the_authorities(self, tmp_path: Path) -> None:
        authority = make_authority(tmp_path)
        environ = {"SSL_CERT_FILE": str(authority.ca_file)}
        async with serving(respond(ok(b"secret")), tls=authority.server) as port:
            response = await get(f"https://127.0.0.1:{port}/", HttpSettings(environ=environ))
        assert response.body == b"secret"

    async def test_an_unknown_authority_is_named(self, tmp_path: Path) -> None:
        authority = make_authority(tmp_path)
        async with serving(respond(ok(b"secret")), tls=authority.server) as port:
            with pytest.raises(Unreachable, match=r"TLS certificate not accepted: .*issuer") as caught:
                await get(f"https://127.0.0.1:{port}/")
        assert caught.value.trouble is Trouble.UNTRUSTED

    async def test_a_certificate_for_another_host_is_named(self, tmp_path: Path) -> None:
        authority = make_authority(tmp_path, host="127.0.0.9")
        async with serving(respond(ok(b"secret")), tls=authority.server) as port:
            with pytest.raises(Unreachable, match="TLS certificate not accepted: IP address mismatch") as caught:
                await get(f"https://127.0.0.1:{port}/", HttpSettings(ca_file=authority.ca_file))
        assert caught.value.trouble is Trouble.MISNAMED

    async def test_a_certificate_of_yesterday_is_named(self, tmp_path: Path) -> None:
        authority = make_authority(tmp_path, days_old=3)
        async with serving(respond(ok(b"secret")), tls=authority.server) as port:
            with pytest.raises(Unreachable, match="TLS certificate not accepted: certificate has expired") as caught:
                await get(f"https://127.0.0.1:{port}/", HttpSettings(ca_file=authority.ca_file))
        assert caught.value.trouble is Trouble.EXPIRED

    async def test_a_server_without_tls_is_named(self) -> None:
        async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        async with serving(plain) as port:
            with pytest.raises(Unreachable, match="TLS failed: wrong version number") as caught:
                await get(f"https://127.0.0.1:{port}/")
        assert caught.value.trouble is Trouble.TLS

    @pytest.mark.parametrize("content", [None, b"no certificate"])
    async def test_a_ca_file_that_cannot_be_used_is_told(self, tmp_path: Path, content: bytes | None) -> None:
        ca_file = tmp_path / "ca.pem"
        if content is not None:
            ca_file.write_bytes(content)
        with pytest.raises(NotConfigured, match="ca_file"):
            await get("https://127.0.0.1:1/", HttpSettings(ca_file=ca_file))


class TestProxy:
    async def through(self, proxy: Connection, environ: Mapping[str, str], url: str) -> Response:
        async with serving(proxy) as port:
            named = {name: value.replace("PORT", str(port)) for name, value in environ.items()}
            return await get(url, HttpSettings(environ=named, patience=0.0))

    async def test_the_proxy_of_the_environment_is_used(self) -> None:
        response = await self.through(
            respond(ok(b"by proxy")), {"HTTP_PROXY": "http://127.0.0.1:PORT"}, "http://git.example.test/"
        )
        assert response.body == b"by proxy"

    async def test_a_host_in_no_proxy_is_reached_directly(self) -> None:
        async with serving(respond(ok(b"direct"))) as port:
            environ = {"HTTP_PROXY": f"http://127.0.0.1:{closed_port()}", "NO_PROXY": "127.0.0.0/8"}
            response = await get(f"http://127.0.0.1:{port}/", HttpSettings(environ=environ))
        assert response.body == b"direct"

    async def test_a_proxy_that_cannot_be_reached_is_named(self) -> None:
        port = closed_port()
        environ = {"HTTPS_PROXY": f"http://user:fake-password@127.0.0.1:{port}"}
        with pytest.raises(Unreachable) as caught:
            await get("https://git.example.test/", HttpSettings(environ=environ, patience=0.0))
        assert caught.value.trouble is Trouble.PROXY
        assert caught.value.why == f"proxy 127.0.0.1:{port}: connection refused"

    async def test_a_proxy_that_refuses_is_named(self) -> None:
        answer = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
        with pytest.raises(Unreachable, match=r"proxy .* refuses: 407 Proxy Authentication Required") as caught:
            await self.through(respond(answer), {"HTTPS_PROXY": "127.0.0.1:PORT"}, "https://git.example.test/")
        assert caught.value.trouble is Trouble.PROXY

    async def test_a_proxy_gets_its_own_credentials(self) -> None:
        heads = []

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(ok(b""))

        environ = {"HTTP_PROXY": "http://user:fake-password@127.0.0.1:PORT"}
        await self.through(proxy, environ, "http://git.example.test/")
        assert base64.b64encode(b"user:fake-password") in heads[0]

    @pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "ftp://127.0.0.1", "http://[", "http://a b"])
    async def test_a_proxy_that_cannot_be_used_is_told_without_its_value(self, proxy: str) -> None:
        with pytest.raises(NotConfigured) as caught:
            await get("https://git.example.test/", HttpSettings(environ={"HTTPS_PROXY": proxy}))
        assert proxy not in caught.value.message


@given(data=st.binary(max_size=60), head=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
async def test_any_bytes_are_a_response_or_an_error_of_ours(data: bytes, head: bytes) -> None:
    async with serving(respond(head + data)) as port:
        try:
            response = await get(f"http://127.0.0.1:{port}/")
        except KnowledgeError:
            return
    assert isinstance(response, Response)
