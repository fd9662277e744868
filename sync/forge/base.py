"""The interface between a forge and everything that reads from one.

A forge answers in git's terms (commits, trees, blobs) and decides nothing about wikis. Every failure of an
implementation leaves it as one of ``cache.errors``:

* ``NotFound``: the repository does not exist or the caller may not see it;
* ``Denied``: credentials or permissions refused;
* ``Unavailable``: the forge, or this repository on it, cannot be read now (the message says why);
* ``TimedOut``: the forge did not answer in time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from cache.model import Listed, RepoRef, TreeEntry

WIKI = ".wiki/"
INVISIBLE = "not found or not visible to this token"  # what is kept, and told, of a project that is gone
SETTLE = 3.0  # seconds: a change this young may be followed by another that a forge's time-stamp does not tell from it


@dataclass(frozen=True, slots=True)
class ListingPage:
    """Some repositories of a forge. ``total`` is a hint for a progress bar, never a bound. ``hidden`` are name
    prefixes below which the listing could not look: what the cache knows there is neither confirmed nor gone."""

    projects: tuple[Listed, ...]
    total: int | None = None
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The tip of the default branch: its ``commit`` and the git name of its ``.wiki`` subtree (``None``: no such
    folder). ``commit`` is the ``ref`` of all reads that belong to the same snapshot. ``uncommitted``: the working
    tree differs from the commit in what a sync reads; ``wiki_tree`` then is a digest that covers the difference.
    ``names`` are the names in the root folder, where they were learned on the way: what is not among them need not be
    asked for."""

    commit: str
    wiki_tree: str | None
    uncommitted: bool = False
    names: frozenset[str] | None = None

    def may_hold(self, path: str) -> bool:
        """Whether there can be a file at ``path``, from the repository's root."""
        return self.names is None or path.partition("/")[0] in self.names


@dataclass(frozen=True, slots=True)
class File:
    """A file's whole content with its blob sha."""

    path: str
    sha: str
    data: bytes
    uncommitted: bool = False


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such path."""

    path: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The path exists but is no file: ``reason`` is ``"a symbolic link"``, ``"a directory"`` or ``"a submodule"``."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class TooBig:
    """The file has more than ``limit`` bytes, as many as were asked for at most."""

    path: str
    limit: int


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The file still is the blob ``sha`` that the caller has."""

    path: str
    sha: str


Answer = File | Absent | Refused | TooBig


class Forge(Protocol):
    """One configured forge. Implementations never block the event loop and bound their own concurrency."""

    @property
    def name(self) -> str:
        """Its name in the configuration, the ``forge`` of every key."""

    @property
    def host(self) -> str:
        """What an error calls it."""

    def listing(self) -> AsyncIterator[ListingPage]:
        """All repositories, in pages. It ends without an error only when it is complete but for ``hidden``."""

    async def find(self, name: str) -> Listed:
        """One repository by its full name, as the listing would show it now (a renamed one under its new name).

        Raises ``NotFound`` when it does not exist or is not visible."""

    async def head(self, repo: RepoRef) -> Head | None:
        """The tip of the default branch, or ``None`` for a repository without commits."""

    async def wiki_tree(self, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
        """Every blob and symbolic link below ``.wiki/``, sorted by path (by code point)."""

    async def read(
        self, repo: RepoRef, paths: Sequence[str], *, ref: str | None = None, limit: int
    ) -> tuple[Answer, ...]:
        """The files at ``paths`` (from the repository's root), in that order, each of at most ``limit`` bytes, at
        ``ref`` (a commit) or as they are now. A missing file is an answer, not an error."""

    async def revalidate(self, repo: RepoRef, path: str, sha: str, *, limit: int) -> Answer | Unchanged:
        """The file at ``path`` as it is now, or that it still is the blob ``sha`` that the caller has."""

    async def aclose(self) -> None:
        """Let go of connections and open files."""
