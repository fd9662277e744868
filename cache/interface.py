"""What the gateway and the sync worker ask of a store, in the words of the field; no database shows through.

All methods block (briefly) and may be called from any thread; asynchronous callers go through
``anyio.to_thread``. A write is one short transaction: it is there whole or not at all. Every method raises
:class:`cache.errors.StoreFailure` (one line with the remedy) when the store cannot be used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, overload

from cache.model import FiledTask, Known, Page, PageFacts, Project, ProjectKey, Snapshot, TextFile, WikiWrite
from cache.search.query import Query


@dataclass(frozen=True, slots=True)
class Match:
    """A page that answers a query. ``step`` is the rung of the ladder it stands on (1, the best, to 4); within one
    rung, higher ``score`` first (0 < score < 1), equal scores in the index's order."""

    page: Page
    step: int
    score: float


@dataclass(frozen=True, slots=True)
class Matches(Sequence[Match]):
    """A project's matches, best first: all of them, or the ``best`` that were asked for out of ``total``."""

    best: tuple[Match, ...] = ()
    total: int = 0

    def __len__(self) -> int:
        return len(self.best)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Match, ...]: ...
    def __getitem__(self, index: int | slice) -> Match | tuple[Match, ...]:
        return self.best[index]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How a sync run ended. Times in seconds since the UTC epoch; ``finished_at`` is ``None`` while it runs or when
    it was killed. ``complete``: the listing was, and no project failed."""

    forge: str
    started_at: float
    finished_at: float | None = None
    listed: int = 0
    changed: int = 0
    failed: int = 0
    removed: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Engine:
    """What a kind of store is kept by, and the ``oldest`` version of it that will do."""

    name: str
    version: tuple[int, int, int]
    oldest: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class BrokenLinks:
    """Links of a project's indexes that lead to no page: to files that are not there, or to several at once."""

    project: str
    dead: int
    ambiguous: int


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What ``gateway cache info`` shows. ``bytes`` is the size on disk with the write-ahead log; ``broken_links`` are
    of the projects that have the most of them."""

    path: str
    bytes: int
    schema: int
    projects: int
    pages: int
    bodies: int
    runs: tuple[RunSummary, ...] = ()
    broken_links: tuple[BrokenLinks, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a caller's word for a project means: exactly one project, several, or none with near names."""

    projects: tuple[Project, ...] = ()
    suggestions: tuple[str, ...] = ()


class ReadStore(Protocol):
    """The reading side."""

    def resolve(self, word: str, *, forge: str | None = None) -> Resolution:
        """Projects that ``word`` (``owner/name``, or the last part of a name) means, without case.

        A full name that fits outranks last parts that fit. No match: up to three near full names."""

    def resolve_each(self, words: Sequence[tuple[str, str | None]]) -> Sequence[Resolution]:
        """What each word means, with the forge that it is looked for at; ``None`` is any. As :meth:`resolve`, but only
        the first few words that mean nothing come with near names."""

    def project(self, key: ProjectKey) -> Project | None: ...

    def projects(self, *, query: str | None = None, limit: int, after: str | None = None) -> Sequence[Project]:
        """Projects sorted by case-folded name (then forge), those whose name contains ``query`` without case;
        ``after`` is the ``cursor`` (see :meth:`cursor`) of the last one already seen."""

    def cursor(self, project: Project) -> str:
        """An opaque place in the order of :meth:`projects`."""

    def pages(self, key: ProjectKey) -> tuple[Page, ...]:
        """All pages of a project, ordered by ``position``."""

    def page(self, key: ProjectKey, slug: str) -> Page | None: ...

    def status(self, key: ProjectKey) -> TextFile | None: ...

    def index(self, key: ProjectKey) -> TextFile | None: ...

    def bodies(self, key: ProjectKey, shas: Collection[str], *, longest: int | None = None) -> Mapping[str, str]:
        """The texts the cache holds of this project's blobs, exactly, by sha: of pages and of the index. ``longest``
        spares the memory for more than so many code points of each."""

    def lacking(self, shas: Collection[str]) -> frozenset[str]:
        """Those of ``shas`` whose bodies the cache holds for no project: what a mirror still has to fetch."""

    def facts(self, shas: Collection[str]) -> Mapping[str, PageFacts]: ...

    def match(
        self, keys: Sequence[ProjectKey], query: Query, *, types: frozenset[str] | None, limit: int | None = None
    ) -> Mapping[ProjectKey, Matches]:
        """Each project's matches, best first, by the ladder of the tool contract. ``types`` are canonical type names;
        ``None`` means all but ``raw``. ``limit`` spares reading more pages of each project than that; all are counted.
        What other projects hold changes no project's matches, order or scores."""

    def projects_knowing(self, query: Query, *, limit: int) -> Sequence[Project]:
        """Projects whose cached indexes know the query's words, best first."""

    def known(self, forge: str) -> Mapping[int, Known]:
        """What is known of each project of a forge, by its id."""

    def info(self) -> CacheInfo: ...

    def export(self) -> Iterator[Mapping[str, object]]:
        """Each project as ``gateway cache export`` prints it, one at a time."""

    def check(self) -> Sequence[str]:
        """What is wrong with the file, one line each; empty when all is well. Reads everything."""


