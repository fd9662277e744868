"""A client for measuring servers over stdio: blocking, so that it costs as little as possible itself."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INITIALIZE: Mapping[str, object] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "0"},
}


class Client:
    """One end of a server's standard streams. Requests follow one another."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._id = 0

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    def request(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The result of one request. Raises ``RuntimeError`` for an error, and when the server is gone."""
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline() or b"{}")
        if "result" not in answer:
            raise RuntimeError(f"{method}: {answer.get('error', 'no answer')}")
        result: dict[str, Any] = answer["result"]
        return result

    def handshake(self) -> None:
        self.request("initialize", INITIALIZE)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def connected(command: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[Client]:
    """A client of a server that runs for the block, with ``env`` added to its environment."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    ) as process:
        try:
            yield Client(process)
        finally:
            process.kill()


@contextmanager
def empty_fleet() -> Iterator[Mapping[str, str]]:
    """The environment of a gateway whose fleet is an empty folder, whatever this user has configured."""
    with tempfile.TemporaryDirectory() as folder:
        yield {
            "GATEWAY_CONFIG": "",
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "GATEWAY_FORGE__KIND": "local",
            "GATEWAY_FORGE__ROOTS": json.dumps([folder]),
            "GATEWAY_CACHE__FILE": str(Path(folder, "cache.db")),
        }
