"""The working tree of a repository as it lies over a commit: which bytes count, under which name, edited or not.

* Files that were never checked out (skip-worktree, or no index at all) stay as they are in the commit.
* Line ends alone are no edit where the repository converts them (``core.autocrlf``, or a ``text``, ``eol`` or ``crlf``
  attribute): such a file is served as committed. Which paths an attribute fits is not worked out, since the time that
  patterns of other people's repositories take to match has no bound. Filters are never run.
* A folder with its own ``.git`` belongs to that repository.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Final

from cache.model import MAX_PAGE, TreeEntry
from sync.files.opening import Irregular, Oversized, read_regular
from sync.forge.base import Absent, Answer, File, Refused, TooBig
from sync.forge.local.index import not_checked_out
from sync.forge.local.layout import Damaged
from sync.forge.local.objects import BLOB
from sync.forge.local.repo import Repository
from sync.forge.local.tree import LINK, REGULAR, Committed
from sync.forge.local.worktree import Obstacle, WorkFile, WorkingTree

MAX_INDEX_FILE: Final = 64 * 1024 * 1024  # bytes of git's index: some 700,000 files
MAX_ATTRIBUTES: Final = 1024 * 1024  # bytes of one .gitattributes

REFUSALS: Final = {
    Obstacle.LINK: "a symbolic link",
    Obstacle.FOLDER: "a directory",
    Obstacle.SUBMODULE: "a submodule",
}
_CONVERTING: Final = frozenset({b"text", b"text=auto", b"eol=crlf", b"eol=lf", b"crlf", b"crlf=input"})


class WorkingCopy:
    """The working tree ``disk`` of ``repository``."""

    def __init__(self, disk: WorkingTree, repository: Repository) -> None:
        self.disk = disk
        self._repository = repository
        self._objects = repository.objects

    def read(self, path: str, committed: Committed | None, *, limit: int) -> Answer | None:
        """The file at ``path``, which the commit has as ``committed``; ``None``: the commit's version counts."""
        try:
            found = self.disk.read(path, limit=limit)
        except Oversized:
            return TooBig(path, limit)
        return self.answer(path, found, committed)

    def answer(self, path: str, found: bytes | Obstacle, committed: Committed | None) -> Answer | None:
        """The same, where ``found`` is what was read at ``path``."""
        if found is Obstacle.MISSING:
            kept = committed is not None and self.is_not_checked_out(path)
            return None if kept else Absent(path)
        if isinstance(found, Obstacle):
            return Refused(path, REFUSALS[found])
        data, sha, uncommitted = self._named(path, found, committed)
        if committed is not None and committed.mode == LINK and not uncommitted:
            return Refused(path, REFUSALS[Obstacle.LINK])  # checked out as text, for want of links
        return File(path, sha, data, uncommitted)

    def entry(self, file: WorkFile, committed: Committed | None, *, top: str = "") -> TreeEntry | None:
        """A file as an entry of the tree at ``top``; ``None`` if it went since it was listed."""
        path = file.path[len(top) :]
        if file.is_link:
            return self._link_entry(file, path, committed)
        mode = committed.mode if committed is not None and committed.is_file else REGULAR
        try:
            found = self.disk.read(file.path, limit=MAX_PAGE)
        except Oversized as error:
            return self._large_entry(file, path, error.size, committed)
        if isinstance(found, Obstacle):
            return None
        data, sha, uncommitted = self._named(file.path, found, committed)
        if uncommitted and mode == LINK:
            mode = REGULAR
        return TreeEntry(path, mode, sha, len(data), uncommitted)

    def is_not_checked_out(self, path: str) -> bool:
        """Whether a committed file that is missing was never meant to be there."""
        return self._not_checked_out(path)

    def _link_entry(self, file: WorkFile, path: str, committed: Committed | None) -> TreeEntry | None:
        target = self.disk.link_target(file.path)
        if target is None:
            return None
        sha = self._objects.hash(BLOB, target)
        return TreeEntry(path, LINK, sha, len(target), uncommitted=committed != Committed(LINK, sha))

    def _large_entry(self, file: WorkFile, path: str, size: int, committed: Committed | None) -> TreeEntry:
        """A file that is never served, so that its content is not read: as committed if it has the committed size."""
        if committed is not None and committed.is_file and self._objects.size(committed.sha) == size:
            return TreeEntry(path, committed.mode, committed.sha, size)
        sha = self._objects.hash(BLOB, f"{size} {file.status.st_mtime_ns}".encode())
        return TreeEntry(path, REGULAR, sha, size, uncommitted=True)

    def _named(self, path: str, data: bytes, committed: Committed | None) -> tuple[bytes, str, bool]:
        """What a file's bytes are served as, the name of that, and whether it is uncommitted."""
        sha = self._objects.hash(BLOB, data)
        if committed is None or sha == committed.sha:
            return data, sha, committed is None
        if b"\r\n" in data:
            normalized = data.replace(b"\r\n", b"\n")
            if self._objects.hash(BLOB, normalized) == committed.sha and self._converts_line_ends(path):
                return normalized, committed.sha, False
        return data, sha, True

    @cached_property
    def _not_checked_out(self) -> Callable[[str], bool]:
        """Read only when a committed file is missing: an index may be large."""
        with parsing_index(self._repository) as index:
            return not_checked_out(index, self._objects.object_format)

    def _converts_line_ends(self, path: str) -> bool:
        if self._repository.config.line_ends:
            return True
        folders = path.split("/")[:-1]
        files = ("/".join([*folders[:depth], ".gitattributes"]) for depth in range(len(folders) + 1))
        return any(_converts(self._attributes(file)) for file in files) or _converts(self._info_attributes())

    def _attributes(self, path: str) -> bytes:
        try:
            found = self.disk.read(path, limit=MAX_ATTRIBUTES)
        except Oversized:
            return b""
        return b"" if isinstance(found, Obstacle) else found

    def _info_attributes(self) -> bytes:
        try:
            return read_regular("info/attributes", at=self._repository.refs.common, limit=MAX_ATTRIBUTES)
        except (FileNotFoundError, Irregular, Oversized):
            return b""


@contextmanager
def parsing_index(repository: Repository) -> Iterator[bytes | None]:
    """git's index of ``repository``, ``None`` without one; what is raised in the block says that it is damaged."""
    try:
        index = read_regular("index", at=repository.refs.control, limit=MAX_INDEX_FILE)
    except FileNotFoundError:
        index = None
    try:
        yield index
    except Exception as error:  # dulwich tells damage by any type
        raise Damaged("its index is damaged") from error


def _converts(attributes: bytes) -> bool:
    """Whether any line of a .gitattributes file (gitattributes: pattern, then attributes) has line ends converted."""
    lines = (line.split() for line in attributes.splitlines())
    return any(line and not line[0].startswith(b"#") and not _CONVERTING.isdisjoint(line[1:]) for line in lines)
