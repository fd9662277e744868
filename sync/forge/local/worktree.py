"""The files of a working tree, as they are on disk: never through a symbolic link, never anything but files."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import Final

from sync.files.atomic import is_temporary
from sync.files.opening import Irregular, open_folder, read_regular
from sync.forge.local.files import is_safe
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
        self.folder = folder
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
        return read_file(name, at=parent, limit=limit)

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
        own, what is being written, and names that no file can be asked for by, are left out. Raises :class:`Damaged`
        where there are too many."""
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
            entries = islice(scan, MAX_FILES + 1)
            return [entry for entry in entries if is_safe(entry.name) and not is_temporary(entry.name)]

    def _enter(self, parts: list[str]) -> int | Obstacle:
        """A descriptor of the folder with these parts, good until the next call."""
        if not parts:
            return self.folder
        if self._held is not None and parts == self._held_parts:
            return self._held
        current = os.dup(self.folder)
        try:
            for part in parts:
                below = open_below(part, at=current)
                if isinstance(below, Obstacle):
                    return below
                os.close(current)
                current = below
            self.close()
            self._held, self._held_parts = os.dup(current), parts
        finally:
            os.close(current)
        return self._held


def open_below(name: str, *, at: int) -> int | Obstacle:
    """A descriptor of the folder ``name`` of the same repository, which the caller closes, or why there is none."""
    try:
        below = open_folder(name, at=at)
    except OSError as error:
        if error.errno in _MISSING_ERRORS or error.errno in _LINK_ERRORS:
            return Obstacle.LINK if _is_link(name, at) else Obstacle.MISSING
        raise
    try:
        foreign = _exists(GIT, below)
    except BaseException:
        os.close(below)
        raise
    if foreign:
        os.close(below)
        return Obstacle.SUBMODULE
    return below


def read_file(name: str, *, at: int, limit: int) -> bytes | Obstacle:
    """The file ``name``, or why there is none. Raises ``Oversized`` above ``limit`` bytes."""
    try:
        return read_regular(name, at=at, limit=limit, follow=False)
    except Irregular:
        return _why_not_a_file(name, at)
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            return Obstacle.LINK
        if error.errno in _MISSING_ERRORS:
            return Obstacle.MISSING
        raise


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
