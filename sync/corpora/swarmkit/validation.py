"""Checking a workspace in a process of its own: SwarmKit's resolver where it is installed, else the schemas alone.

The worker (see its package) is started by the first check and stays, since to import the resolver takes a second;
each check is forked from it and lives no longer than that. It gets none of our environment.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from cache.errors import TimedOut, TooLarge, Unavailable

LAUNCHER: Final = Path(__file__).parent / "worker" / "launch.py"
MAX_ANSWER: Final = 16 * 1024 * 1024  # bytes, as the worker has it
MARGIN: Final = 5.0  # seconds that a worker has to tell that a check took too long
_OPTIONS: Final = ("-I", "-X", "utf8")  # nothing from the user's folders or the working one
_KEPT: Final = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one check may take: ``seconds`` of time and ``memory`` in bytes; ``start`` is how long, in seconds, a worker
    may take to import what it needs."""

    seconds: float = 20.0
    memory: int = 512 * 1024 * 1024
    start: float = 60.0


class Validator:
    """Checks workspaces with the interpreter ``python``, or with this one. One check at a time; to be closed.
    The interpreter finds its libraries by what ``environ`` says of them; a check sees nothing of it.

    A ``python`` that is named and has no resolver (or is none) leaves the schemas alone, and a line in the log.
    """

    def __init__(self, python: str, environ: Mapping[str, str], limits: Limits | None = None) -> None:
        self._python = python
        self._environ = {name: environ[name] for name in _KEPT if name in environ}
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._closed = False

    def check(self, workspace: Path, schemas: Path) -> dict[str, Any]:
        """What is in the folder ``workspace`` (absolute, resolved), and what is wrong with it, as the tool contract has
        it. ``schemas`` is the folder of JSON Schemas for where there is no resolver.

        Raises ``TimedOut``, ``TooLarge``, ``Unavailable``. May block for as long as the limits allow."""
        limits = self._limits
        request = {
            "workspace": str(workspace),
            "schemas": str(schemas),
            "seconds": limits.seconds,
            "memory": limits.memory,
        }
        with self._lock:
            answer = self._ask(request)
        if "answer" in answer:
            return dict(answer["answer"])
        match answer.get("failed"):
            case "time":
                raise TimedOut(limits.seconds)
            case "memory":
                raise TooLarge("what the workspace resolves to", limits.memory)
            case "too_large":
                raise TooLarge("what is to be said of the workspace", MAX_ANSWER)
            case reason:
                raise Unavailable(f"the check of the workspace failed ({reason}) — try it with swarmkit validate")

    def sources(self) -> Path | None:
        """The folder of the installed resolver's sources; ``None`` where there is none."""
        with self._lock:
            try:
                found = self._running().sources
            except Unavailable:
                return None
        return Path(found) if found else None

    def close(self) -> None:
        """End the worker, and with it a check that is under way in another thread."""
        self._closed = True
        if (worker := self._worker) is not None:
            worker.kill()
        with self._lock:
            self._end()

    def _ask(self, request: Mapping[str, object]) -> Mapping[str, Any]:
        """Ask the worker; if it has gone (it does after a while, and when SwarmKit was updated), another one."""
        for _ in range(2):
            worker = self._running()
            line = worker.ask(json.dumps(request).encode() + b"\n", self._limits.seconds + MARGIN)
            if worker.expired:
                self._end()
                return {"failed": "time"}
            if line:
                with suppress(ValueError):
                    answer = json.loads(line)
                    if isinstance(answer, dict):
                        return answer
            self._end()
        return {"failed": "crash"}

    def _running(self) -> _Worker:
        if self._closed:
            raise Unavailable("the gateway is ending")
        return self._worker or self._start()

    def _start(self) -> _Worker:
        with suppress(Unavailable):
            worker = self._launched(self._python or sys.executable)
            if worker.sources or not self._python:
                return worker
        logger.warning("no swarmkit-runtime by [swarmkit] python: workspaces are checked against the schemas alone")
        return self._launched(sys.executable, "schemas")

    def _launched(self, python: str, *arguments: str) -> _Worker:
        self._end()
        worker = self._worker = _Worker([python, *_OPTIONS, str(LAUNCHER), *arguments], self._environ)
        if worker.begin(self._limits.start):
            return worker
        self._end()
        raise Unavailable("what checks workspaces does not start — see [swarmkit] python")

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None


class _Worker:
    """The process. Raises ``Unavailable`` where it cannot be started."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self.sources = ""
        self.expired = False
        try:
            self._process = subprocess.Popen(  # noqa: S603 the user's own interpreter, and a file of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=os.path.abspath(os.sep),  # noqa: PTH100 the root folder, of a drive where there are several
                env=environ,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise Unavailable(f"cannot start {Path(command[0]).name} — see [swarmkit] python") from error
        self._input: IO[bytes] = self._process.stdin  # type: ignore[assignment] # both are pipes
        self._output: IO[bytes] = self._process.stdout  # type: ignore[assignment]

    def begin(self, seconds: float) -> bool:
        """Wait for the first line; whether the worker can check anything."""
        with suppress(ValueError):
            said = json.loads(self._line(seconds))
            self.sources = str(said["sources"])
            return bool(said["engine"])
        return False

    def ask(self, line: bytes, seconds: float) -> bytes:
        """The answer to a request; nothing if the worker has ended or took too long."""
        try:
            self._input.write(line)
            self._input.flush()
        except OSError:
            return b""
        return self._line(seconds)

    def _line(self, seconds: float) -> bytes:
        with self._killed_after(seconds):
            line = self._output.readline(2 * MAX_ANSWER)
        return line if line.endswith(b"\n") else b""

    @contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        timer = threading.Timer(seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self.expired = True
        self.kill()

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        self.kill()
        for pipe in (self._input, self._output):
            with suppress(OSError):
                pipe.close()
        self._process.wait()
