"""A server in a process of its own, spoken to by raw lines."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

SAMPLE: Final = (sys.executable, "-m", "tests.support.sample_server", "stdio")
ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 30  # seconds after which a test gives up

INITIALIZE: Final[Mapping[str, object]] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}
MODERN: Final[Mapping[str, object]] = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def line_of(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def request(id_: object, method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def call(id_: object, tool: str, **arguments: object) -> dict[str, object]:
    return request(id_, "tools/call", name=tool, arguments=arguments)


class StdioProcess:
    """Everything it writes to standard output is read at once; standard error goes to the file ``log``. ``env`` takes
    the place of this process's environment."""

    def __init__(self, log: Path, command: Sequence[str] = SAMPLE, *, env: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, cwd=ROOT, env=env
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()

    def send(self, *messages: object) -> None:
        """Send messages, or bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else line_of(message))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message. Raises ``EOFError`` at the end, ``ValueError`` for a line that is no message."""
        line = self._lines.get(timeout=PATIENCE)
        if not line:
            raise EOFError
        message = json.loads(line)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise ValueError(f"not a message: {line!r}")
        return message

    def rest(self) -> list[dict[str, Any]]:
        """All messages up to the end of the output."""
        messages = []
        try:
            while True:
                messages.append(self.receive())
        except EOFError:
            return messages

    def ask(self, message: Mapping[str, object]) -> dict[str, Any]:
        """The answer to one request, which must be the next message."""
        self.send(message)
        answer = self.receive()
        assert answer["id"] == message["id"]
        return answer

    def handshake(self) -> None:
        self.ask(request("handshake", "initialize", **INITIALIZE))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def await_log(self, text: str) -> None:
        """Wait until ``text`` stands in the log: what a tool says there, it says at once."""
        deadline = threading.Event()
        for _ in range(PATIENCE * 100):
            if text in self.log.read_text():
                return
            deadline.wait(0.01)
        raise TimeoutError(text)

    def exit_code(self) -> int:
        return self.process.wait(PATIENCE)
