"""Writing into the working tree of a repository: whole files, together or not at all, and never a commit.

What is compared, what is written:

* Each change is compared with what reads answer now, so also with edits that nobody committed. Its bytes are written
  exactly as given: line ends are not converted and filters are not run, whatever ``.gitattributes`` or
  ``core.autocrlf`` say. Where they convert, git takes the file's line ends for no edit.
* All is checked and all is staged (``atomic``) before the first file gets its name; then the files follow each other in
  the order given. If one cannot, those before it are taken back unless somebody wrote them meanwhile. What a killed
  process leaves is a whole file, or several, and temporary ones, which readers do not list and the next write to the
  folder removes.
* Writers of one repository wait for each other by a lock on its root folder, which leaves nothing behind. Others, an
  editor say, do not know of it: they are seen until the moment in which a file is renamed.
* No part of a path is followed if it is a symbolic link, and none leads into another repository.

git's index is read for conflicts, and left alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from cache.errors import Unavailable
from cache.lease import Held, exclusive_on
from cache.model import MAX_PAGE
from sync.files.atomic import Staged, create, discard, flush, has_name, replace, stage, sweep
from sync.files.opening import Oversized, open_folder
from sync.files.refusals import refusing
from sync.forge.local.branches import default_branch
from sync.forge.local.discovery import HOST
from sync.forge.local.index import on_hold
from sync.forge.local.objects import BLOB
from sync.forge.local.overlay import REFUSALS, parsing_index
from sync.forge.local.refusals import (
    demand_branch,
    demand_free,
    demand_paths,
    demand_unmoved,
    denied,
    in_the_way,
    other_spelling,
)
from sync.forge.local.view import View
from sync.forge.local.worktree import Obstacle, open_below, read_file
from sync.forge.writing import Change, Edit, Moved, Unsettled, Written

LOCK_WAIT: Final = 5.0  # seconds; another writer needs a fraction of one


def write(project: str, view: View, edit: Edit) -> Written:
    """Carry out ``edit`` in the working tree of ``view``, a repository just opened, which errors call ``project``.

    Raises ``Moved``, ``Denied``, ``Unavailable`` while another process writes, and ``Unsettled`` where a file system
    fails so that it can neither be finished nor taken back."""
    root = _root(project, view, edit)
    with _right_to_write(project, root):
        _demand_state(project, view, edit)
        _put(project, view, root, edit.changes)
    objects = view.repository.objects
    return Written(None, {change.path: objects.hash(BLOB, change.data) for change in edit.changes})


def rehearse(project: str, view: View, edit: Edit) -> None:
    """Raise what :func:`write` would raise, but for what only the disk tells."""
    _root(project, view, edit)
    _demand_state(project, view, edit)


def _root(project: str, view: View, edit: Edit) -> int:
    """A descriptor of the folder in which the paths of ``edit`` are."""
    demand_paths(project, edit)
    disk = view.repository.working_tree
    if disk is None:
        raise denied(f"{project} is a bare repository, which has no working tree — write to a clone of it")
    return disk.folder


@contextmanager
def _right_to_write(project: str, root: int) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_on(lambda: open_folder(".", at=root), wait=LOCK_WAIT))
        except Held:
            raise Unavailable(f"{project} is being written by another process — try again", host=HOST) from None
        except OSError as error:  # NFS has no locks on folders, and gives any of several reasons
            message = f"{project} cannot be written: its file system has no locks — keep it on a local disk"
            raise Unavailable(message, host=HOST) from error
        yield


def _demand_state(project: str, view: View, edit: Edit) -> None:
    repository = view.repository
    checked_out = view.tip.branch
    demand_branch(project, edit, checked_out=checked_out, default=default_branch(repository, checked_out))
    paths = [change.path for change in edit.changes]
    with parsing_index(repository) as index:
        holds = on_hold(index, repository.config.object_format, paths) if index is not None else {}
    demand_free(project, holds)
    demand_unmoved(project, edit.changes, [view.read(path, None, limit=MAX_PAGE) for path in paths])


def _put(project: str, view: View, root: int, changes: tuple[Change, ...]) -> None:
    with refusing(project, host=HOST), ExitStack() as kept, ExitStack() as undo:
        placing = _Placing(project, root, kept, undo)
        sites = [placing.find(change) for change in changes]
        answers = [view.answer(site.change.path, site.found, limit=MAX_PAGE) for site in sites]
        demand_unmoved(project, changes, answers)  # what is compared is what was found in these very folders
        for site in sites:
            sweep(site.folder)
        staged = [placing.stage(site) for site in sites]
        backups = [placing.back_up(site) for site in sites[:-1]]
        moved = tuple(site.change.path for site in sites if not site.is_as_found())
        if moved:
            raise Moved(moved)
        for site, new, old in zip(sites, staged, [*backups, None], strict=False):  # of nothing, nothing is the last
            placing.place(site, new, old)
        undo.pop_all()
        placing.flush()


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a change goes: the file ``name`` in the open ``folder``; what was ``found`` there, with its ``mode``."""

    change: Change
    folder: int
    name: str
    found: bytes | Obstacle
    mode: int | None

    def is_as_found(self) -> bool:
        try:
            return read_file(self.name, at=self.folder, limit=MAX_PAGE) == self.found
        except Oversized:
            return False


