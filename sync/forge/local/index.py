"""What git's index says of a working tree: which missing files were never checked out, and what may not be written.
Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import Enum, auto
from io import BytesIO
from typing import Final

from dulwich.index import EXTENDED_FLAG_SKIP_WORKTREE, SerializedIndexEntry, Stage, read_index
from dulwich.object_format import ObjectFormat

from sync.forge.local.tree import SUBMODULE

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


class Hold(Enum):
    """Why git's index keeps a path from being written."""

    UNMERGED = auto()
    SUBMODULE = auto()


def on_hold(index: bytes, object_format: ObjectFormat, paths: Collection[str]) -> dict[str, Hold]:
    """Those of ``paths`` that wait for a merge to be settled, or that are in a submodule, checked out or not."""
    found: dict[str, Hold] = {}
    names = {path.encode(): path for path in paths}
    for entry in _entries(index, object_format):
        if entry.name in names and entry.stage() != Stage.NORMAL:
            found[names[entry.name]] = Hold.UNMERGED
        elif entry.mode == SUBMODULE:
            inside = (path for name, path in names.items() if (name + b"/").startswith(entry.name + b"/"))
            found.update(dict.fromkeys(inside, Hold.SUBMODULE))
    return found


def _skipped(index: bytes, object_format: ObjectFormat) -> Iterator[bytes]:
    """The paths with the bit, one by one: an index is mostly others."""
    for entry in _entries(index, object_format):
        if entry.extended_flags & EXTENDED_FLAG_SKIP_WORKTREE:
            yield entry.name


def _entries(index: bytes, object_format: ObjectFormat) -> Iterator[SerializedIndexEntry]:
    """Raises ``ValueError`` for a path that no system has; since version 4, each may be a little longer than the one
    before."""
    for entry in read_index(BytesIO(index), object_format):
        if len(entry.name) > MAX_PATH:
            raise ValueError("a path without end")
        yield entry
