"""How an answer goes out over ASGI, whole or the way a fault has it."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

import anyio
import anyio.lowlevel
from starlette.types import Receive, Scope, Send

from tests.fake_gitea.answers import Answer
from tests.fake_gitea.faults import CutBody, Effect, Endless, Gzip, Headers, Json, NullEntries, Trickle

PIECE = 64 * 1024  # bytes of a body that are sent at once
TRANSPORTS = "fake_gitea.transports"  # the scope's key for what can reset a connection


@dataclass(frozen=True)
class Wire:
    """One request's way back. ``extra`` headers go with every answer; ``finish`` is called just before its last byte
    goes out, since from then on the client may ask the next thing."""

    scope: Scope
    receive: Receive
    send: Send
    extra: Mapping[str, str]
    finish: Callable[[], None]

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        pairs = [(name.encode(), value.encode()) for name, value in {**self.extra, **headers}.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})

    async def piece(self, data: bytes, *, more: bool = True) -> None:
        if not more:
            self.finish()
        await self.send({"type": "http.response.body", "body": data, "more_body": more})

    async def answer(self, answer: Answer) -> None:
        await self.start(answer.status, answer.headers)
        body = b"" if self.scope["method"] == "HEAD" else answer.body
        pieces = [body[at : at + PIECE] for at in range(0, len(body), PIECE)] or [b""]
        for piece in pieces[:-1]:
            await self.piece(piece)
        await self.piece(pieces[-1], more=False)

    async def gone(self) -> None:
        """Wait until the client has gone."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def reset(self) -> None:
        """End the connection with a reset."""
        transport = self._transport()
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
        await self.gone()

    async def hang_up(self) -> None:
        """End the connection in good order, after what was sent."""
        self._transport().close()
        await self.gone()

    def _transport(self) -> asyncio.Transport:
        """The connection; without a server there is none, and the client gets the error itself."""
        transports: Mapping[tuple[str, int], asyncio.Transport] = self.scope.get(TRANSPORTS, {})
        transport = transports.get(tuple(self.scope["client"]))
        if transport is None:
            raise ConnectionResetError("the forge ended the connection")
        return transport


def altered(answer: Answer, effect: Effect | None) -> Answer:
    """The forge's answer after an effect on its content."""
    match effect:
        case Json(value):
            return answer.with_json(value)
        case NullEntries(positions):
            value = answer.json()
            if not isinstance(value, list):
                return answer
            for position in sorted(positions, reverse=True):
                value.insert(position, None)
            return answer.with_json(value)
        case Headers(headers):
            return Answer(answer.status, {**answer.headers, **headers}, answer.body)
        case Gzip(cut):
            packed = gzip.compress(answer.body)
            packed = packed[: len(packed) - cut]
            told = {"content-encoding": "gzip", "content-length": str(len(packed))}
            return Answer(answer.status, {**answer.headers, **told}, packed)
        case _:
            return answer


async def send_answer(wire: Wire, answer: Answer, effect: Effect | None) -> None:
    """Send the forge's answer, with an effect on its content or on how it arrives."""
    match effect:
        case Trickle(pause, size):
            await wire.start(answer.status, answer.headers)
            for at in range(0, len(answer.body), size):
                await anyio.sleep(pause)
                await wire.piece(answer.body[at : at + size])
            await wire.piece(b"", more=False)
        case CutBody():
            await wire.start(answer.status, {**answer.headers, "content-length": str(len(answer.body))})
            await wire.piece(answer.body[: len(answer.body) // 2])
            await wire.hang_up()
        case _:
            await wire.answer(altered(answer, effect))


async def send_endless(wire: Wire, effect: Endless) -> None:
    """Send until the client has had enough."""
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            await wire.gone()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        await wire.start(200, {"content-type": effect.content_type})
        while True:
            await wire.piece(effect.chunk.encode())
            await anyio.lowlevel.checkpoint()


async def body_of(receive: Receive) -> bytes:
    """A request's whole body."""
    return b"".join([part async for part in _parts(receive)])


async def _parts(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        yield message.get("body", b"")
        more = message.get("more_body", False)
