"""How long something takes that is called again and again."""

from __future__ import annotations

import time
from collections.abc import Callable

WARM_UP = 3  # calls that are not counted


def milliseconds(call: Callable[[], object], calls: int) -> list[float]:
    times = []
    for _ in range(calls + WARM_UP):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return times[WARM_UP:]