class WriteStore(Protocol):
    """The writing side: the sync worker's, and the short writes of gateways."""

    def lease(self) -> AbstractContextManager[None]:
        """The right to run a full sync, held for the block; it dies with its process.

        Raises ``SyncRunning`` at once when another process (or another holder in this one) has it."""

    def commit(self, snapshot: Snapshot, *, listed_at: float) -> bool:
        """Make ``snapshot`` what is known of its project. ``False``, and nothing written, when the project was
        looked at after ``listed_at`` by somebody else (a refresh is never overwritten by an older listing). A look
        that lies in the future was made before the clock was set back, and counts as long ago."""

    def record_failure(self, snapshot_of: Snapshot, failure: str, *, denied: bool, listed_at: float) -> None:
        """Note that the look that ``snapshot_of`` describes (listing, time, settings) failed; old content stays."""

    def rename(self, key: ProjectKey, name: str, url: str | None) -> None:
        """The forge lists this project under another name now, and another address with it; everything else that is
        known of it stays."""

    def prune(self, forge: str, keep: Collection[int], *, hidden: Sequence[str] = (), listed_at: float) -> int:
        """Forget the projects of ``forge`` whose ids are not in ``keep``, with all that only they hold, except those
        whose names start with a prefix in ``hidden`` and those first looked at after ``listed_at``.

        Returns how many went."""

    def retain_forges(self, names: Collection[str]) -> int:
        """Forget projects of forges that are configured no longer. Returns how many went."""

    def remember(
        self, key: ProjectKey, pages: Iterable[Page], bodies: Mapping[str, str], facts: Mapping[str, PageFacts]
    ) -> None:
        """Note what a live read brought: new titles, types and shas of pages that are known, facts of bodies, and
        the bodies themselves where the project is mirrored."""

    def note_write(self, write: WikiWrite) -> bool:
        """Know at once what a write of ours made, as a sync would: pages, index, bodies, facts and revision. The next
        sync looks at the project all the same, and one that listed it before the write does not overwrite it.

        ``False`` when the project is not known, or was looked at or written since: what is known then is newer, and
        only bodies and facts are kept."""

    def mark_stale(self, key: ProjectKey) -> None:
        """Have the next sync look at this project whatever its stamp says."""

    def start_run(self, forge: str, at: float) -> int:
        """Note the start of a sync run; returns its id."""

    def finish_run(self, run: int, summary: RunSummary) -> None: ...

    def clear(self) -> None:
        """Forget all projects; the task journal stays."""


@dataclass(frozen=True, slots=True)
class Mine:
    """The right to file a text, held until it is settled or released, or this process ends.

    ``sent_at``: then an earlier attempt sent a request whose outcome is not known. Whoever holds the right now looks
    for its task first, and sends nothing as long as that request may still be on its way. ``number`` tells this holder
    from earlier ones in this process."""

    key: ProjectKey
    digest: str
    sent_at: float | None
    number: int


@dataclass(frozen=True, slots=True)
class Filed:
    """The text was filed less than ``SAME_TASK`` ago, as ``task``."""

    task: FiledTask


@dataclass(frozen=True, slots=True)
class Pending:
    """Somebody else who is alive has the right to file the text: ask again in a moment. ``sent_at`` is when they sent
    a request, ``None`` that they did not yet."""

    sent_at: float | None


Claim: TypeAlias = Mine | Filed | Pending


class JournalStore(Protocol):
    """Which text was filed where, so that those who share a cache file one task for it between them.

    A text is known by its ``digest``. Only one holds the right to file it at a time: it is bound to its holder's life
    and not to a clock, so one that was suspended still has it when it wakes, and one that was killed has not.

    ``claim_task`` → ``note_sending`` → the request → ``settle_task``, or ``release_task`` where nothing came of it. A
    holder that ends in between leaves what it noted behind, and the next one is told.

    ``clear`` keeps the journal. A cache file that is damaged takes it along, and so does one that is removed: then only
    the marker in an issue tells that a text was filed before.
    """

    def claim_task(self, key: ProjectKey, digest: str) -> Claim:
        """Take the right to file a text for a project, or learn why not. Does not wait."""

    def note_sending(self, claim: Mine) -> None:
        """Note that a request goes out now. Unless this returns, it must not: what was sent could be forgotten."""

    def settle_task(self, claim: Mine, task: FiledTask) -> None:
        """Note as what the text was filed, by this holder or by whom it found, and give the right back. Where that
        cannot be noted, the right is given back all the same, and the next holder has to look for the task."""

    def release_task(self, claim: Mine, *, refused: bool = False) -> None:
        """Give the right back without a task. ``refused``: it is certain that what was sent was not carried out;
        otherwise a request that was noted stays noted. Giving back what one has no longer does nothing."""


class Store(ReadStore, WriteStore, JournalStore, Protocol):
    """All sides of one cache."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class StoreNotice:
    """Something the store did by itself that its owner should hear about, such as setting a damaged file aside."""

    message: str
    details: Mapping[str, str] = field(default_factory=dict)
