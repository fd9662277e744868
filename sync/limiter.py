"""How many requests a host is sent at once: additive increase, multiplicative decrease. Pure.

The rule is TCP's congestion avoidance (RFC 5681, section 3.1), with requests in place of bytes: halve when the host
says that it is overloaded, once for all requests that were under way by then, and find the way back slowly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

RAISE = 0.1  # requests per answer: ten answers buy one more at once


@dataclass(frozen=True, slots=True)
class AdaptiveLimit:
    """A limit between one and ``most``. Times are of one monotonic clock, in seconds."""

    most: int
    level: float
    lowered_at: float = float("-inf")

    @classmethod
    def of(cls, most: int) -> AdaptiveLimit:
        return cls(most, float(most))

    @property
    def slots(self) -> int:
        """How many requests may be under way."""
        return max(1, int(self.level))

    def answered(self) -> AdaptiveLimit:
        """After an answer that shows no overload."""
        return self if self.level >= self.most else replace(self, level=min(self.most, self.level + RAISE))

    def overloaded(self, *, sent_at: float, now: float) -> AdaptiveLimit:
        """After an answer that does. A request that was sent before the last decrease tells nothing new."""
        if sent_at < self.lowered_at:
            return self
        return replace(self, level=max(1.0, self.level / 2), lowered_at=now)
