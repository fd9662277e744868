"""Who may send a request to a host now: first come, first served, as many at once as the host bears, none while it is
known to be down or has asked to be left alone. A thin driver over :mod:`sync.limiter` and :mod:`sync.circuit`.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from sync.circuit import Circuit
from sync.exchange import Trouble, Unreachable
from sync.limiter import AdaptiveLimit
from sync.retry import LONGEST_ASKED

LONGEST_REST = 600.0  # seconds that a host is left alone that asks for more: it may be back much sooner
PROBE = 1.0  # seconds that a request waits at most to hear how a probe ends, in a host that has been down for long
SILENCE = 5.0  # seconds without any answer after which a request that is given up tells that the host hangs


@dataclass(frozen=True, slots=True)
class Timing:
    """The time and the dice. ``clock`` is monotonic, ``now`` since the UTC epoch, both in seconds; ``dice`` gives a
    number from 0 to 1."""

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    dice: Callable[[], float] = random.random


def remaining() -> float:
    """Seconds until the caller's deadline; infinity where there is none."""
    return anyio.current_effective_deadline() - anyio.current_time()


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to send one request: when it was given, and the mark of a probe of a host that was down."""

    sent_at: float
    probe: object | None


class Admission:
    """The gate to one host, called ``host`` in errors, for at most ``most`` requests at once. When it goes down it is
    waited for, ``patience`` seconds from then on in all: whoever comes later is told at once."""

    def __init__(self, host: str, *, most: int, patience: float, timing: Timing) -> None:
        self._host = host
        self._patience = patience
        self._timing = timing
        self._limit = AdaptiveLimit.of(most)
        self._slots = anyio.CapacityLimiter(most)  # first in, first out
        self._circuit = Circuit()
        self._changed = anyio.Event()
        self._paused_until = -math.inf
        self._asked_until = -math.inf  # that, but as the host would have it
        self._answered_at = -math.inf

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Ticket]:
        """Wait for the turn of one request.

        Raises ``Unreachable`` when the host is down, or wants to be left alone beyond the caller's deadline or for
        longer than anybody waits.
        """
        await self._wait_until_open()  # a host known to be down needs no queue
        borrower = object()
        await self._slots.acquire_on_behalf_of(borrower)
        try:
            await self._wait_until_open()
            ticket = Ticket(self._timing.clock(), self._circuit.enter())
            try:
                yield ticket
            except anyio.get_cancelled_exc_class():
                self.silent(ticket)
                raise
            finally:
                self._leave(ticket)
        finally:
            self._slots.release_on_behalf_of(borrower)

    @property
    def may_come_back(self) -> bool:
        """Whether the host went down so recently that it is still waited for."""
        return self._timing.clock() < self._circuit.down_since + self._patience

    def answered(self, ticket: Ticket, *, overloaded: bool, pause: float = 0.0) -> None:
        """The request brought an answer; ``pause`` is how many seconds the host asks to be left alone."""
        now = self._timing.clock()
        self._answered_at = now
        self._circuit.answered()
        if overloaded:
            self._limit = self._limit.overloaded(sent_at=ticket.sent_at, now=now)
            self._paused_until = max(self._paused_until, now + min(pause, LONGEST_REST))
            self._asked_until = max(self._asked_until, now + pause)
        else:
            self._limit = self._limit.answered()
        self._slots.total_tokens = self._limit.slots
        self._wake()

    def failed(self, ticket: Ticket, failure: Unreachable, *, slow: bool) -> None:
        """The request found no connection; ``slow`` tells that this took long."""
        self._circuit.failed(failure, sent_at=ticket.sent_at, now=self._timing.clock(), slow=slow)
        self._wake()

    def silent(self, ticket: Ticket) -> None:
        """The request was given up without an answer. If all others have gone without one as long, the host hangs;
        if not, this request alone is slow."""
        waited = self._timing.clock() - ticket.sent_at
        if waited >= SILENCE and self._answered_at < ticket.sent_at:
            self.failed(ticket, Unreachable(self._host, Trouble.CONNECT, f"no answer in {waited:.0f} s"), slow=True)

    def _leave(self, ticket: Ticket) -> None:
        if ticket.probe is not None:
            self._circuit.leave(ticket.probe)
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _wait_until_open(self) -> None:
        came_at = self._timing.clock()
        while True:
            now = self._timing.clock()
            if (pause := self._paused_until - now) > 0:
                if pause > LONGEST_ASKED or pause >= remaining():
                    raise Unreachable(
                        self._host, Trouble.BUSY, f"it asks to wait {math.ceil(self._asked_until - now)} s"
                    )
                await self._timing.sleep(pause)
            elif (hold := self._circuit.hold(now)) > 0:
                until = self._circuit.down_since + self._patience
                if math.isinf(hold):
                    hold, until = 0.0, max(until, came_at + min(PROBE, self._patience))
                if now + hold >= min(until, now + remaining()):
                    raise self._circuit.failure()
                with anyio.move_on_after(hold or until - now):
                    await self._changed.wait()
            else:
                return
