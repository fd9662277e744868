"""Git's objects in memory, under the names that git gives them: blobs, trees, commits (sha1).

A :class:`Snapshot` is one commit's whole tree, by path, so that every question about it is a look-up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tests.support.git_files import FILE, SUBMODULE, SYMLINK, TREE, FileContent, Submodule, Symlink


def object_name(kind: str, data: bytes) -> str:
    """Git's name of an object: the sha1 of its header and content, 40 hexadecimal digits."""
    name = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    name.update(data)
    return name.hexdigest()


@dataclass(frozen=True, slots=True)
class Blob:
    """A file's content under its name."""

    sha: str
    data: bytes

    @classmethod
    def of(cls, data: bytes) -> Blob:
        return cls(object_name("blob", data), data)


@dataclass(frozen=True, slots=True)
class Entry:
    """A tree's entry: its last path segment, git mode, the object's name and (of a blob) its size in bytes."""

    name: str
    mode: int
    sha: str
    size: int = 0

    @property
    def kind(self) -> str:
        return {TREE: "tree", SUBMODULE: "commit"}.get(self.mode, "blob")


@dataclass(frozen=True, slots=True)
class Tree:
    """One folder: its entries in git's order, in which a folder sorts as if its name ended in a slash."""

    sha: str
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, entries: list[Entry]) -> Tree:
        ordered = sorted(entries, key=lambda entry: entry.name.encode() + (b"/" if entry.mode == TREE else b""))
        data = b"".join(b"%o %s\0%s" % (e.mode, e.name.encode(), bytes.fromhex(e.sha)) for e in ordered)
        return cls(object_name("tree", data), tuple(ordered))


@dataclass(frozen=True)
class Snapshot:
    """All files of a commit by path, and the trees above them (the root is ``""``)."""

    files: Mapping[str, Entry]

    @cached_property
    def trees(self) -> Mapping[str, Tree]:
        below: dict[str, dict[str, Entry]] = {"": {}}
        for path, entry in self.files.items():
            folder = path.rpartition("/")[0]
            below.setdefault(folder, {})[entry.name] = entry
            while folder:
                folder = folder.rpartition("/")[0]
                below.setdefault(folder, {})
        trees: dict[str, Tree] = {}
        for folder in sorted(below, key=lambda name: name.count("/") if name else -1, reverse=True):
            trees[folder] = Tree.of(list(below[folder].values()))
            if folder:
                parent, _, name = folder.rpartition("/")
                below[parent][name] = Entry(name, TREE, trees[folder].sha)
        return trees

    @property
    def root(self) -> Tree:
        return self.trees[""]

    def entry(self, path: str) -> Entry | None:
        """What is at ``path``: a file's entry or a folder's."""
        if found := self.files.get(path):
            return found
        tree = self.trees.get(path)
        return None if tree is None else Entry(path.rpartition("/")[2], TREE, tree.sha)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who wrote or committed, as git knows people."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; ``authored`` and ``committed`` are seconds since the UTC epoch, ``message`` ends with a newline."""

    sha: str
    snapshot: Snapshot
    parents: tuple[str, ...]
    author: Identity
    committer: Identity
    authored: int
    committed: int
    message: str


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who makes a commit, when and why."""

    author: Identity
    committer: Identity
    authored: int
    committed: int
    message: str


def make_commit(snapshot: Snapshot, parents: tuple[str, ...], by: Authorship) -> Commit:
    """The commit of ``snapshot``, in UTC, under its git name."""
    message = by.message.strip() + "\n"
    lines = [f"tree {snapshot.root.sha}", *(f"parent {parent}" for parent in parents)]
    lines.append(f"author {by.author.name} <{by.author.email}> {by.authored} +0000")
    lines.append(f"committer {by.committer.name} <{by.committer.email}> {by.committed} +0000")
    sha = object_name("commit", ("\n".join(lines) + "\n\n" + message).encode())
    return Commit(sha, snapshot, parents, by.author, by.committer, by.authored, by.committed, message)


@dataclass
class ObjectStore:
    """The objects of one repository."""

    blobs: dict[str, Blob] = field(default_factory=dict)
    trees: dict[str, Tree] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def add_content(self, path: str, content: FileContent) -> Entry:
        """Store ``content`` and return its entry at ``path``."""
        name = path.rpartition("/")[2]
        if isinstance(content, Submodule):
            return Entry(name, SUBMODULE, content.commit)
        raw = content.target if isinstance(content, Symlink) else content
        blob = Blob.of(raw.encode() if isinstance(raw, str) else raw)
        self.blobs[blob.sha] = blob
        return Entry(name, SYMLINK if isinstance(content, Symlink) else FILE, blob.sha, len(blob.data))

    def add_commit(self, commit: Commit) -> None:
        for tree in commit.snapshot.trees.values():
            self.trees[tree.sha] = tree
        self.commits[commit.sha] = commit

    def copy(self) -> ObjectStore:
        return ObjectStore(dict(self.blobs), dict(self.trees), dict(self.commits))

    def history(self, tip: Commit) -> Iterator[Commit]:
        """``tip`` and its first parents, newest first."""
        commit: Commit | None = tip
        while commit is not None:
            yield commit
            commit = self.commits[commit.parents[0]] if commit.parents else None

    def touching(self, tip: Commit, path: str) -> Iterator[Commit]:
        """The commits of ``tip``'s history that changed ``path`` (a file or a folder), newest first."""
        for commit in self.history(tip):
            before = self.commits[commit.parents[0]].snapshot.entry(path) if commit.parents else None
            if commit.snapshot.entry(path) != before:
                yield commit

    def walk(self, tree: Tree, prefix: str = "") -> Iterator[tuple[str, Entry]]:
        """Every entry below ``tree`` with its path, each folder before what it holds."""
        for entry in tree.entries:
            path = prefix + entry.name
            yield path, entry
            if entry.mode == TREE:
                yield from self.walk(self.trees[entry.sha], path + "/")
