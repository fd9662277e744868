"""The interface between a forge and everything that writes to one; its other half is :mod:`sync.forge.base`.

A write is decided on what was read: each change names the blob that it replaces, and a forge that holds another one
by now refuses. Every failure of an implementation leaves it as one of ``cache.errors``, those here among them:

* ``Moved``: a file is not what the caller read, or (``BranchExists``) the new branch is there already;
* ``Protected``: the default branch takes no direct commit, though another branch would;
* ``Denied``: credentials, permissions or the state of the repository (archived, read-only) refuse;
* ``NotFound``: the repository does not exist or the caller may not see it;
* ``Unsettled``: the request was sent and no answer came, so that nobody knows whether it was carried out;
* ``Unavailable``, ``TimedOut``: nothing was sent, or the forge said that it did not carry it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cache.errors import Conflict, Denied, Unavailable
from cache.model import RepoRef
from sync.forge.base import Forge


class Moved(Conflict):
    """``paths`` are not what the caller read: changed, created or gone since. Nothing was written."""

    def __init__(self, paths: tuple[str, ...], message: str = "") -> None:
        super().__init__(message or f"changed meanwhile: {', '.join(paths)}")
        self.paths = paths


class BranchExists(Moved):
    """There is a branch called ``branch`` already, so that it cannot be the new one. Nothing was written."""

    def __init__(self, branch: str) -> None:
        super().__init__((), f"branch {branch} exists already")
        self.branch = branch


class Protected(Denied):
    """The default branch takes no direct commit of this caller, who may push other branches. Nothing was written."""


class Unsettled(Unavailable):
    """The request was sent and its answer was lost: what it asked for may have been done or not."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file's whole new content at ``path`` (from the repository's root), over the blob ``sha`` that was read;
    ``None``: there must be no such file."""

    path: str
    data: bytes
    sha: str | None


@dataclass(frozen=True, slots=True)
class Edit:
    """Changes that are written together or not at all, in one commit with ``message``.

    ``branch`` is where they were read and go to (``None``: the default branch). With ``new_branch`` they go to a
    branch of that name instead, which is made from ``branch``; ``BranchExists`` says that there is one."""

    message: str
    changes: tuple[Change, ...]
    branch: str | None = None
    new_branch: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What an edit made: its ``commit`` (``None``: only a working tree was written) and each path's blob sha now."""

    commit: str | None
    shas: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LastChange:
    """The newest commit that touched a path: whose, and when (seconds since the UTC epoch). ``uncommitted``: a working
    tree has another content since ``at``; nobody knows whose, and ``commit`` and ``author`` are empty."""

    commit: str
    author: str
    at: float
    uncommitted: bool = False


@dataclass(frozen=True, slots=True)
class PullRequest:
    """An open proposal to merge ``branch`` into the default branch."""

    number: int
    url: str
    branch: str


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as the forge has it. ``at`` is when it was filed, in seconds since the UTC epoch; ``labels`` are the
    names of those that it bears."""

    number: int
    url: str
    title: str
    body: str
    at: float
    labels: tuple[str, ...] = ()


class Writer(Protocol):
    """A forge that can be written to. Requests that write are sent once, never again by themselves.

    A caller that gives up a call that writes (its deadline passes, it is cancelled) knows as little as after
    ``Unsettled``: what was sent cannot be called back."""

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        """Carry out ``edit``, whole or not at all. In a repository without commits it makes the first one."""

    async def rehearse(self, repo: RepoRef, edit: Edit) -> None:
        """Raise what :meth:`write` would raise, as far as that can be told without writing."""

    async def branch_head(self, repo: RepoRef, branch: str) -> str | None:
        """The commit at the tip of ``branch``, for reading what is there; ``None``: there is no such branch."""

    async def last_change(self, repo: RepoRef, path: str, *, branch: str | None = None) -> LastChange | None:
        """Who changed ``path`` last on ``branch`` (``None``: the default one); ``None``: nobody ever did."""

    async def open_pull(self, repo: RepoRef, branch: str) -> PullRequest | None:
        """The open pull request from ``branch`` into the default branch."""

    async def propose(self, repo: RepoRef, branch: str, *, title: str, body: str) -> PullRequest:
        """Open a pull request from ``branch`` into the default branch, or find the one that is open."""

    async def labels(self, repo: RepoRef) -> Mapping[str, int]:
        """The labels that issues of this repository can have, the organization's among them: name and id."""

    async def demand_issues(self, repo: RepoRef) -> None:
        """Raise what :meth:`file_issue` would raise, as far as that can be told without filing one."""

    async def file_issue(self, repo: RepoRef, *, title: str, body: str, labels: Sequence[int]) -> Issue:
        """File an issue. ``Denied`` says by its message where issues are disabled."""

    async def recent_issues(self, repo: RepoRef, *, since: float) -> Sequence[Issue]:
        """Issues, open and closed, that changed at or after ``since``, newest first; an empty list where issues are
        disabled."""


class WritableForge(Forge, Writer, Protocol):
    """A forge with both halves."""
