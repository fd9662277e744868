"""What git's index says of files that are missing from a working tree: deleted, or never checked out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Final

from dulwich.index import EXTENDED_FLAG_SKIP_WORKTREE, read_index
from dulwich.object_format import ObjectFormat

MAX_PATH: Final = 4096  # bytes

_SLASH: Final = ord("/")


def not_checked_out(index: bytes | None, object_format: ObjectFormat) -> Callable[[str], bool]:
    """A test for paths that a working tree lacks on purpose, from the bytes of its index.

    Those are the paths, and folders of a sparse index, with the skip-worktree bit (gitformat-index); all paths where
    there is no index, since then nothing was ever checked out."""
    if index is None:
        return lambda _: True
    skipped = set(_skipped(index, object_format))

    def test(path: str) -> bool:
        name = path.encode()
        return name in skipped or any(name[:end] in skipped for end, byte in enumerate(name, 1) if byte == _SLASH)

    return test


def _skipped(index: bytes, object_format: ObjectFormat) -> Iterator[bytes]:
    """The paths with the bit, one by one: an index is mostly others. Raises ``ValueError`` for a path that no system
    has; since version 4, each may be a little longer than the one before."""
    for entry in read_index(BytesIO(index), object_format):
        if len(entry.name) > MAX_PATH:
            raise ValueError("a path without end")
        if entry.extended_flags & EXTENDED_FLAG_SKIP_WORKTREE:
            yield entry.name
