"""What git's index says of files that are missing from a working tree: deleted, or never checked out. Pure."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from dulwich.index import EXTENDED_FLAG_SKIP_WORKTREE, IndexEntry, read_index_dict
from dulwich.object_format import ObjectFormat


def not_checked_out(index: bytes | None, object_format: ObjectFormat) -> Callable[[str], bool]:
    """A test for paths that a working tree lacks on purpose, from the bytes of its index.

    Those are the paths, and folders of a sparse index, with the skip-worktree bit (gitformat-index); all paths where
    there is no index, since then nothing was ever checked out."""
    if index is None:
        return lambda _: True
    entries = read_index_dict(BytesIO(index), object_format)
    skipped = {
        path
        for path, entry in entries.items()
        if isinstance(entry, IndexEntry) and entry.extended_flags & EXTENDED_FLAG_SKIP_WORKTREE
    }
    folders = tuple(path for path in skipped if path.endswith(b"/"))

    def test(path: str) -> bool:
        name = path.encode()
        return name in skipped or name.startswith(folders)

    return test
