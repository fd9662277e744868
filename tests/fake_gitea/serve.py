"""The fake forge on loopback, in a process of its own that ends with this one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from tests.fake_gitea.certificates import Certificates
from tests.fake_gitea.faults import Effect, When
from tests.fake_gitea.forge import FakeGitea
from tests.fake_gitea.listen import PATIENCE, Loopback, Options
from tests.fake_gitea.log import Exchange

P = ParamSpec("P")
T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]


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

    def revive(self) -> None:
        """Start it if it was stopped."""
        if self._process.poll() is not None:
            self.start()

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
    loopback = Loopback(forge.app, listener, options.context())
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
