"""The store on SQLite: one cache file, opened when first used.

Each method is one transaction of the function that it names; see ``cache.interface`` for what they promise,
``cache.database`` for how they run, and ``cache.schema`` for the tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

from cache import bodies, export, pages, projects, recovery, runs, schema, snapshots
from cache.bodies import body_rows
from cache.connect import failures
from cache.database import Database
from cache.errors import SyncRunning
from cache.interface import CacheInfo, Claim, Engine, Matches, Mine, Resolution, RunSummary, StoreNotice
from cache.journal import Journal
from cache.lease import Held, exclusive
from cache.model import (
    FiledTask,
    Known,
    Page,
    PageFacts,
    Project,
    ProjectKey,
    ProjectState,
    Snapshot,
    TextFile,
    WikiWrite,
)
from cache.projects import Place
from cache.schema import Connection
from cache.search import index
from cache.search.query import Query
from cache.snapshots import Times

BUSY_TIMEOUT = 10.0  # seconds that a write waits for the writes of others


class SqliteStore:
    """A :class:`cache.interface.Store` in the file at ``path``; the file and its folder are created when missing.

    ``clock`` gives seconds since the UTC epoch. ``on_notice`` hears what the store did by itself, in whichever thread
    that happens. ``busy_timeout`` is in seconds. Call :meth:`close` when done.
    """

    engine: ClassVar[Engine] = Engine("SQLite", schema.SQLITE_VERSION, schema.OLDEST_SQLITE)

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        on_notice: Callable[[StoreNotice], None],
        busy_timeout: float = BUSY_TIMEOUT,
    ) -> None:
        self._database = Database(path, clock=clock, on_notice=on_notice, busy_timeout=busy_timeout)
        self._journal = Journal(self._database, clock)
        self._clock = clock

    def close(self) -> None:
        self._database.close()
        self._journal.close()

    # Reading

    def resolve(self, word: str, *, forge: str | None = None) -> Resolution:
        (only,) = self.resolve_each([(word, forge)])
        return only

    def resolve_each(self, words: Sequence[tuple[str, str | None]]) -> Sequence[Resolution]:
        return self._database.read(projects.resolve_each, words)

    def project(self, key: ProjectKey) -> Project | None:
        return self._database.read(projects.one_project, key)

    def projects(self, *, query: str | None = None, limit: int, after: str | None = None) -> Sequence[Project]:
        place = None if after is None else projects.place_at(after)
        return self._database.read(projects.page_of_projects, query=query, limit=limit, after=place)

    def cursor(self, project: Project) -> str:
        return projects.cursor_of(projects.place_of(project))

    def pages(self, key: ProjectKey) -> tuple[Page, ...]:
        return self._database.read(pages.all_pages, key)

    def page(self, key: ProjectKey, slug: str) -> Page | None:
        return self._database.read(pages.one_page, key, slug)

    def status(self, key: ProjectKey) -> TextFile | None:
        return self._database.read(pages.text_file, key, "status")

    def index(self, key: ProjectKey) -> TextFile | None:
        return self._database.read(pages.text_file, key, "index")

    def bodies(self, key: ProjectKey, shas: Collection[str], *, longest: int | None = None) -> Mapping[str, str]:
        return self._database.read(bodies.bodies_of, key, shas, longest)

    def lacking(self, shas: Collection[str]) -> frozenset[str]:
        return self._database.read(bodies.lacking, shas)

    def facts(self, shas: Collection[str]) -> Mapping[str, PageFacts]:
        return self._database.read(bodies.facts, shas)

    def match(
        self, keys: Sequence[ProjectKey], query: Query, *, types: frozenset[str] | None, limit: int | None = None
    ) -> Mapping[ProjectKey, Matches]:
        return self._database.read(index.match, keys, query, types, limit)

    def projects_knowing(self, query: Query, *, limit: int) -> Sequence[Project]:
        return self._database.read(_projects_knowing, query, limit)

    def known(self, forge: str) -> Mapping[int, Known]:
        return self._database.read(projects.known, forge)

    def info(self) -> CacheInfo:
        return self._database.read(_info, self._database.path)

    def export(self) -> Iterator[Mapping[str, object]]:
        after: Place | None = None
        while True:
            entries, after = self._database.read(export.batch, after)
            if after is None:
                return
            yield from entries

    def check(self) -> Sequence[str]:
        return self._database.write(schema.problems)

    # Writing

    @contextmanager
    def lease(self) -> Iterator[None]:
        path = self._database.path
        with ExitStack() as stack:
            try:
                with failures():
                    recovery.make_folder(path.parent)
                    stack.enter_context(exclusive(path.with_name(path.name + ".lease")))
            except Held:
                raise SyncRunning("another sync holds the cache") from None
            yield

    def commit(self, snapshot: Snapshot, *, listed_at: float) -> bool:
        rows = body_rows(snapshot.bodies) if snapshot.mirrored else []
        return self._database.write(snapshots.commit, snapshot, rows, self._times(listed_at))

    def record_failure(self, snapshot_of: Snapshot, failure: str, *, denied: bool, listed_at: float) -> None:
        state = ProjectState.DENIED if denied else ProjectState.FAILED
        self._database.write(snapshots.record_failure, snapshot_of, failure, state, self._times(listed_at))

    def rename(self, key: ProjectKey, name: str, url: str | None) -> None:
        self._database.write(snapshots.rename, key, name, url)

    def prune(self, forge: str, keep: Collection[int], *, hidden: Sequence[str] = (), listed_at: float) -> int:
        return self._database.write(snapshots.prune, forge, keep, hidden, self._times(listed_at))

    def retain_forges(self, names: Collection[str]) -> int:
        return self._database.write(snapshots.retain_forges, names)

    def remember(
        self, key: ProjectKey, pages: Iterable[Page], bodies: Mapping[str, str], facts: Mapping[str, PageFacts]
    ) -> None:
        project = self.project(key)
        rows = body_rows(bodies) if project is not None and project.mirrored else []
        self._database.write(snapshots.remember, key, tuple(pages), rows, facts)

    def note_write(self, write: WikiWrite) -> bool:
        project = self.project(write.key)
        rows = body_rows(write.bodies) if project is not None and project.mirrored else []
        return self._database.write(snapshots.note_write, write, rows, now=self._clock())

    def mark_stale(self, key: ProjectKey) -> None:
        self._database.write(snapshots.mark_stale, key, now=self._clock())

    def start_run(self, forge: str, at: float) -> int:
        return self._database.write(runs.start, forge, at)

    def finish_run(self, run: int, summary: RunSummary) -> None:
        self._database.write(runs.finish, run, summary)

    def clear(self) -> None:
        self._database.write(snapshots.clear)
        self._database.shrink()

    # The task journal

    def claim_task(self, key: ProjectKey, digest: str) -> Claim:
        return self._journal.claim(key, digest)

    def note_sending(self, claim: Mine) -> None:
        self._journal.note_sending(claim)

    def settle_task(self, claim: Mine, task: FiledTask) -> None:
        self._journal.settle(claim, task)

    def release_task(self, claim: Mine, *, refused: bool = False) -> None:
        self._journal.release(claim, refused=refused)

    def _times(self, listed_at: float) -> Times:
        return Times(listed_at, self._clock())


def _projects_knowing(connection: Connection, query: Query, limit: int) -> list[Project]:
    found = (projects.one_project(connection, key) for key in index.projects_knowing(connection, query, limit))
    return [project for project in found if project is not None]


def _info(connection: Connection, path: Path) -> CacheInfo:
    def count(table: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608

    return CacheInfo(
        path=str(path),
        bytes=recovery.size(path),
        schema=schema.VERSION,
        projects=count("project"),
        pages=count("page"),
        bodies=count("body"),
        runs=runs.latest(connection),
        broken_links=projects.broken_links(connection),
    )
