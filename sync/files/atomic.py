"""Putting whole files into an open folder: first under a name of no meaning, then in one step under their own.

Whoever reads sees the old file or the new one, and nothing that was there is ever replaced unseen: a new name is given
by ``link``, which fails where there is one, and only what the caller compared is renamed over.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sync.files.opening import Irregular, Oversized, read_regular

NEW_MODE: Final = 0o644  # of new files, less what the umask takes

_TEMPORARY: Final = re.compile(r"\.gateway-[0-9a-f]{16}\.tmp")
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
)  # as FAT and some of FUSE say


@dataclass(frozen=True, slots=True)
class Staged:
    """``data`` on disk, under the name ``temporary`` in the open folder ``at``; ``inode`` is the file's own."""

    data: bytes
    at: int
    temporary: str
    inode: int


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that is being written, or was when its writer was killed."""
    return _TEMPORARY.fullmatch(name) is not None


def sweep(at: int) -> None:
    """Remove what killed writers left. Only for who holds the right to write: no writer is at work then."""
    for name in filter(is_temporary, os.listdir(at)):
        discard(name, at)


def stage(data: bytes, *, at: int, mode: int | None) -> Staged:
    """Write ``data``, with the permissions ``mode`` or those of a new file. Nothing stays where this raises."""
    temporary = f".gateway-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, _CREATE, NEW_MODE if mode is None else 0o600, dir_fd=at)
    try:
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
            return Staged(data, at, temporary, os.fstat(descriptor).st_ino)
        finally:
            os.close(descriptor)
    except BaseException:
        discard(temporary, at)
        raise


def create(staged: Staged, name: str) -> None:
    """Give what was staged the new ``name``. Raises ``FileExistsError`` where something has it."""
    try:
        os.link(staged.temporary, name, src_dir_fd=staged.at, dst_dir_fd=staged.at, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _claim(staged, name)
    else:
        discard(staged.temporary, staged.at)


def replace(staged: Staged, name: str) -> None:
    """Put what was staged in the place of the file ``name``."""
    os.rename(staged.temporary, name, src_dir_fd=staged.at, dst_dir_fd=staged.at)


def has_name(staged: Staged, name: str) -> bool:
    """Whether ``name`` still is the file that was staged, as it was staged."""
    try:
        if os.lstat(name, dir_fd=staged.at).st_ino != staged.inode:
            return False
        return read_regular(name, at=staged.at, limit=len(staged.data), follow=False) == staged.data
    except (FileNotFoundError, Irregular, Oversized):
        return False


def discard(name: str, at: int) -> None:
    """Remove the temporary file ``name``, if it is there and can be."""
    with suppress(OSError):
        os.unlink(name, dir_fd=at)


def flush(folder: int) -> None:
    """Make names in the open ``folder`` last, where its file system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise


def _claim(staged: Staged, name: str) -> None:
    """:func:`create` where files cannot be linked: an empty file takes the name until what was staged replaces it."""
    os.close(os.open(name, _CREATE, NEW_MODE, dir_fd=staged.at))
    try:
        replace(staged, name)
    except BaseException:
        discard(name, staged.at)
        raise
