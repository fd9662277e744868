"""A time that passes only when something sleeps."""

from __future__ import annotations

import anyio.lowlevel

from sync.admission import Timing


class ManualTime:
    """Seconds since the UTC epoch that are also the monotonic clock; ``slept`` are the durations slept."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self.value = start
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.value

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.value += seconds
        await anyio.lowlevel.checkpoint()

    @property
    def timing(self) -> Timing:
        """This time, with dice that always fall on 1."""
        return Timing(clock=self.clock, now=self.clock, sleep=self.sleep, dice=lambda: 1.0)
