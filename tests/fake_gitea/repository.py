"""A repository in memory: git objects, branches, who may do what, labels, issues and pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from tests.fake_gitea.objects import Authorship, Commit, Entry, Identity, ObjectStore, Snapshot, make_commit
from tests.fake_gitea.state import Access, Account, Issue, Label, Protection, Pull
from tests.support.git_files import FileContent

if TYPE_CHECKING:
    from tests.fake_gitea.forge import FakeGitea

EMPTY_SIZE = 24  # KiB, as the forge counts an empty repository


@dataclass
class Repo:
    """One repository. ``parent`` is what it was forked from; ``size`` is in KiB."""

    forge: FakeGitea
    id: int
    owner: Account
    name: str
    created: datetime
    updated: datetime
    private: bool = False
    default_branch: str = "main"
    parent: Repo | None = None
    archived: datetime | None = None
    has_issues: bool = True
    forks: int = 0
    size: int = EMPTY_SIZE
    language: str = ""
    branches: dict[str, str] = field(default_factory=dict)
    objects: ObjectStore = field(default_factory=ObjectStore)
    collaborators: dict[str, Access] = field(default_factory=dict)
    protections: dict[str, Protection] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    issues: dict[int, Issue] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    @property
    def empty(self) -> bool:
        return not self.branches

    @property
    def archived_now(self) -> bool:
        return self.archived is not None

    def tip(self, branch: str | None = None) -> Commit | None:
        """The newest commit of ``branch`` (the default one)."""
        sha = self.branches.get(branch or self.default_branch)
        return None if sha is None else self.objects.commits[sha]

    def resolve(self, ref: str) -> Commit | None:
        """The commit that ``ref`` names: a branch, ``HEAD``, or a commit by its name or its first seven digits."""
        if ref == "HEAD" or ref in self.branches:
            return self.tip(None if ref == "HEAD" else ref)
        if ref in self.objects.commits or len(ref) < 7:
            return self.objects.commits.get(ref)
        return next((commit for sha, commit in self.objects.commits.items() if sha.startswith(ref)), None)

    def read(self, path: str, branch: str | None = None) -> bytes | None:
        """A file's content at the tip of ``branch``, for tests to look at what was written."""
        tip = self.tip(branch)
        entry = None if tip is None else tip.snapshot.files.get(path)
        return None if entry is None else self.objects.blobs[entry.sha].data

    def commit(
        self,
        files: Mapping[str, FileContent | None],
        *,
        branch: str | None = None,
        message: str = "Change some files",
        author: Identity | None = None,
        at: datetime | None = None,
    ) -> str:
        """Push a commit that changes ``files`` (``None`` removes one) and return its name.

        A new ``branch`` starts at the default one's tip. ``at`` is when the push happens, by default a second after
        the forge's last one. What makes no difference still is a commit.
        """
        with self.forge.lock:
            base = self.tip(branch) or self.tip()
            entries = {} if base is None else dict(base.snapshot.files)
            for path, content in files.items():
                entries.pop(path, None)
                if content is not None:
                    entries[path] = self.objects.add_content(path, content)
            return self.push(branch or self.default_branch, base, entries, self.forge.by(author, message, at), at).sha

    def push(
        self,
        branch: str,
        base: Commit | None,
        entries: Mapping[str, Entry],
        by: Authorship,
        at: datetime | None = None,
    ) -> Commit:
        """Put a commit of ``entries`` on top of ``base`` and make it the tip of ``branch``."""
        commit = make_commit(Snapshot(entries), () if base is None else (base.sha,), by)
        self.objects.add_commit(commit)
        if self.empty:
            self.default_branch = branch
        self.branches[branch] = commit.sha
        self.updated = at or self.forge.clock.advance(1)
        self.size = EMPTY_SIZE + sum(entry.size for entry in entries.values()) // 1024
        self.language = "Markdown" if any(path.endswith(".md") for path in entries) else ""
        return commit

    def rename(self, full_name: str) -> None:
        """Rename or transfer it; the old name redirects from now on."""
        self.forge.rename(self.full_name, full_name)

    def archive(self) -> None:
        self.archived = self.updated = self.forge.clock.advance(1)

    def protect(self, branch: str | None = None, pushers: Iterable[str] = ()) -> None:
        """Protect ``branch`` (the default one): only ``pushers`` may push."""
        self.protections[branch or self.default_branch] = Protection(frozenset(login.lower() for login in pushers))

    def may_push(self, account: Account, branch: str) -> bool:
        """Whether branch protection lets ``account`` push to ``branch``."""
        protection = self.protections.get(branch)
        return protection is None or account.key in protection.pushers

    def share(self, login: str, access: Access = Access.WRITE) -> None:
        """Make ``login`` a collaborator; ``Access.NONE`` ends it."""
        if access is Access.NONE:
            self.collaborators.pop(login.lower(), None)
        else:
            self.collaborators[login.lower()] = access

    def add_label(self, name: str, color: str = "00aabb") -> Label:
        label = Label(self.forge.ids.take("label"), name, color)
        self.labels.append(label)
        return label

    def add_issue(
        self,
        title: str,
        body: str = "",
        *,
        poster: str | None = None,
        labels: Iterable[Label] = (),
        pull: Pull | None = None,
    ) -> Issue:
        """File an issue, by its owner unless ``poster`` says who."""
        with self.forge.lock:
            now = self.forge.clock.advance(1)
            number = max(self.issues, default=0) + 1
            by = self.owner if poster is None else self.forge.account(poster)
            issue = Issue(self.forge.ids.take("issue"), number, by, title, body, now, now, list(labels), pull=pull)
            self.issues[number] = issue
            return issue

    def open_pulls(self) -> list[tuple[Issue, Pull]]:
        """Open pull requests, the newest first."""
        newest = sorted(self.issues.values(), key=lambda issue: -issue.number)
        return [(issue, issue.pull) for issue in newest if issue.pull is not None and issue.closed is None]

    def merge(self, number: int) -> None:
        """Merge a pull request: what its branch changed since it was opened is committed to its base."""
        issue = self.issues[number]
        pull = issue.pull
        head = self.tip(pull.head) if pull is not None else None
        base = self.tip(pull.base) if pull is not None else None
        if pull is None or head is None or base is None:
            raise ValueError(f"{self.full_name}#{number} is no pull request that can be merged")
        with self.forge.lock:
            before, after = self.objects.commits[pull.base_sha].snapshot.files, head.snapshot.files
            entries = dict(base.snapshot.files)
            for path in {path for path in {*before, *after} if before.get(path) != after.get(path)}:
                entries.pop(path, None)
                if path in after:
                    entries[path] = after[path]
            by = self.forge.by(None, f"Merge pull request '{issue.title}' (#{number})")
            self.push(pull.base, base, entries, by)
            pull.merged = True
            issue.closed = issue.updated = self.updated