class _Placing:
    """An edit of ``project`` under way, below the open folder ``root``. ``kept`` closes and removes what it needs until
    its end, ``undo`` takes back what it did."""

    def __init__(self, project: str, root: int, kept: ExitStack, undo: ExitStack) -> None:
        self._project = project
        self._folders = {"": root}
        self._changed: set[int] = set()  # folders with new names
        self._kept = kept
        self._undo = undo

    def find(self, change: Change) -> _Site:
        """Open the folder that a change goes to, made where it is missing, and look what is there."""
        parent, _, name = change.path.rpartition("/")
        folder = self._folder(parent, change.path)
        try:
            found = read_file(name, at=folder, limit=MAX_PAGE)
        except Oversized:
            raise Moved((change.path,)) from None
        return _Site(change, folder, name, found, _mode(name, folder) if isinstance(found, bytes) else None)

    def stage(self, site: _Site) -> Staged:
        staged = stage(site.change.data, at=site.folder, mode=site.mode)
        self._undo.callback(discard, staged.temporary, staged.at)
        return staged

    def back_up(self, site: _Site) -> Staged | None:
        """The file that a change will replace, so that taking it back needs no more space."""
        if not isinstance(site.found, bytes):
            return None
        staged = stage(site.found, at=site.folder, mode=site.mode)
        self._kept.callback(discard, staged.temporary, staged.at)
        return staged

    def place(self, site: _Site, new: Staged, old: Staged | None) -> None:
        """Give what was staged its name. Raises ``Moved`` where that is not as it was found."""
        if not site.is_as_found():
            raise Moved((site.change.path,))
        try:
            (replace if isinstance(site.found, bytes) else create)(new, site.name)
        except FileExistsError:
            raise Moved((site.change.path,)) from None
        self._undo.callback(self._take_back, site, new, old)
        self._changed.add(site.folder)

    def flush(self) -> None:
        try:
            for folder in self._changed:
                flush(folder)
        except OSError as error:
            message = f"{self._project} was written, but its disk did not confirm it — read it again"
            raise Unsettled(message, host=HOST) from error

    def _take_back(self, site: _Site, new: Staged, old: Staged | None) -> None:
        try:
            if not has_name(new, site.name):
                return
            if old is None:
                os.unlink(site.name, dir_fd=site.folder)
            else:
                replace(old, site.name)
        except OSError as error:
            message = f"{site.change.path} in {self._project} was written, what belongs to it was not — look at both"
            raise Unsettled(message, host=HOST) from error

    def _folder(self, path: str, wanted: str) -> int:
        """A descriptor of the folder ``path``, on the way to the path ``wanted``."""
        if path not in self._folders:
            parent, _, name = path.rpartition("/")
            self._folders[path] = self._open(name, self._folder(parent, wanted), wanted, is_top=not parent)
        return self._folders[path]

    def _open(self, name: str, at: int, wanted: str, *, is_top: bool) -> int:
        below = open_below(name, at=at)
        if below is Obstacle.MISSING:
            self._make(name, at)
            below = open_below(name, at=at)
        if isinstance(below, Obstacle):
            raise in_the_way(self._project, wanted, REFUSALS.get(below, "a file"))
        self._kept.callback(os.close, below)
        spelled = None if is_top else other_spelling(name, os.listdir(at))
        if spelled is not None:
            raise denied(
                f"the folder {name} on the way to {wanted} is called {spelled} in {self._project} — call it so"
            )
        return below

    def _make(self, name: str, at: int) -> None:
        """Make a folder, unless a file is in the way or somebody was faster; the next look tells."""
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=at)
            self._changed.add(at)
            self._undo.callback(_remove_folder, name, at)


def _mode(name: str, at: int) -> int:
    return stat.S_IMODE(os.lstat(name, dir_fd=at).st_mode) & 0o777


def _remove_folder(name: str, at: int) -> None:
    """Remove a folder that was made for nothing, unless somebody put something into it."""
    with suppress(OSError):
        os.rmdir(name, dir_fd=at)
