"""The knowledge folder as it is on disk: which documents there are, and what is in one.

Every name is opened below the descriptor of the folder that it is in, and none that is a symbolic link: a folder that
somebody swaps for one meanwhile leads nowhere. Only regular files are opened.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from cache.errors import Denied, InvalidPath, KnowledgeError, NotConfigured, NotFound, TooLarge, Unavailable
from sync.corpora.engineering.paths import INBOX, KNOWLEDGE, MAX_DEPTH, MAX_PATH, fault_in_name, is_markdown
from sync.corpora.stamps import Stamp
from sync.files.opening import Irregular, Oversized, enter, folder, open_folder, read_regular

MAX_DOCUMENT: Final = 1024 * 1024  # bytes
MAX_FILES: Final = 100_000  # files and folders

_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_LINK: Final = frozenset({errno.ELOOP, errno.EMLINK})
ABSENT: Final = _MISSING | _LINK  # what opening says where there is no such file, or a link in its place

logger = logging.getLogger(__name__)


@contextmanager
def opened(root: Path) -> Iterator[int]:
    """A descriptor of the knowledge folder ``root``. Raises ``NotConfigured`` where there is none, ``Denied``."""
    try:
        descriptor = open_folder(str(root), follow=True)
    except PermissionError:
        raise Denied("no permission to read the knowledge folder — give the gateway's user access to it") from None
    except OSError:
        raise NotConfigured("there is no knowledge folder — make it, or set [engineering] root, or --root") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def documents(root: int) -> dict[str, Stamp]:
    """All documents and the inbox, by their paths from the root.

    Raises ``InvalidPath``, ``Denied``, ``Unavailable``."""
    found: dict[str, Stamp] = {}
    inbox, _, name = INBOX.rpartition("/")
    for top in (KNOWLEDGE, inbox):
        with ExitStack() as stack:
            try:
                at = stack.enter_context(folder(top, at=root))
            except OSError as error:
                _demand_absent(error, top, root)
                continue
            if top == KNOWLEDGE:
                found.update(_below(at, top, [0]))
            elif stamp := _stamp(name, at):
                found[INBOX] = stamp
    return found


def _demand_absent(error: OSError, top: str, root: int) -> None:
    """Go on where there is nothing yet, and raise why else the folder ``top`` could not be opened. An inbox that is a
    link is none, as far as readers go."""
    if error.errno not in ABSENT:
        raise _refusal(error, top)
    if top == KNOWLEDGE and _mode(top, root):
        raise InvalidPath(f"{top} is a link or a file — put a folder in its place")


def _below(at: int, path: str, count: list[int]) -> Iterator[tuple[str, Stamp]]:
    """The documents in the open folder ``at`` and below, which is at ``path``."""
    with os.scandir(at) as scan:
        entries = [entry for entry in scan if fault_in_name(entry.name) is None]
    count[0] += len(entries)
    if count[0] > MAX_FILES:
        raise Unavailable(f"there are more than {MAX_FILES} files below {KNOWLEDGE}/ — move what is no note elsewhere")
    for entry in entries:
        here = f"{path}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if here.count("/") < MAX_DEPTH - 1:
                yield from _inside(entry.name, at, here, count)
        elif is_markdown(entry.name) and len(here) <= MAX_PATH and (stamp := _stamp(entry.name, at)):
            yield here, stamp


def _inside(name: str, at: int, path: str, count: list[int]) -> Iterator[tuple[str, Stamp]]:
    try:
        below = open_folder(name, at=at)
    except OSError as error:  # gone or swapped since it was listed, or not for us to read
        if error.errno not in ABSENT:
            logger.warning("cannot read %s: %s", path, error.strerror)
        return
    try:
        yield from _below(below, path, count)
    finally:
        os.close(below)


def _stamp(name: str, at: int) -> Stamp | None:
    """The stamp of the regular file ``name``, if it is one."""
    try:
        found = os.lstat(name, dir_fd=at)
    except OSError:  # gone since it was listed, or in a folder that tells names alone
        return None
    return Stamp.of(found) if stat.S_ISREG(found.st_mode) else None


def read(root: int, path: str) -> bytes:
    """The file at ``path``, from the root.

    Raises ``NotFound`` where none is (any more), ``InvalidPath`` where something else is, ``Denied``, ``TooLarge``,
    ``Unavailable``."""
    try:
        with parent_of(path, root) as at:
            return read_regular(path.rpartition("/")[2], at=at, limit=MAX_DOCUMENT, follow=False)
    except Oversized:
        raise TooLarge(path, MAX_DOCUMENT) from None
    except Irregular:
        raise InvalidPath(f"{path} is no regular file — put one in its place") from None
    except OSError as error:
        raise _refusal(error, path) from None


@contextmanager
def parent_of(path: str, root: int) -> Iterator[int]:
    """A descriptor of the folder that the file at ``path`` is in. Raises ``OSError``."""
    at = os.dup(root)
    try:
        for name in path.split("/")[:-1]:
            at = enter(name, at=at)
        yield at
    finally:
        os.close(at)


def obstacle(root: int, path: str) -> str | None:
    """What at ``path``, or on the way there, keeps it from being a file that is read; ``None`` where all is well or
    nothing is there."""
    at = os.dup(root)
    try:
        *folders, name = path.split("/")
        for each in folders:
            if stat.S_ISLNK(_mode(each, at)):
                return f"{path} leads through a symbolic link, which is not followed"
            at = enter(each, at=at)
        mode = _mode(name, at)
    except OSError:
        return None
    finally:
        os.close(at)
    return f"{path} is no regular file, which is not read" if mode and not stat.S_ISREG(mode) else None


def _mode(name: str, at: int) -> int:
    """The file mode of what is called ``name``, no link followed; 0 where nothing is."""
    try:
        return os.lstat(name, dir_fd=at).st_mode
    except OSError:
        return 0


def _refusal(error: OSError, path: str) -> KnowledgeError:
    if error.errno in _MISSING:
        return NotFound(f"there is no {path} any more — list the documents again")
    if error.errno in _LINK:
        return InvalidPath(f"{path} leads through a symbolic link — put a real file or folder in its place")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Denied(f"no permission to read {path} — give the gateway's user access to it")
    return Unavailable(f"{path} cannot be read: {error.strerror or 'input error'}")
