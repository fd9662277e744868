"""The fake forge on loopback, served from a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tests.fake_gitea.certificates import Certificates
from tests.fake_gitea.forge import FakeGitea
from tests.fake_gitea.sending import TRANSPORTS

HOST = "127.0.0.1"
PATIENCE = 30  # seconds for a server to start or to stop


@dataclass(frozen=True)
class Options:
    """How to serve: with ``tls`` over HTTPS, with ``keep_root_url`` under an address that the forge does not know
    as its own (as behind a proxy that nobody told it about)."""

    tls: Certificates | None = None
    keep_root_url: bool = False
    port: int = 0

    def bind(self) -> socket.socket:
        # Named as TCP, since asyncio turns Nagle's algorithm off for such sockets only.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, self.port))
        listener.listen(256)
        return listener

    def url(self, forge: FakeGitea, port: int) -> str:
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{HOST}:{port}{forge.sub_path}/"

    def context(self) -> ssl.SSLContext | None:
        if self.tls is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.tls.cert_file, self.tls.key_file)
        return context


class Loopback:
    """Serves an application from an event loop, until told to stop."""

    def __init__(self, app: ASGIApp, listener: socket.socket, context: ssl.SSLContext | None) -> None:
        self._app, self._listener, self._context = app, listener, context
        self._transports: dict[tuple[str, int], asyncio.Transport] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._ready = threading.Event()

    async def _with_transports(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app({**scope, TRANSPORTS: self._transports}, receive, send)
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise

    async def _serve(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        config = uvicorn.Config(
            self._with_transports,
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=60,
        )
        config.load()
        state, transports = ServerState(), self._transports

        class Tracked(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                if self.client is not None:
                    transports[self.client] = transport

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                if self.client is not None:
                    transports.pop(self.client, None)

        def protocol() -> Tracked:
            return Tracked(config=config, server_state=state, app_state={})

        server = await loop.create_server(protocol, sock=self._listener, ssl=self._context)
        self._ready.set()
        await self._stopping.wait()
        server.close()
        for transport in list(transports.values()):
            transport.abort()
        await asyncio.sleep(0)

    def run(self) -> None:
        asyncio.run(self._serve())

    def stop(self) -> None:
        self._ready.wait(PATIENCE)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)


@contextmanager
def listen(forge: FakeGitea, *, tls: Certificates | None = None, keep_root_url: bool = False) -> Iterator[str]:
    """Serve ``forge`` from a thread and yield its URL; what a test changes in it shows at once."""
    options = Options(tls, keep_root_url)
    listener = options.bind()
    url = options.url(forge, listener.getsockname()[1])
    if not keep_root_url:
        forge.root_url = url
    loopback = Loopback(forge.app, listener, options.context())
    thread = threading.Thread(target=loopback.run, daemon=True)
    thread.start()
    try:
        yield url
    finally:
        loopback.stop()
        thread.join(PATIENCE)
        listener.close()
