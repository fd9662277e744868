"""A repository as reads see it: a commit, with the working tree of some paths laid over it.

In a repository with a working tree, what reads see below ``.wiki/`` and ``.tasks/`` and at the STATUS paths is what is
on disk there: edited, new, also untracked and ignored; a file that is gone is gone. All else is the commit's. A
repository without commits can be read all the same where its working tree has such files; its commit is then named by
zeros, as git itself does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cache.model import TreeEntry
from sync.files.opening import Oversized
from sync.forge.base import WIKI, Absent, Answer, File, Head, Refused, TooBig
from sync.forge.local.files import is_safe
from sync.forge.local.layout import Damaged
from sync.forge.local.objects import BLOB, COMMIT, TREE
from sync.forge.local.overlay import REFUSALS, WorkingCopy
from sync.forge.local.refs import Tip
from sync.forge.local.repo import Repository
from sync.forge.local.tree import LINK, SUBMODULE, Committed, Overlay, RecentTrees, Trees, digest, lay_over
from sync.forge.local.worktree import Obstacle, WorkFile

OVERLAID: Final = (WIKI, ".tasks/")

MAX_COMMIT: Final = 1024 * 1024  # bytes
MAX_TREE: Final = 16 * 1024 * 1024  # bytes of one tree object

_TOP: Final = WIKI.rstrip("/")
_TREE: Final = re.compile(rb"tree ([0-9a-f]{40,64})\n")
_COMMITTER: Final = re.compile(rb"^committer .* (\d{1,12}) [+-]\d+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Signs:
    """What a listing tells of a repository: its ``branch`` (``None``: detached), a ``stamp`` that changes with
    anything a sync reads, when that last happened, and whether there is nothing at all to read."""

    branch: str | None
    stamp: str
    updated_at: float | None
    empty: bool


class View:
    """One repository, open for the length of a few reads."""

    def __init__(self, repository: Repository, status_paths: Sequence[str], trees: RecentTrees) -> None:
        self.repository = repository
        self._objects = repository.objects
        self._status_paths = status_paths
        disk = repository.working_tree
        self._copy = WorkingCopy(disk, repository) if disk is not None else None
        size = repository.config.object_format.oid_length
        self._nothing = "0" * (2 * size)
        self._trees = Trees(lambda name: self._objects.read(name, TREE, limit=MAX_TREE), size, trees)
        self._roots: dict[str, str | None] = {self._nothing: None}

    @cached_property
    def tip(self) -> Tip:
        """HEAD, looked at once: all answers of one view belong together."""
        return self.repository.tip()

    @property
    def _commit_now(self) -> str:
        return self.tip.commit or self._nothing

    def signs(self) -> Signs:
        """The cheap look of a listing: HEAD's commit, and the status of each overlaid file."""
        tip = self.tip
        files = list(self._overlaid_files())
        times = [file.status.st_mtime_ns / 1e9 for file in files]
        if tip.commit is not None:
            found = _COMMITTER.search(self._commit(tip.commit))
            times += [float(found[1])] if found else []
        stamp = hashlib.sha256(repr((tip.commit, [file.facts for file in files])).encode()).hexdigest()
        return Signs(tip.branch, stamp, max(times, default=None), tip.commit is None and not files)

    def head(self) -> tuple[Head, tuple[TreeEntry, ...] | None] | None:
        """The tip, and the wiki where working it out was needed for that; ``None`` where there is nothing to read."""
        commit = self._commit_now
        tree = self._wiki(commit)
        if self._copy is None:
            return None if commit == self._nothing else (Head(commit, tree), None)
        overlay = self._overlay(self._copy, tree)
        status_differs = [self._status_differs(self._copy, path, commit) for path in self._status_paths]
        if commit == self._nothing and not overlay.entries and not any(status_differs):
            return None
        name = digest(overlay.entries) if overlay.differs else tree
        return Head(commit, name, uncommitted=overlay.differs or any(status_differs)), overlay.entries

    def wiki(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every blob and symbolic link below ``.wiki/`` at ``commit``, with the working tree laid over it."""
        tree = self._wiki(commit)
        if self._copy is not None:
            return self._overlay(self._copy, tree).entries
        files = self._trees.files(tree) if tree is not None else {}
        return lay_over(files, {}, {path: self._objects.size(file.sha) for path, file in files.items()}).entries

    def read(self, path: str, commit: str | None, *, limit: int) -> Answer:
        """The file at ``path`` at ``commit`` (``None``: HEAD), with the working tree laid over it."""
        if not is_safe(path):
            return Absent(path)
        committed = self._find(self._commit_now if commit is None else commit, path)
        if self._copy is not None and (path.startswith(OVERLAID) or path in self._status_paths):
            answer = self._copy.read(path, committed, limit=limit)
            if answer is not None:
                return answer
        return self._read_committed(path, committed, limit)

    def answer(self, path: str, found: bytes | Obstacle, *, limit: int) -> Answer:
        """What :meth:`read` answers now where the working tree has ``found`` at an overlaid ``path``."""
        committed = self._find(self._commit_now, path)
        answer = self._copy.answer(path, found, committed) if self._copy is not None else None
        return answer if answer is not None else self._read_committed(path, committed, limit)

    def _read_committed(self, path: str, committed: Committed | None, limit: int) -> Answer:
        if committed is None:
            return Absent(path)
        if committed.mode == LINK:
            return Refused(path, REFUSALS[Obstacle.LINK])
        if committed.mode == SUBMODULE:
            return Refused(path, REFUSALS[Obstacle.SUBMODULE])
        if committed.is_folder:
            return Refused(path, REFUSALS[Obstacle.FOLDER])
        try:
            return File(path, committed.sha, self._objects.read(committed.sha, BLOB, limit=limit))
        except Oversized as error:
            if error.size <= limit:
                raise
            return TooBig(path, limit)

    def _overlay(self, copy: WorkingCopy, tree: str | None) -> Overlay:
        committed = self._trees.files(tree) if tree is not None else {}
        entries = (copy.entry(file, committed.get(file.path[len(WIKI) :]), top=WIKI) for file in copy.disk.files(_TOP))
        working = [entry for entry in entries if entry is not None]
        missing = committed.keys() - {entry.path for entry in working}
        kept = {
            path: self._objects.size(committed[path].sha) for path in missing if copy.is_not_checked_out(WIKI + path)
        }
        return lay_over(committed, working, kept)

    def _status_differs(self, copy: WorkingCopy, path: str, commit: str) -> bool:
        """Whether the STATUS file at ``path`` is another one in the working tree than in the commit."""
        file = copy.disk.file(path)
        committed = self._find(commit, path)
        if file is None:
            return committed is not None and committed.is_file and not copy.is_not_checked_out(path)
        entry = copy.entry(file, committed)
        return entry is not None and entry.uncommitted

    def _overlaid_files(self) -> Iterator[WorkFile]:
        if self._copy is None:
            return
        yield from self._copy.disk.files(_TOP)
        for path in self._status_paths:
            file = None if path.startswith(WIKI) else self._copy.disk.file(path)
            if file is not None:
                yield file

    def _wiki(self, commit: str) -> str | None:
        """The name of the tree ``.wiki`` at a commit."""
        entry = self._find(commit, _TOP)
        return entry.sha if entry is not None and entry.is_folder else None

    def _find(self, commit: str, path: str) -> Committed | None:
        root = self._root(commit)
        return self._trees.find(root, path) if root is not None else None

    def _root(self, commit: str) -> str | None:
        """The root tree of a commit."""
        if commit not in self._roots:
            found = _TREE.match(self._commit(commit))
            if found is None:
                raise Damaged(f"its commit {commit} is malformed")
            self._roots[commit] = found[1].decode()
        return self._roots[commit]

    def _commit(self, name: str) -> bytes:
        return self._objects.read(name, COMMIT, limit=MAX_COMMIT)
