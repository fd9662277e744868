"""Taking turns, as long as that is no loss of time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class Turns:
    """One after the other, where each turn is short: threads that do nothing but small calls of the operating system
    hold each other up at the interpreter's lock, and take twice as long together. Who has waited ``patience`` seconds
    goes ahead all the same."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._turn = anyio.Semaphore(1)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """A turn, for the length of the block."""
        taken = False
        with anyio.move_on_after(self._patience):
            await self._turn.acquire()
            taken = True
        try:
            yield
        finally:
            if taken:
                self._turn.release()
