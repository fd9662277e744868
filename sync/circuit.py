"""Whether a host is worth asking: a circuit breaker. Pure: times are passed in, of one monotonic clock, in seconds.

A failure to connect opens the circuit: for a while every request is answered by that failure. Then one probe goes
out. A probe that fails opens it for longer; the first answer of any request closes it and leaves no trace.
"""

from __future__ import annotations

import math

from sync.exchange import Unreachable

HOLDS = (0.25, 2.0, 4.0, 8.0, 16.0, 30.0)  # seconds, after the first failure in a row, the second, and so on


class Circuit:
    """The state of one host."""

    def __init__(self) -> None:
        self._failure: Unreachable | None = None
        self._failures = 0  # in a row
        self._failed_at = self._down_since = -math.inf
        self._probe: object | None = None

    def hold(self, now: float) -> float:
        """Seconds until a request may go: 0 is now, infinity stands for the end of the probe that is under way."""
        if self._failure is None:
            return 0.0
        if self._probe is not None:
            return math.inf
        return max(0.0, self._failed_at + HOLDS[min(self._failures, len(HOLDS)) - 1] - now)

    @property
    def down_since(self) -> float:
        """When the first failure in a row was; long ago where there is none."""
        return self._down_since

    def failure(self) -> Unreachable:
        """Why the circuit is open, as an error of one's own."""
        if self._failure is None:
            raise ValueError("the circuit is closed")
        return Unreachable(self._failure.host, self._failure.trouble, self._failure.why)

    def enter(self) -> object | None:
        """Note that a request goes out, which :meth:`hold` allowed. If it is the probe: what to :meth:`leave` with."""
        self._probe = None if self._failure is None else object()
        return self._probe

    def leave(self, probe: object) -> None:
        """The probe ended; if it told nothing, the next request is one."""
        if self._probe is probe:
            self._probe = None

    def answered(self) -> None:
        """The host answered something: no trace is left."""
        self._failure, self._failures, self._probe = None, 0, None
        self._failed_at = self._down_since = -math.inf

    def failed(self, failure: Unreachable, *, sent_at: float, now: float, slow: bool) -> None:
        """A request that went out at ``sent_at`` got no connection. ``slow``: it took long to find out, so that
        nobody should find out again soon. What went out before the last failure is part of the same one."""
        if sent_at < self._failed_at:
            return
        if self._failure is None:
            self._down_since = now
        self._failures = max(self._failures + 1, 2 if slow else 1)
        self._failure, self._failed_at, self._probe = failure, now, None
