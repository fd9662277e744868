"""The fake forge on loopback: from a thread of this process, or from a process of its own that ends with this one."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tests.fake_gitea.certificates import Certificates
from tests.fake_gitea.faults import Effect, When
from tests.fake_gitea.forge import FakeGitea
from tests.fake_gitea.log import Exchange
from tests.fake_gitea.sending import TRANSPORTS

P = ParamSpec("P")
T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
PATIENCE = 30  # seconds for a process to start or to stop


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


class _Loopback:
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
    loopback = _Loopback(forge.app, listener, options.context())
    thread = threading.Thread(target=loopback.run, daemon=True)
    thread.start()
    try:
        yield url
    finally:
        loopback.stop()
        thread.join(PATIENCE)
        listener.close()


class Server:
    """A forge in a process of its own. It has a copy: change it through :meth:`run`."""

    def __init__(self, forge: FakeGitea, options: Options) -> None:
        self._forge, self._options = forge, options
        self.url = ""
        self.start()

    def start(self) -> None:
        """Start (again), with what the forge last knew and on the same port."""
        self._pipe, theirs = Pipe()
        command = [sys.executable, "-m", "tests.fake_gitea", str(theirs.fileno())]
        self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._pipe.send((self._forge, self._options))
        port = self._receive()
        assert isinstance(port, int)
        self._options = Options(self._options.tls, self._options.keep_root_url, port)
        self.url = self._options.url(self._forge, port)

    def stop(self) -> None:
        """Kill it in the middle of whatever it does; :meth:`start` goes on from there."""
        if self._process.poll() is None:
            self._forge = self.run(_itself)
            self._end()

    def close(self) -> None:
        """End it for good."""
        if self._process.poll() is None:
            self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)
        self._pipe.close()

    def _receive(self) -> object:
        if not self._pipe.poll(PATIENCE):
            self._end()
            raise TimeoutError("the forge's process does not answer")
        value = self._pipe.recv()
        if isinstance(value, Exception):
            raise value
        return value

    def run(self, change: Callable[Concatenate[FakeGitea, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``change`` (a method of :class:`FakeGitea`, or a function of a module) on the forge over there, as
        in ``server.run(FakeGitea.commit, "acme/web", {"a.md": "new"})``. What comes back is a copy."""
        self._pipe.send((change, args, kwargs))
        result: T = self._receive()  # type: ignore[assignment]
        return result

    @property
    def requests(self) -> list[Exchange]:
        return self.run(_requests)

    @property
    def counts(self) -> dict[str, int]:
        return self.run(_counts)

    @property
    def max_in_flight(self) -> int:
        return self.run(_max_in_flight)

    def reset_counts(self) -> None:
        self.run(FakeGitea.reset_counts)

    def add_fault(self, effect: Effect, when: When | None = None) -> None:
        self.run(FakeGitea.add_fault, effect, when)

    def clear_faults(self) -> None:
        self.run(_clear_faults)


@contextmanager
def serve(forge: FakeGitea, *, tls: Certificates | None = None, keep_root_url: bool = False) -> Iterator[Server]:
    """Serve a copy of ``forge`` from a process of its own."""
    server = Server(forge, Options(tls, keep_root_url))
    try:
        yield server
    finally:
        server.close()


def _itself(forge: FakeGitea) -> FakeGitea:
    return forge


def _requests(forge: FakeGitea) -> list[Exchange]:
    return forge.requests


def _counts(forge: FakeGitea) -> dict[str, int]:
    return forge.counts


def _max_in_flight(forge: FakeGitea) -> int:
    return forge.max_in_flight


def _clear_faults(forge: FakeGitea) -> None:
    forge.faults.clear()


def obey(descriptor: int) -> None:
    """Be the process of its own: serve what the pipe brings, do what it says, and end when it does."""
    pipe = Connection(descriptor)
    forge, options = pipe.recv()
    listener = options.bind()
    port = listener.getsockname()[1]
    if not options.keep_root_url:
        forge.root_url = options.url(forge, port)
    loopback = _Loopback(forge.app, listener, options.context())
    threading.Thread(target=_obey, args=(pipe, forge), daemon=True).start()
    pipe.send(port)
    loopback.run()


def _obey(pipe: Connection, forge: FakeGitea) -> None:
    try:
        while True:
            change, args, kwargs = pipe.recv()
            try:
                with forge.lock:
                    result = change(forge, *args, **kwargs)
                    pipe.send(result)
            except Exception as error:
                pipe.send(error)
    except (EOFError, OSError):
        os._exit(0)
