"""The token that a forge wants: given, read from a file, or printed by a command.

It is kept in memory only, and no representation, message or log line holds it.
"""

from __future__ import annotations

import math
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from cache.errors import Denied

MAX_TOKEN = 4096  # bytes
COMMAND_TIMEOUT = 30.0  # seconds; a command may ask its user to unlock something
COMMAND_REST = 10.0  # seconds between two runs: a command may cost its user a touch


@dataclass(frozen=True, slots=True)
class TokenSource:
    """Where a token comes from: the first that is set counts, none means no token.

    ``command`` is split as a POSIX shell would, but run without one, in the root folder (the working one may be a
    foreign repository) and with ``environ``.
    """

    token: str = field(default="", repr=False)
    file: Path | None = None
    command: str = field(default="", repr=False)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


class Credentials:
    """One forge's token, read when first needed and again when it is refused."""

    def __init__(self, source: TokenSource, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._lock = anyio.Lock()
        self._token: str | None = None
        self._failure: Denied | None = None
        self._read_at = -math.inf

    async def token(self) -> str:
        """The token; empty where none is configured. Raises ``Denied`` when it cannot be had."""
        return await self._first() if self._token is None else self._token

    async def _first(self) -> str:
        async with self._lock:
            if self._token is not None:
                return self._token
            if self._failure is not None and self._rests():
                raise self._failure
            return await self._read()

    async def renewed(self, refused: str) -> str | None:
        """Another token than the one that was ``refused``, ``None`` if there is no other.

        A file is read again each time; a command is not run again at once. Raises ``Denied``."""
        async with self._lock:
            if self._token is not None and self._token != refused:
                return self._token  # somebody else was refused too, and has been here
            if self._rests():
                return None
            fresh = await self._read()
            return None if fresh == refused else fresh

    def _rests(self) -> bool:
        """Whether to read again now would be too soon."""
        is_command = not self._source.token and self._source.file is None and bool(self._source.command)
        return is_command and self._clock() - self._read_at < COMMAND_REST

    async def _read(self) -> str:
        self._read_at = self._clock()
        try:
            self._token, self._failure = await _read(self._source), None
        except Denied as failure:
            self._failure = failure
            raise
        return self._token


async def _read(source: TokenSource) -> str:
    if source.token:
        return _checked(source.token.encode(), "token")
    if source.file is not None:
        return _checked(await anyio.to_thread.run_sync(_read_file, source.file), "token_file")
    if source.command:
        return _checked(await _run(source), "token_command")
    return ""


def _checked(raw: bytes, key: str) -> str:
    """The token in ``raw``: its one word. Only visible ASCII can stand in a header (RFC 9110, section 5.5)."""
    text = raw.strip()
    if not text:
        raise Denied(f"{key} gives no token — run gateway doctor")
    if len(text) > MAX_TOKEN or not all(0x21 <= byte <= 0x7E for byte in text):
        raise Denied(f"{key} gives something that is no token — run gateway doctor")
    return text.decode("ascii")


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_TOKEN + 256)
    except OSError as error:
        raise Denied(f"token_file cannot be read: {error.strerror} — run gateway doctor") from None


async def _run(source: TokenSource) -> bytes:
    try:
        words = shlex.split(source.command)
    except ValueError:
        words = []
    if not words:
        raise Denied("token_command is no command line — run gateway doctor")
    try:
        with anyio.fail_after(COMMAND_TIMEOUT):
            done = await anyio.run_process(
                words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd="/", env=source.environ
            )
    except TimeoutError:
        raise Denied(f"token_command did not end within {COMMAND_TIMEOUT:g} s") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "a NUL byte"
        raise Denied(f"token_command cannot be run: {why} — run gateway doctor") from None
    if done.returncode != 0:
        raise Denied(f"token_command failed (exit code {done.returncode}) — run gateway doctor")
    return done.stdout
