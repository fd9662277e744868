"""Exclusive rights that processes share by ``flock`` on a file made for it, or on a folder that is there: they die with
their owner, however it ends. Two holders in one process exclude each other too."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL = 0.01  # seconds


class Held(Exception):
    """Somebody else has it."""


@contextmanager
def exclusive(path: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the right that ``path`` stands for during the block, after waiting up to ``wait`` seconds for it.

    The file is created (0600) and stays: whoever removed it would let in two. Raises :class:`Held`, ``OSError``.
    """

    def opening() -> int:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    with exclusive_on(opening, wait=wait, counts=lambda file: _is_still(path, file)):
        yield


@contextmanager
def exclusive_on(
    opening: Callable[[], int], *, wait: float = 0.0, counts: Callable[[int], bool] = lambda _: True
) -> Iterator[None]:
    """Hold the right that a file or folder stands for during the block. ``opening`` gives a new descriptor of it, and
    ``counts`` tells whether a lock on that is worth having; one that is not counts as somebody else's.

    Raises :class:`Held` after ``wait`` seconds, ``OSError``."""
    until = time.monotonic() + wait
    while True:
        file = opening()
        try:
            if _lock(file) and counts(file):
                yield
                return
        finally:
            os.close(file)
        if time.monotonic() >= until:
            raise Held
        time.sleep(_POLL)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(path: Path, file: int) -> bool:
    """Whether ``path`` is still the locked file, and not a new one that another process may lock."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
