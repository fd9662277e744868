"""What makes a folder a git repository (gitrepository-layout), by its own entries alone, and what may ail one."""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from sync.files.opening import Irregular, Oversized, read_regular

GIT: Final = ".git"
MAX_POINTER: Final = 64 * 1024  # bytes of a .git file

_GITFILE: Final = b"gitdir: "


class NoRepository(Exception):
    """The folder holds none."""


class Damaged(Exception):
    """The repository contradicts git's formats, lacks what it refers to, or goes beyond what is read; the text says
    what on one line, as something "it" (the repository) has."""


def is_bare(folder: int) -> bool:
    """Whether the open folder is a bare repository, whatever its name. Raises ``PermissionError``."""
    try:
        head, objects, refs = (os.stat(name, dir_fd=folder).st_mode for name in ("HEAD", "objects", "refs"))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return stat.S_ISREG(head) and stat.S_ISDIR(objects) and stat.S_ISDIR(refs)


def has_git(folder: int) -> bool:
    """Whether the open folder has a ``.git`` of a repository, whole or damaged. What cannot be looked into counts."""
    try:
        mode = os.stat(GIT, dir_fd=folder).st_mode
        if stat.S_ISDIR(mode):
            return any(_exists(f"{GIT}/{name}", folder) for name in ("HEAD", "objects", "commondir"))
        return stat.S_ISREG(mode) and gitfile_target(folder) is not None
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def gitfile_target(folder: int) -> str | None:
    """The path, absolute or relative to the open folder, that its file ``.git`` names; ``None`` if it names none."""
    try:
        text = read_regular(GIT, at=folder, limit=MAX_POINTER)
    except (Irregular, Oversized):
        return None
    path = text.removeprefix(_GITFILE).rstrip(b"\r\n")
    return os.fsdecode(path) if text.startswith(_GITFILE) and path and b"\0" not in path else None


def _exists(name: str, at: int) -> bool:
    try:
        os.stat(name, dir_fd=at)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
