"""The protocol over streamable HTTP at ``/mcp``, on the loopback interface: nobody else is let in without a token."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import (
    DEFAULT_MAX_REQUEST_BODY_SIZE,
    RequestBodyLimitMiddleware,
    TransportSecuritySettings,
)
from mcp.types import JSONRPCMessage, JSONRPCRequest
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from cache.errors import InvalidArgument, Unavailable
from gateway.transports.bounded import Bounded
from gateway.transports.ending import end_process_within
from gateway.transports.jsonrpc import Refused, decode, encode

PATH: Final = "/mcp"
FINISH: Final = 1  # seconds in which open requests may still be answered once the process is asked to end
UNWIND: Final = 1.0  # seconds in which calls that were cancelled then may end
HELD: Final = 1_000  # requests at once, event streams among them: each holds memory until it is answered
CONNECTIONS: Final = 2 * HELD  # with those that wait for their next request

_LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


async def serve_http(server: Server[Any], host: str, port: int, *, on_ready: Callable[[str], None]) -> None:
    """Serve on a loopback address until SIGTERM or SIGINT; ``on_ready`` gets the URL once it answers.

    ``port`` 0 takes a free one. Raises :class:`cache.errors.InvalidArgument` for any other address, and
    :class:`cache.errors.Unavailable` where it cannot listen.
    """
    address = loopback(host)
    name = _bracketed(address)
    with _listen(address, port) as listener:
        config = uvicorn.Config(
            http_app(server, local_only(name)),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=FINISH,
        )
        url = f"http://{name}:{listener.getsockname()[1]}{PATH}"
        web = _WebServer(config, partial(on_ready, url))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_on_signal, web)
            await web.serve([listener])
            tasks.cancel_scope.cancel()


def http_app(server: Server[Any], security: TransportSecuritySettings) -> Starlette:
    """The ASGI application: the endpoint at ``/mcp``, and JSON for whoever looks elsewhere."""
    endpoint = _Endpoint(server, security)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            yield

    routes = [Route(PATH, Bounded(endpoint, HELD))]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _not_found})


def loopback(host: str) -> str:
    """The address of ``host``, which must be a loopback address or ``localhost``.

    Raises :class:`cache.errors.InvalidArgument` for any other.
    """
    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise InvalidArgument("only 127.0.0.1, ::1 or localhost can be served: there is no authentication yet")
    return str(address)


def local_only(*names: str) -> TransportSecuritySettings:
    """Accept requests that name this machine, in ``Host`` and ``Origin``: a web page elsewhere cannot make them."""
    hosts = [*_LOCAL_NAMES, *(name for name in names if name not in _LOCAL_NAMES)]
    return TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
        allowed_origins=[f"http://{host}{port}" for host in hosts for port in ("", ":*")],
    )


class _Endpoint:
    """Requests at ``/mcp``: those of sessions, those of the protocol without sessions, and single calls without either.

    A request without a session that is no ``initialize`` is answered by itself, in JSON: what scripts send, and
    clients that were restarted or balanced elsewhere.
    """

    def __init__(self, server: Server[Any], security: TransportSecuritySettings) -> None:
        self._sessions = StreamableHTTPSessionManager(server, security_settings=security)
        self._single = StreamableHTTPSessionManager(
            server, security_settings=security, stateless=True, json_response=True
        )
        self._post = RequestBodyLimitMiddleware(self._handle_post, DEFAULT_MAX_REQUEST_BODY_SIZE)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run(), self._single.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handle = self._post if scope["method"] == "POST" else self._sessions.handle_request
        last: Message | None = None

        async def note_and_send(message: Message) -> None:
            nonlocal last
            last = message
            await send(message)

        with suppress(anyio.get_cancelled_exc_class()):  # the server is ending and waits no longer
            await handle(scope, receive, note_and_send)
        # Whatever leaves a response open then has failed, to the server and to the client.
        if last is None:
            await JSONResponse({"error": "unavailable: the gateway is ending"}, 503)(scope, receive, send)
        elif last["type"] == "http.response.start" or last.get("more_body"):
            await send({"type": "http.response.body"})

    async def _handle_post(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await receive()  # whole: the limit has read it
        try:
            message = decode(body.get("body", b""))
        except Refused as refused:
            await Response(encode(refused.reply), 400, media_type="application/json")(scope, receive, send)
            return
        manager = self._sessions if _has_session(message, Headers(scope=scope)) else self._single
        await manager.handle_request(scope, _replay(body, receive), send)


def _has_session(message: JSONRPCMessage, headers: Headers) -> bool:
    """Whether a message belongs to a session, opens one, or is of the protocol era that has none."""
    if "mcp-session-id" in headers or (isinstance(message, JSONRPCRequest) and message.method == "initialize"):
        return True
    version = headers.get("mcp-protocol-version")
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


def _replay(first: Message, receive: Receive) -> Receive:
    pending = [first]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


async def _not_found(_: Request, __: Exception) -> Response:
    return JSONResponse({"error": f"not_found: the endpoint is {PATH}"}, 404)


class _WebServer(uvicorn.Server):
    """Uvicorn that tells when it answers, and leaves signals to us: it would end the process by the signal again."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _end_on_signal(web: uvicorn.Server) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            end_process_within(FINISH + UNWIND)
            web.handle_exit(number, None)  # also ends event streams, which would stay open for ever


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        listener = socket.create_server((address, port), family=family)
    except OverflowError:
        raise InvalidArgument(f"a port is a number from 0 to 65535, not {port}") from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error  # without the address, which ``strerror`` repeats
        raise Unavailable(
            f"cannot listen on {_bracketed(address)}:{port}: {reason} — name another port, or 0 for a free one"
        ) from None
    # Connections inherit it: asyncio itself only knows a TCP socket by a protocol number that this one leaves out, and
    # an answer in two parts would wait 40 ms for the client to confirm the first.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _bracketed(address: str) -> str:
    """An address as URLs and ``Host`` headers write it."""
    return f"[{address}]" if isinstance(ip_address(address), IPv6Address) else address
