"""Who changed a file last: from its working tree, or by walking its history as ``git log -1`` does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dulwich.objects import parse_tree

from cache.errors import shown
from cache.model import MAX_PAGE
from sync.files.opening import read_regular
from sync.forge.base import File
from sync.forge.local.branches import branch_head
from sync.forge.local.files import is_safe
from sync.forge.local.layout import Damaged
from sync.forge.local.objects import COMMIT, TREE
from sync.forge.local.repo import Repository
from sync.forge.local.tree import Committed
from sync.forge.local.view import MAX_COMMIT, MAX_TREE, View
from sync.forge.writing import LastChange

MAX_COMMITS: Final = 1_000  # that are read; who changed a file before is not looked for
MAX_READ: Final = 64 * 1024 * 1024  # bytes of the commits and trees that are read
MAX_SHALLOW: Final = 1024 * 1024  # bytes of the list of commits whose parents were not cloned

_TREE: Final = re.compile(rb"tree ([0-9a-f]{40,64})\n")
_PARENT: Final = re.compile(rb"^parent ([0-9a-f]{40,64})$", re.MULTILINE)
_AUTHOR: Final = re.compile(rb"^author (.*?) ?<[^>\n]*> (\d{1,12}) [+-]\d+$", re.MULTILINE)


def last_change(view: View, path: str, branch: str | None) -> LastChange | None:
    """Who changed ``path`` last, as reads see it or, for a ``branch`` that is not checked out, on that branch.

    ``None`` where nobody did, and where it is too long ago or too little of the history is here to tell. A file that
    the working tree lacks was last changed by a commit, since when it was deleted is not known."""
    repository = view.repository
    commit = view.tip.commit
    if branch is not None and branch != view.tip.branch:
        commit = branch_head(repository, branch)
    else:
        answer = view.read(path, None, limit=MAX_PAGE)
        disk = repository.working_tree
        if disk is not None and isinstance(answer, File) and answer.uncommitted:
            file = disk.file(path)
            if file is not None:
                return LastChange("", "", file.status.st_mtime, uncommitted=True)
    if commit is None or not is_safe(path):
        return None
    try:
        return _last_commit(_History(repository, path), commit)
    except (Damaged, _Enough):  # it is told for a message alone, and what is told must be true
        return None


class _Enough(Exception):
    """No more is read."""


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit, with the ``entry`` of the path that is looked for."""

    change: LastChange
    parents: tuple[str, ...]
    entry: Committed | None


def _last_commit(history: _History, start: str) -> LastChange | None:
    """Of a merge, the first parent that has the path as it is leads on ("history simplification" in git-log)."""
    commit = history.commit(start)
    while True:
        parents = (history.commit(name) for name in commit.parents)
        same = next((parent for parent in parents if parent.entry == commit.entry), None)
        if same is None:
            return commit.change if commit.parents or commit.entry is not None else None
        commit = same


class _History:
    """The commits of ``repository`` with what they have at ``path``, as many as may be read."""

    def __init__(self, repository: Repository, path: str) -> None:
        self._objects = repository.objects
        self._name_size = repository.config.object_format.oid_length
        self._parts = path.encode().split(b"/")
        self._shallow = _shallow(repository)
        self._commits = self._bytes = 0
        self._found: dict[tuple[str, bytes], Committed | None] = {}  # most commits share most trees

    def commit(self, name: str) -> _Commit:
        self._commits += 1
        if self._commits > MAX_COMMITS:
            raise _Enough
        header = self._read(name, COMMIT, MAX_COMMIT).partition(b"\n\n")[0] + b"\n"
        tree, author = _TREE.match(header), _AUTHOR.search(header)
        if tree is None or author is None:
            raise Damaged(f"its commit {name} is malformed")
        parents = () if name in self._shallow else tuple(found.decode() for found in _PARENT.findall(header))
        change = LastChange(name, shown(author[1].decode("utf-8", "replace")), float(author[2]))
        return _Commit(change, parents, self._entry(tree[1].decode()))

    def _entry(self, tree: str) -> Committed | None:
        *folders, name = self._parts
        for folder in folders:
            entry = self._look_up(tree, folder)
            if entry is None or not entry.is_folder:
                return None
            tree = entry.sha
        return self._look_up(tree, name)

    def _look_up(self, tree: str, name: bytes) -> Committed | None:
        if (tree, name) not in self._found:
            entries = parse_tree(self._read(tree, TREE, MAX_TREE), self._name_size)
            found = (Committed(mode, sha.decode()) for listed, mode, sha in entries if listed == name)
            self._found[tree, name] = next(found, None)
        return self._found[tree, name]

    def _read(self, name: str, kind: int, limit: int) -> bytes:
        data = self._objects.read(name, kind, limit=limit)
        self._bytes += len(data)
        if self._bytes > MAX_READ:
            raise _Enough
        return data


def _shallow(repository: Repository) -> frozenset[str]:
    """The commits whose parents were left out when the repository was cloned (gitrepository-layout)."""
    try:
        return frozenset(read_regular("shallow", at=repository.refs.common, limit=MAX_SHALLOW).decode().split())
    except FileNotFoundError:
        return frozenset()
