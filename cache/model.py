"""The shared vocabulary: projects, pages, revisions, snapshots. Plain frozen data, no behaviour beyond names.

Times are seconds since the UTC epoch (``float``); they become RFC 3339 text only where a person or a client
reads them. A *blob sha* is git's object name of a file's bytes, hexadecimal, 40 digits (64 in a sha256 repository).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MAX_INDEX = 1024 * 1024  # bytes of an index file that is read
MAX_STATUS = 1024 * 1024  # bytes of a STATUS file that is read
MAX_PAGE = 10 * 1024 * 1024  # bytes of a page that is read; a forge's own bound is the same
SAME_TASK = 24 * 3600.0  # seconds in which a text that is filed again is the first one's task


class ProjectState(StrEnum):
    """How the last look at a project ended (``projects.list`` shows these words)."""

    OK = "ok"
    NO_WIKI = "no wiki"
    EMPTY = "empty"
    DENIED = "denied"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, order=True)
class ProjectKey:
    """A project's identity, which a rename keeps: the forge's name in the configuration and the forge's numeric id."""

    forge: str
    id: int


@dataclass(frozen=True, slots=True)
class RepoRef:
    """What a forge needs to know to read from a repository. ``name`` is ``owner/name`` as the forge spells it."""

    key: ProjectKey
    name: str
    default_branch: str


@dataclass(frozen=True, slots=True)
class Listed:
    """One repository as a forge's listing shows it.

    ``stamp`` changes whenever anything but the name may have changed that a sync keeps; equal stamps mean unchanged,
    but an empty one, which tells nothing. ``updated_at`` is when the content last changed, as far as the forge tells.
    ``url`` is the page for people, ``None`` for a local repository.
    """

    repo: RepoRef
    stamp: str
    updated_at: float | None = None
    url: str | None = None
    archived: bool = False
    fork: bool = False
    empty: bool = False


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A blob below ``.wiki/``: its ``path`` without that prefix, git's ``mode`` (``0o120000`` is a symbolic link),
    blob sha and size in bytes. ``uncommitted``: the working tree's version, which HEAD does not have."""

    path: str
    mode: int
    sha: str
    size: int
    uncommitted: bool = False


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What only a page's body tells, all ``None`` where the body does not say: front matter ``title`` and ``type``,
    and the first level-1 heading."""

    title: str | None = None
    type: str | None = None
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown file below ``.wiki/`` as index, tree and (once known) body describe it.

    ``slug`` is its path below ``.wiki/`` without ``.md``; ``sha`` its blob sha (its *revision*); ``type`` and
    ``title`` follow the rules of the tool contract. ``link_title`` is the index's own text for it, kept because it
    outranks what a body read later says, and ``section`` the index heading it stands under. ``position`` orders the
    pages of a wiki: those the index lists in its order, then the rest by path.
    """

    slug: str
    sha: str
    size: int
    type: str
    title: str
    description: str = ""
    section: str = ""
    link_title: str | None = None
    listed: bool = False
    position: int = 0
    uncommitted: bool = False


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file at ``path`` (from the repository's root), with its blob sha."""

    path: str
    sha: str
    text: str
    uncommitted: bool = False


@dataclass(frozen=True, slots=True)
class Wiki:
    """A wiki as one snapshot shows it.

    ``index`` is the root index file, if there is one that can be read; ``problem`` says why one that exists cannot
    (``"NUL bytes"``, ``"not UTF-8"``, ``"conflict markers"``, ``"over 1 MiB"``). ``dead`` counts index links whose
    file does not exist and ``ambiguous`` bare wikilinks that fit several pages; neither is ever served.
    """

    pages: tuple[Page, ...] = ()
    index: TextFile | None = None
    problem: str | None = None
    dead: int = 0
    ambiguous: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that one look at a project brought, of one commit; it replaces what the cache knew of the project.

    ``looked_at`` is when the look began. ``settings`` is the fingerprint of the sync settings and the reader's
    version that it was read under. ``wiki_tree`` is the git name of the ``.wiki`` subtree (``None``: no such folder).
    ``wiki`` is ``None`` when that subtree is the one the cache already holds, so that its pages stay as they are.
    ``bodies`` maps blob shas to page texts that were fetched now, ``held`` are the blobs whose texts the cache held
    already, for whichever project; ``facts`` maps blob shas to what their bodies say. ``mirrored`` tells that bodies of
    this project's pages are kept, ``partial`` that more of them are still to be fetched.
    """

    listed: Listed
    state: ProjectState
    looked_at: float
    settings: str
    revision: str | None = None
    wiki_tree: str | None = None
    wiki: Wiki | None = None
    status: TextFile | None = None
    uncommitted: bool = False
    mirrored: bool = False
    bodies: Mapping[str, str] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    facts: Mapping[str, PageFacts] = field(default_factory=dict)
    partial: bool = False


@dataclass(frozen=True, slots=True)
class WikiWrite:
    """What a write of ours made of a project's wiki.

    ``written_at`` is when the forge answered that it was done, ``revision`` the commit that it made (``None``: only a
    working tree was written). ``wiki`` is the whole wiki since then, read of a tree and indexes that are no older than
    what the write replaced. ``bodies`` and ``facts`` are by blob sha, of the pages that were written at least.
    """

    key: ProjectKey
    written_at: float
    wiki: Wiki
    revision: str | None = None
    uncommitted: bool = False
    bodies: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, PageFacts] = field(default_factory=dict)


class TaskKind(StrEnum):
    """What a task was filed as."""

    ISSUE = "issue"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class FiledTask:
    """A task as it was filed: an issue with its ``number``, or a file at ``path`` (from the repository's root)."""

    kind: TaskKind
    filed_at: float
    number: int | None = None
    path: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What a sync must remember of a project to decide whether to look again.

    ``listed_name`` is its name at the last look, ``looked_at`` when that began, ``failed`` whether it went wrong.
    """

    key: ProjectKey
    listed_name: str
    stamp: str
    settings: str
    looked_at: float
    failed: bool
    wiki_tree: str | None


@dataclass(frozen=True, slots=True)
class Project:
    """A project as the cache knows it.

    ``failure`` says why the last look failed (state ``failed`` or ``denied``); what was known before stays.
    ``revision`` is the commit of the last good look, ``synced_at`` its time. ``pages`` counts pages.
    ``has_index`` and ``index_problem`` are :class:`Wiki`'s ``index`` and ``problem``.
    """

    repo: RepoRef
    state: ProjectState
    failure: str | None = None
    url: str | None = None
    archived: bool = False
    fork: bool = False
    revision: str | None = None
    wiki_tree: str | None = None
    updated_at: float | None = None
    synced_at: float | None = None
    looked_at: float | None = None
    has_status: bool = False
    has_index: bool = False
    index_problem: str | None = None
    pages: int = 0
    uncommitted: bool = False
    mirrored: bool = False

    @property
    def key(self) -> ProjectKey:
        return self.repo.key

    @property
    def name(self) -> str:
        return self.repo.name

    @property
    def has_wiki(self) -> bool:
        """Whether there is a page below ``.wiki/`` or an index, readable or not."""
        return self.pages > 0 or self.has_index or self.index_problem is not None
