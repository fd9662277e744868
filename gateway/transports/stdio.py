"""The protocol over standard streams: one message a line, the client is the parent process.

In place of the SDK's own transport, which never answers a line it cannot parse, cannot end while a read or a call
blocks a thread, and gives the wire back at the end to whatever a stray ``print`` still holds in its buffer.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from cache.errors import Unavailable
from gateway.transports.ending import end_process_within
from gateway.transports.jsonrpc import MAX_MESSAGE, LoneSurrogates, Refused, decode, encode

DRAIN: Final = 0.5  # seconds after the end of input in which calls may still be answered
UNWIND: Final = 0.5  # seconds in which calls that were cancelled may end

_CHUNK: Final = 64 * 1024  # bytes a read asks for


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the client at the other end of standard input and output until it closes either, or SIGTERM or SIGINT.

    Takes both streams for good: what else reads standard input meets its end, what else writes to standard output
    goes to standard error. The process is its client's: once that is gone it ends, with status 0 and within a second,
    even if a call hangs. Raises :class:`cache.errors.Unavailable` when a stream is closed already.
    """
    wire = _Wire.claim()
    inbox, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        connection = _Connection(wire, inbox, outbox.clone(), tasks.cancel_scope)
        tasks.start_soon(_end_on_signal, tasks.cancel_scope)
        tasks.start_soon(connection.write, to_send)
        connection.start_reading()
        await server.run(received, outbox, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            end_process_within(UNWIND)
            scope.cancel()


@dataclass(frozen=True, slots=True)
class _Wire:
    """The client's ends: descriptors that nothing else in the process knows."""

    incoming: int
    outgoing: int

    @classmethod
    def claim(cls) -> _Wire:
        # A stream that was closed at the start is None; its descriptor may be anything's by now.
        if sys.__stdin__ is None or sys.__stdout__ is None:
            raise Unavailable("standard input or output is closed — an MCP client starts this with pipes")
        wire = cls(*(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1)))
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(nothing, 0)
        os.dup2(nothing if sys.__stderr__ is None else 2, 1)
        os.close(nothing)
        sys.__stdout__.flush()  # what was printed before, to where it can do no harm
        return wire

    def lines(self) -> Iterator[bytes]:
        """The lines that come in, without line ends, as they come; the last one may lack its end. Of one that is too
        long for a message the beginning comes, with a byte more than a message may have."""
        pending: list[bytes] = []
        room = MAX_MESSAGE + 1
        while chunk := self._read():
            first, *others = chunk.split(b"\n")
            pending.append(first[:room])
            room -= len(pending[-1])
            for other in others:
                yield b"".join(pending)
                pending = [other]
                room = MAX_MESSAGE + 1 - len(other)
        yield b"".join(pending)

    def _read(self) -> bytes:
        try:
            return os.read(self.incoming, _CHUNK)
        except OSError:  # such as a terminal that was closed
            return b""

    def send(self, line: bytes) -> None:
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(self.outgoing, rest) :]


class _Calls:
    """The requests that are not answered yet."""

    def __init__(self) -> None:
        self._ids: set[RequestId] = set()
        self._answered = anyio.Event()

    def note_received(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))  # never answered (basic/utilities/cancellation)

    def note_sent(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settle(message.id)

    async def all_answered(self) -> None:
        while self._ids:
            self._answered = anyio.Event()
            await self._answered.wait()

    def _settle(self, request_id: object) -> None:
        if isinstance(request_id, str | int):
            self._ids.discard(request_id)
        self._answered.set()


@dataclass(frozen=True, slots=True)
class _Connection:
    """Messages between the wire and the server's two streams."""

    wire: _Wire
    inbox: MemoryObjectSendStream[SessionMessage | Exception]
    outbox: MemoryObjectSendStream[SessionMessage]
    scope: anyio.CancelScope
    calls: _Calls = field(default_factory=_Calls)

    def start_reading(self) -> None:
        """Read in a thread of its own, which nobody waits for: a blocked read cannot be cancelled."""
        loop = anyio.lowlevel.current_token()
        threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()

    def _read(self, loop: anyio.lowlevel.EventLoopToken) -> None:
        with suppress(anyio.RunFinishedError, anyio.ClosedResourceError, anyio.BrokenResourceError, CancelledError):
            for line in self.wire.lines():
                if line.strip():
                    self._receive(line, loop)
            end_process_within(DRAIN + UNWIND)
            anyio.from_thread.run(self._end_input, token=loop)

    def _receive(self, line: bytes, loop: anyio.lowlevel.EventLoopToken) -> None:
        try:
            message = decode(line)
        except LoneSurrogates as refused:
            message = refused.message  # the tool's own check names the argument
        except Refused as refused:
            anyio.from_thread.run(self.outbox.send, SessionMessage(refused.reply), token=loop)
            return
        anyio.from_thread.run(self._deliver, message, token=loop)

    async def _deliver(self, message: JSONRPCMessage) -> None:
        self.calls.note_received(message)
        await self.inbox.send(SessionMessage(message))

    async def _end_input(self) -> None:
        with anyio.move_on_after(DRAIN):
            await self.calls.all_answered()
        await self.inbox.aclose()
        await self.outbox.aclose()

    async def write(self, to_send: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send what the server answers, until the client closes its end."""
        thread = anyio.CapacityLimiter(1)  # of its own: hanging calls may hold all the others
        async with to_send:
            async for message in to_send:
                line = encode(message.message)
                try:
                    await anyio.to_thread.run_sync(self.wire.send, line, limiter=thread, abandon_on_cancel=True)
                except OSError:  # nobody reads any more
                    end_process_within(UNWIND)
                    self.scope.cancel()
                    return
                self.calls.note_sent(message.message)
