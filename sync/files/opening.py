"""Opening files and folders so that nothing blocks, escapes or stays open.

Every name is taken relative to the descriptor of an open folder: a component that somebody swaps for a symbolic link
while we read is an error then, never a way out. Only regular files are opened: a FIFO would block, and a device may
act on being opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_COMMON: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_CHUNK: Final = 1024 * 1024  # bytes asked for at once


class Irregular(Exception):
    """What was to be read is no regular file."""


class Oversized(Exception):
    """A file or object has ``size`` bytes (as far as is known), more than the caller allows."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes")
        self.size = size


def open_folder(name: str, *, at: int | None = None, follow: bool = False) -> int:
    """A descriptor of the folder ``name``, which the caller closes. ``follow`` lets its last part be a link."""
    return os.open(name, _COMMON | os.O_DIRECTORY | (0 if follow else os.O_NOFOLLOW), dir_fd=at)


@contextmanager
def folder(name: str, *, at: int | None = None, follow: bool = False) -> Iterator[int]:
    """:func:`open_folder` for the length of a block."""
    descriptor = open_folder(name, at=at, follow=follow)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def enter(name: str, *, at: int) -> int:
    """A descriptor of the folder ``name`` in exchange for ``at``, the one that it is in: a way of any length takes one.
    ``at`` stays open where this raises."""
    below = open_folder(name, at=at)
    os.close(at)
    return below


def open_regular(name: str, *, at: int, follow: bool = True) -> int:
    """A descriptor of the regular file ``name``, which the caller closes. Raises :class:`Irregular`."""
    _demand_regular(os.stat(name, dir_fd=at, follow_symlinks=follow))
    descriptor = os.open(name, _COMMON | (0 if follow else os.O_NOFOLLOW), dir_fd=at)
    try:
        _demand_regular(os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(name: str, *, at: int, limit: int, follow: bool = True) -> bytes:
    """All of the regular file ``name``. Raises :class:`Irregular`, :class:`Oversized` above ``limit`` bytes."""
    descriptor = open_regular(name, at=at, follow=follow)
    try:
        return read_all(descriptor, limit=limit)
    finally:
        os.close(descriptor)


def read_all(descriptor: int, *, limit: int) -> bytes:
    """The file from its position to its end, :class:`Oversized` above ``limit`` bytes, also if it grows meanwhile."""
    size = os.fstat(descriptor).st_size
    if size > limit:
        raise Oversized(size)
    data = os.read(descriptor, min(size + 1, _CHUNK))
    if len(data) < _CHUNK and len(data) == size:
        return data
    parts = [data]
    total = len(data)
    while parts[-1]:
        if total > limit:
            raise Oversized(total)
        parts.append(os.read(descriptor, _CHUNK))
        total += len(parts[-1])
    return b"".join(parts)


def _demand_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Irregular
