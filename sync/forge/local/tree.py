"""Git trees, and a working tree laid over one. What is read comes in as functions and mappings."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from dulwich.objects import parse_tree

from cache.model import TreeEntry
from sync.forge.local.files import is_safe
from sync.forge.local.layout import Damaged
from sync.forge.local.recent import Recent

MAX_ENTRIES: Final = 100_000  # files and folders below one folder of a commit
MAX_DEPTH: Final = 128  # folders in folders
MAX_PATHS: Final = 32 * 1024 * 1024  # code points of all their paths together, since a long one costs little in a tree

TOO_MANY: Final = "it has too many files in a folder of its commit"

REGULAR: Final = 0o100644
LINK: Final = 0o120000
SUBMODULE: Final = 0o160000


@dataclass(frozen=True, slots=True)
class Committed:
    """An entry of a tree: git's ``mode`` and the ``sha`` of the blob, tree or (of a submodule) commit."""

    mode: int
    sha: str

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a blob: a regular file or a symbolic link."""
        return not self.is_folder and self.mode != SUBMODULE


RecentTrees: TypeAlias = Recent[Mapping[bytes, Committed]]


class Trees:
    """The trees of a repository by name, each read and parsed once. ``read`` gives a tree's bytes, ``name_size`` is a
    name's length; ``recent`` are trees that were read before, of whichever repository: a tree's name is the digest of
    its content."""

    def __init__(self, read: Callable[[str], bytes], name_size: int, recent: RecentTrees) -> None:
        self._read = read
        self._name_size = name_size
        self._recent = recent
        self._parsed: dict[str, Mapping[bytes, Committed]] = {}

    def entries(self, tree: str) -> Mapping[bytes, Committed]:
        """The entries of a tree by name."""
        parsed = self._parsed.get(tree)
        if parsed is None:
            parsed = self._parsed[tree] = self._recent.get(tree) or self._parse(tree)
        return parsed

    def _parse(self, tree: str) -> Mapping[bytes, Committed]:
        entries = parse_tree(self._read(tree), self._name_size)
        parsed = {name: Committed(mode, sha.decode()) for name, mode, sha in entries}
        self._recent.keep(tree, parsed)
        return parsed

    def find(self, tree: str, path: str) -> Committed | None:
        """What ``path`` names below ``tree``: the entry there, or the symbolic link or submodule on the way to it."""
        entry = Committed(stat.S_IFDIR, tree)
        for part in path.encode().split(b"/"):
            if entry.mode in (LINK, SUBMODULE):
                break
            following = self.entries(entry.sha).get(part) if entry.is_folder else None
            if following is None:
                return None
            entry = following
        return entry

    def files(self, tree: str) -> dict[str, Committed]:
        """All blobs below ``tree`` by path. Names that no file can be asked for by are left out."""
        return {path: entry for path, entry in self._walk(tree) if entry.is_file}

    def _walk(self, tree: str) -> Iterator[tuple[str, Committed]]:
        seen = written = 0
        folders = [("", tree, 0)]
        while folders:
            prefix, name, depth = folders.pop()
            entries = self.entries(name)
            seen += len(entries)
            if seen > MAX_ENTRIES or depth > MAX_DEPTH:
                raise Damaged(TOO_MANY)
            for raw, entry in entries.items():
                part = _readable(raw)
                if part is None:
                    continue
                written += len(prefix) + len(part)
                if written > MAX_PATHS:
                    raise Damaged(TOO_MANY)
                yield prefix + part, entry
                if entry.is_folder:
                    folders.append((f"{prefix}{part}/", entry.sha, depth + 1))


def _readable(raw: bytes) -> str | None:
    """A name of a tree as text, where it is one that a file can be asked for by."""
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        return None
    return name if "/" not in name and is_safe(name) else None


@dataclass(frozen=True, slots=True)
class Overlay:
    """A working tree laid over a commit: what is there, sorted by path, and whether that differs from the commit."""

    entries: tuple[TreeEntry, ...]
    differs: bool


def lay_over(committed: Mapping[str, Committed], working: Iterable[TreeEntry], kept: Mapping[str, int]) -> Overlay:
    """``working`` over ``committed`` (by path); ``kept`` are the sizes of those committed files that the working tree
    lacks only because they were never checked out. All others that it lacks are deleted."""
    merged = {entry.path: entry for entry in working}
    edited = any(entry.uncommitted for entry in merged.values())
    for path, size in kept.items():
        merged[path] = TreeEntry(path, committed[path].mode, committed[path].sha, size)
    differs = edited or not committed.keys() <= merged.keys()
    return Overlay(tuple(merged[path] for path in sorted(merged)), differs)


def digest(entries: tuple[TreeEntry, ...]) -> str | None:
    """A name for what an overlay shows; ``None`` where that is nothing."""
    if not entries:
        return None
    hashed = hashlib.sha256()
    for entry in entries:
        hashed.update(f"{entry.mode:o} {entry.sha} {entry.path}\0".encode())
    return hashed.hexdigest()
