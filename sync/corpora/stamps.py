"""Which files of a folder are other ones than at the last look: by path, modification time, size and inode."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sync.forge.base import SETTLE

SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})  # folders; so is each whose name starts with a dot


class Stamp(NamedTuple):
    """What changes with a file's content: times in nanoseconds since the epoch, size in bytes, inode."""

    modified: int
    changed: int
    size: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        return cls(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def below(root: Path, folder: str, wanted: Callable[[str], object]) -> Iterator[tuple[str, Stamp]]:
    """The regular files in ``folder`` of ``root`` and below whose path is ``wanted``: path from the root, with slashes,
    and stamp.

    Symbolic links are not followed; a folder that cannot be read counts as empty."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(f"{root}/{here}") as entries:
                for entry in entries:
                    path = f"{here}/{entry.name}" if here else entry.name
                    if wanted(path) and entry.is_file(follow_symlinks=False):
                        yield path, Stamp.of(entry.stat(follow_symlinks=False))
                    elif _may_be_entered(entry.name) and entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
        except OSError:
            continue


def _may_be_entered(name: str) -> bool:
    return not name.startswith(".") and name not in SKIPPED


def named(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, Stamp]]:
    """Those of ``paths`` that are regular files, with their stamps."""
    for path in paths:
        try:
            found = (root / path).lstat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            yield path, Stamp.of(found)


@dataclass(slots=True)
class Watch:
    """The stamps of the last look. A file that changed just before it is read again at the next: it may have changed
    once more within the same tick of the file system's clock."""

    _known: dict[str, Stamp] = field(default_factory=dict)
    _young: set[str] = field(default_factory=set)

    def look(self, found: Mapping[str, Stamp], now: float) -> tuple[list[str], list[str]]:
        """The paths to read, and those that are gone. ``now`` is in seconds since the epoch, from before ``found``."""
        fresh = [path for path, stamp in found.items() if self._known.get(path) != stamp or path in self._young]
        gone = [path for path in self._known if path not in found]
        self._young = {path for path in fresh if now - max(found[path][:2]) / 1e9 < SETTLE}
        self._known = dict(found)
        return fresh, gone

    def forget(self, path: str) -> None:
        """Have ``path`` read again."""
        self._known.pop(path, None)
