"""The files of a working tree, as they are on disk: never through a symbolic link, never anything but files."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import Final

from sync.forge.local.files import Irregular, enter, is_safe, read_regular
from sync.forge.local.layout import GIT, Damaged

MAX_FILES: Final = 100_000  # files and folders below one folder
MAX_PATHS: Final = 32 * 1024 * 1024  # code points of all their paths together
MAX_DEPTH: Final = 64  # folders in folders

_LINK_ERRORS: Final = frozenset({errno.ELOOP, errno.EMLINK})
_MISSING_ERRORS: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class Obstacle(Enum):
    """Why there is no file at a path."""

    MISSING = auto()
    LINK = auto()
    FOLDER = auto()
    SUBMODULE = auto()


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A regular file or symbolic link at ``path`` (from the top of the working tree)."""

    path: str
    status: os.stat_result

    @property
    def facts(self) -> tuple[str, int, int, int, int, int]:
        """What changes whenever the file does, short of forgery."""
        at = self.status
        return self.path, at.st_mtime_ns, at.st_ctime_ns, at.st_size, at.st_ino, at.st_mode

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.status.st_mode)


class WorkingTree:
    """The working tree in the open folder ``folder``. Close it after use: the folder read last stays open, since what
    is read next is most often beside it."""

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self._held: int | None = None
        self._held_parts: list[str] = []

    def close(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def read(self, path: str, *, limit: int) -> bytes | Obstacle:
        """The file at ``path``. Raises ``Oversized`` above ``limit`` bytes."""
        *parents, name = path.split("/")
        parent = self._enter(parents)
        if isinstance(parent, Obstacle):
            return parent
        try:
            return read_regular(name, at=parent, limit=limit, follow=False)
        except Irregular:
            return _why_not_a_file(name, parent)
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                return Obstacle.LINK
            if error.errno in _MISSING_ERRORS:
                return Obstacle.MISSING
            raise

    def link_target(self, path: str) -> bytes | None:
        """Where the symbolic link at ``path`` points, as text; ``None`` if none is there."""
        *parents, name = path.split("/")
        parent = self._enter(parents)
        if isinstance(parent, Obstacle):
            return None
        try:
            return os.fsencode(os.readlink(name, dir_fd=parent))
        except OSError as error:
            if error.errno in _MISSING_ERRORS or error.errno == errno.EINVAL:
                return None
            raise

    def file(self, path: str) -> WorkFile | None:
        """What is at ``path``, if it is a file or a symbolic link."""
        *parents, name = path.split("/")
        parent = self._enter(parents)
        if isinstance(parent, Obstacle):
            return None
        try:
            status = os.lstat(name, dir_fd=parent)
        except OSError as error:
            if error.errno in _MISSING_ERRORS:
                return None
            raise
        return WorkFile(path, status) if _is_listed(status) else None

    def files(self, top: str) -> list[WorkFile]:
        """All files and symbolic links below the folder ``top``, sorted by path. What belongs to a repository of its
        own, and names that no file can be asked for by, are left out. Raises :class:`Damaged` where there are too
        many."""
        found: list[WorkFile] = []
        entries = written = 0
        folders = [top]
        while folders:
            prefix = folders.pop()
            for entry in self._entries(prefix):
                path = f"{prefix}/{entry.name}"
                entries, written = entries + 1, written + len(path)
                if entries > MAX_FILES or written > MAX_PATHS or path.count("/") > MAX_DEPTH:
                    raise Damaged("it has too many files in a folder of its working tree")
                status = _status(entry)
                if status is not None and _is_listed(status):
                    found.append(WorkFile(path, status))
                elif status is not None and stat.S_ISDIR(status.st_mode):
                    folders.append(path)
        return sorted(found, key=lambda file: file.path)

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        """What is in the folder ``path``, or as much of it as is too much; nothing if it is no folder of this
        repository (any more)."""
        descriptor = self._enter(path.split("/"))
        if isinstance(descriptor, Obstacle):
            return []
        with os.scandir(descriptor) as scan:
            return [entry for entry in islice(scan, MAX_FILES + 1) if is_safe(entry.name)]

    def _enter(self, parts: list[str]) -> int | Obstacle:
        """A descriptor of the folder with these parts, good until the next call."""
        if not parts:
            return self._folder
        if self._held is not None and parts == self._held_parts:
            return self._held
        current = os.dup(self._folder)
        try:
            for part in parts:
                try:
                    current = enter(part, at=current)
                except OSError as error:
                    if error.errno in _MISSING_ERRORS or error.errno in _LINK_ERRORS:
                        return Obstacle.LINK if _is_link(part, current) else Obstacle.MISSING
                    raise
                if _exists(GIT, current):
                    return Obstacle.SUBMODULE
            self.close()
            self._held, self._held_parts = os.dup(current), parts
        finally:
            os.close(current)
        return self._held


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """``None``: it went since it was listed."""
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_listed(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


def _why_not_a_file(name: str, parent: int) -> Obstacle:
    """FIFOs, devices and sockets count as missing: git knows no such thing."""
    if _is_link(name, parent):
        return Obstacle.LINK
    return Obstacle.FOLDER if stat.S_ISDIR(_mode(name, parent)) else Obstacle.MISSING


def _is_link(name: str, parent: int) -> bool:
    return stat.S_ISLNK(_mode(name, parent))


def _mode(name: str, parent: int) -> int:
    try:
        return os.lstat(name, dir_fd=parent).st_mode
    except OSError:
        return 0


def _exists(name: str, parent: int) -> bool:
    try:
        os.lstat(name, dir_fd=parent)
    except FileNotFoundError:
        return False
    return True
