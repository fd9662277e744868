"""What a process that checks a workspace may use."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import resource


def set_limits(seconds: float, memory: int) -> None:
    """At most ``memory`` bytes more than now, no longer than ``seconds`` of computing, and no byte into any file."""
    if sys.platform == "win32":
        return
    _limit(resource.RLIMIT_CPU, int(seconds) + 1)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    if (used := _address_space()) is not None:
        _limit(resource.RLIMIT_AS, used + memory)


def _address_space() -> int | None:
    """Bytes of this process's address space, where the system tells."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pages * resource.getpagesize()


def _limit(which: int, value: int) -> None:
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))
