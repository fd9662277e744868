"""The cache file as a file: who it is, creating it, and setting a damaged one aside. The database is opened elsewhere.

SQLite keeps its locks on the file by POSIX locks, which a process loses when it closes *any* descriptor of that file.
So nothing here opens an existing cache file; ``stat`` and ``rename`` do.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_COMPANIONS = ("-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file a path is: another one has another identity, even under the same name."""

    device: int
    inode: int


def identity(path: Path) -> Identity | None:
    """The identity of the regular file at ``path``; ``None`` when there is nothing. Raises ``OSError``."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError("not a file")
    return Identity(found.st_dev, found.st_ino)


def make_folder(folder: Path) -> None:
    """Create ``folder`` and what is missing above it, for its owner alone (0700). Raises ``OSError``."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def create(path: Path) -> None:
    """Create an empty file (0600), which is a valid empty database. The caller excludes other processes.

    What is left of a write-ahead log belongs to a file that is gone, and must not be taken for the new one's."""
    for name in _companions(path):
        name.unlink(missing_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def set_aside(path: Path, damaged: Identity, *, now: float) -> Path | None:
    """Rename the damaged file together with its write-ahead log; returns the new name, or ``None`` when somebody else
    has done so already. The caller excludes other processes. Raises ``OSError``."""
    if identity(path) != damaged:
        return None
    aside = _free_name(path, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now)))
    path.rename(aside)  # first: a log without its file is removed by create(), a file without its log is read
    for suffix, companion in zip(_COMPANIONS, _companions(path), strict=True):
        with suppress(FileNotFoundError):
            companion.rename(aside.with_name(aside.name + suffix))
    return aside


def size(path: Path) -> int:
    """Bytes on disk, with the write-ahead log."""
    total = 0
    for name in (path, *_companions(path)):
        with suppress(FileNotFoundError):
            total += name.stat().st_size
    return total


def _companions(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in _COMPANIONS]


def _free_name(path: Path, when: str) -> Path:
    name = path.with_name(f"{path.name}.damaged-{when}")
    number = 1
    while name.exists():
        number += 1
        name = path.with_name(f"{path.name}.damaged-{when}-{number}")
    return name
