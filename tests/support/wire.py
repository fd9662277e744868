"""A fake forge in this very process, whose answers to writes get lost as a test tells, and where somebody may be
faster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

import httpx2

from sync.credentials import TokenSource
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient, HttpSettings
from tests.fake_gitea import FakeGitea
from tests.support.gitea_client import ALICE
from tests.support.timing import ManualTime

Fate = Literal["answered", "done", "undone", "late", "bad gateway", "busy"]


@dataclass
class Turn:
    """What becomes of one write: somebody acts ``before`` it reaches the forge, and ``after`` it came to its ``fate``.
    ``blind``: from then on nothing can be read."""

    fate: Fate = "answered"
    before: Callable[[], Awaitable[None]] | None = None
    after: Callable[[], Awaitable[None]] | None = None
    blind: bool = False


@dataclass
class Wire(httpx2.AsyncBaseTransport):
    """The way to ``forge``. Each write takes the next of ``turns``. One that is ``late`` arrives just before the next,
    or by :meth:`settle`."""

    forge: FakeGitea
    turns: list[Turn] = field(default_factory=list)
    late: list[httpx2.Request] = field(default_factory=list)
    blind: bool = False

    def __post_init__(self) -> None:
        self._inner = httpx2.ASGITransport(app=self.forge.app)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return httpx2.Response(403, json={"message": "no"}) if self.blind else await self._send(request)
        await self.settle()
        turn = self.turns.pop(0) if self.turns else Turn()
        if turn.before is not None:
            await turn.before()
        response = await self._write(request, turn.fate)
        if turn.after is not None:
            await turn.after()
        self.blind = turn.blind
        if response is None:
            raise httpx2.ReadError("the answer got lost")
        return response

    async def settle(self) -> None:
        """Let what is late arrive."""
        while self.late:
            await self._send(self.late.pop(0))

    async def _write(self, request: httpx2.Request, fate: Fate) -> httpx2.Response | None:
        match fate:
            case "answered":
                return await self._send(request)
            case "done":
                await self._send(request)
            case "late":
                self.late.append(request)
            case "bad gateway":
                return httpx2.Response(502, text="<h1>Bad Gateway</h1>")
            case "busy":
                return httpx2.Response(503, headers={"Retry-After": "1"})
            case "undone":
                pass
        return None

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        return await self._inner.handle_async_request(request)

    def client(self) -> GiteaForge:
        """What asks the forge over this wire. It sleeps without waiting."""
        http = HttpClient(HttpSettings(patience=0.0), timing=ManualTime().timing, transport=self)
        return GiteaForge("main", http, GiteaSettings(self.forge.root_url, token=TokenSource(token=ALICE)))
