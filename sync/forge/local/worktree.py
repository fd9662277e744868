"""The files of a working tree, as they are on disk: never through a symbolic link, never anything but files."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from sync.forge.local.files import Irregular, folder, read_regular
from sync.forge.local.layout import GIT, Damaged

MAX_FILES: Final = 100_000  # files below one folder
MAX_DEPTH: Final = 64  # folders in folders; each is an open descriptor while it is read

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
        own, and names that are not UTF-8, are left out. Raises :class:`Damaged` where there are too many."""
        descriptor = self._enter(top.split("/"))
        if isinstance(descriptor, Obstacle):
            return []
        found: list[WorkFile] = []
        _collect(descriptor, top + "/", found, MAX_DEPTH)
        return sorted(found, key=lambda file: file.path)

    def _enter(self, parts: list[str]) -> int | Obstacle:
        """A descriptor of the folder with these parts, good until the next call."""
        if not parts:
            return self._folder
        if self._held is not None and parts == self._held_parts:
            return self._held
        with ExitStack() as stack:
            current = self._folder
            for part in parts:
                try:
                    current = stack.enter_context(folder(part, at=current))
                except OSError as error:
                    if error.errno in _MISSING_ERRORS or error.errno in _LINK_ERRORS:
                        return Obstacle.LINK if _is_link(part, current) else Obstacle.MISSING
                    raise
                if _exists(GIT, current):
                    return Obstacle.SUBMODULE
            self.close()
            self._held, self._held_parts = os.dup(current), parts
        return self._held


def _collect(descriptor: int, prefix: str, found: list[WorkFile], depth: int) -> None:
    with os.scandir(descriptor) as scan:
        entries = [entry for entry in scan if _is_utf8(entry.name)]
    if any(entry.name == GIT for entry in entries):
        return
    if not depth or len(found) + len(entries) > MAX_FILES:
        raise Damaged("it has too many files in a folder of its working tree")
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
            if _is_listed(status):
                found.append(WorkFile(prefix + entry.name, status))
            elif stat.S_ISDIR(status.st_mode):
                with folder(entry.name, at=descriptor) as below:
                    _collect(below, f"{prefix}{entry.name}/", found, depth - 1)
        except OSError as error:  # gone, or swapped for something else, since it was listed
            if error.errno not in _MISSING_ERRORS and error.errno not in _LINK_ERRORS:
                raise


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


def _is_utf8(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
