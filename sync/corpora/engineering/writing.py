"""Writing documents: whole files in one step, one writer at a time, and never over what somebody else has written.

* Writers of one knowledge folder wait for each other by a lock on it, which dies with its owner and leaves nothing
  behind. Others, an editor or git, do not know of it: what they write is seen until the moment of the last step.
* A file is staged under a name of no meaning, flushed, and only then linked to a new name, which fails where there is
  one, or renamed over what was compared. Killed at any point, a writer leaves the old file or the new one, and perhaps
  a temporary one, which no reader lists and the next writer in that folder removes.
* Folders on the way are made where they are missing; one that is there in another case or Unicode form is the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from cache.errors import AlreadyExists, Ambiguous, Denied, InvalidPath, Unavailable, shown
from cache.lease import Held, exclusive_on
from sync.corpora.engineering.folder import ABSENT, MAX_DOCUMENT, parent_of
from sync.files.atomic import create, discard, flush, replace, stage, sweep
from sync.files.opening import Irregular, Oversized, open_folder, read_regular
from sync.files.refusals import refusing
from sync.wiki_paths import fold_path

LOCK_WAIT: Final = 15.0  # seconds; another writer needs a fraction of one, but many may wait

WHAT: Final = "the knowledge folder"


class Changed(Exception):
    """The file is not what the caller read. Nothing was written."""


@contextmanager
def right_to_write(root: int) -> Iterator[None]:
    """Be the one writer of the open folder ``root`` for the block. Raises ``Unavailable``."""
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_on(lambda: open_folder(".", at=root), wait=LOCK_WAIT))
        except Held:
            raise Unavailable(f"{WHAT} is being written by another process — try again") from None
        except OSError as error:  # NFS has no locks on folders, and gives any of several reasons
            message = f"{WHAT} cannot be written: its file system has no locks — keep it on a local disk"
            raise Unavailable(message) from error
        yield


def put_new(root: int, path: str, data: bytes) -> str:
    """Make a file at ``path``, and return that as its folders are spelled.

    Raises ``AlreadyExists`` where something is called so, be it in another case or Unicode form; ``Denied``,
    ``InvalidPath``, ``Ambiguous`` and ``Unavailable`` where nothing can be put."""
    *folders, name = path.split("/")
    with refusing(WHAT), ExitStack() as stack:
        at, spelled = root, ""
        for part in folders:
            at, found = _enter(part, at, spelled, stack)
            spelled += f"{found}/"
        if same := _same(name, at):
            raise _taken(spelled + same[0])
        sweep(at)
        staged = stage(data, at=at, mode=None)
        stack.callback(discard, staged.temporary, at)
        try:
            create(staged, name)
        except FileExistsError:
            raise _taken(spelled + name) from None
        _confirm(at)
    return spelled + name


def put_over(root: int, path: str, data: bytes, *, expected: bytes) -> None:
    """Put ``data`` in the place of the file at ``path``, which holds ``expected``. Its permissions stay.

    Raises :class:`Changed` where it does not, ``Denied``, ``Unavailable``."""
    name = path.rpartition("/")[2]
    with refusing(WHAT), ExitStack() as stack:
        at = stack.enter_context(_held(path, root, expected))
        mode = stat.S_IMODE(os.lstat(name, dir_fd=at).st_mode) & 0o777
        sweep(at)
        staged = stage(data, at=at, mode=mode)
        stack.callback(discard, staged.temporary, at)
        with _held(path, root, expected) as still:
            if not os.path.samestat(os.fstat(at), os.fstat(still)):
                raise Changed
            replace(staged, name)
        _confirm(at)


@contextmanager
def _held(path: str, root: int, expected: bytes) -> Iterator[int]:
    """The open folder of the file at ``path``, if that holds ``expected``. Raises :class:`Changed`."""
    with ExitStack() as stack:
        try:
            at = stack.enter_context(parent_of(path, root))
            found = read_regular(path.rpartition("/")[2], at=at, limit=MAX_DOCUMENT, follow=False)
        except (Irregular, Oversized):
            raise Changed from None
        except OSError as error:
            if error.errno not in ABSENT:
                raise
            raise Changed from None
        if found != expected:
            raise Changed
        yield at


def _enter(name: str, at: int, above: str, stack: ExitStack) -> tuple[int, str]:
    """The folder called ``name``, made where it is missing, and how it is spelled. ``stack`` closes it."""
    same = _same(name, at)
    if name not in same:
        if same and not above:  # where everybody looks
            raise Denied(f"the folder {name} is called {same[0]} — call it {name}")
        if len(same) > 1:
            raise Ambiguous(f"folder {above}{name}", tuple(f"{above}{each}" for each in same))
        name = same[0] if same else name
    if not same:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=at)
            flush(at)
    try:
        below = open_folder(name, at=at)
    except OSError as error:
        if isinstance(error, PermissionError | FileNotFoundError):
            raise
        raise InvalidPath(f"{above}{shown(name, 100)} is a link or a file — put a folder in its place") from error
    stack.callback(os.close, below)
    return below, name


def _same(name: str, at: int) -> list[str]:
    """What is in the open folder ``at`` under ``name``, in whatever case and Unicode form."""
    folded = fold_path(name)
    return sorted(listed for listed in os.listdir(at) if fold_path(listed) == folded)


def _taken(path: str) -> AlreadyExists:
    return AlreadyExists(f"{path} exists — change that, or choose another name", path)


def _confirm(at: int) -> None:
    try:
        flush(at)
    except OSError as error:
        raise Unavailable(f"{WHAT} was written, but its disk did not confirm it — read it again") from error
