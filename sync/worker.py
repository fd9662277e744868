"""The sync of one forge: list, plan, look, commit. A thin driver; ``plan`` decides and ``look`` reads.

Every project is one transaction, so a run that was interrupted continues where it stopped. A failure is its
project's own: it is kept with its reason and the run goes on. Only a store that cannot be written ends it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread

from cache.errors import Denied, KnowledgeError, NotFound, StoreFailure
from cache.interface import RunSummary, Store
from cache.model import Known, Listed, Project, ProjectState, Snapshot
from sync.forge.base import INVISIBLE, Forge
from sync.look import Looker
from sync.plan import Plan, SyncSettings, plan

LOOKS_AT_ONCE = 16  # projects: twice what a forge is asked at once, so that it is asked while others are written down

logger = logging.getLogger(__name__)


class Progress(Protocol):
    """Who watches a sync. Called from the event loop; must not block."""

    def listed(self, count: int, total: int | None) -> None:
        """So many repositories were listed, of about ``total``."""

    def planned(self, looks: int, unchanged: int) -> None:
        """So many projects will be looked at, and so many need not be."""

    def looked(self, name: str, failure: str | None) -> None:
        """One project is done; ``failure`` says why it failed."""


class Quiet:
    """Nobody watches."""

    def listed(self, count: int, total: int | None) -> None: ...
    def planned(self, looks: int, unchanged: int) -> None: ...
    def looked(self, name: str, failure: str | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a project could not be looked at."""

    project: str
    reason: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """How one forge's sync ended. ``changed`` counts projects looked at with success, ``removed`` those purged,
    ``no_wiki`` those of the changed that have none. ``listing_error`` says why the forge could not be listed to the
    end: what it did list was looked at, and nothing was purged. ``hidden`` are names that could not be looked below."""

    forge: str
    seconds: float
    listed: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    removed: int = 0
    renamed: int = 0
    no_wiki: int = 0
    listing_error: str | None = None
    hidden: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return self.listing_error is None and not self.failed


@dataclass(slots=True)
class _Listing:
    projects: list[Listed] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    error: str | None = None


@dataclass(slots=True)
class _Tally:
    changed: int = 0
    no_wiki: int = 0
    failed: list[Failure] = field(default_factory=list)
    fatal: StoreFailure | None = None


async def sync_forge(
    forge: Forge,
    store: Store,
    settings: SyncSettings,
    *,
    clock: Callable[[], float],
    progress: Progress | None = None,
) -> SyncReport:
    """Bring what changed on ``forge`` into ``store``. The caller holds ``store.lease()``.

    ``clock`` gives seconds since the UTC epoch. Raises ``StoreFailure`` when the cache cannot be written.
    """
    watcher = progress or Quiet()
    started = clock()
    run = await anyio.to_thread.run_sync(store.start_run, forge.name, started)
    known = await anyio.to_thread.run_sync(store.known, forge.name)
    listing = await _list(forge, watcher)
    decided = plan(listing.projects, known, settings)
    removed = 0
    if listing.error is None:
        removed = await anyio.to_thread.run_sync(lambda: _prune(store, forge.name, decided, listing, started))
    for rename in decided.renames:
        await anyio.to_thread.run_sync(store.rename, rename.key, rename.name, rename.url)
    watcher.planned(len(decided.looks), decided.unchanged)
    fleet = _Fleet(Looker(forge, store, settings), known, started, clock, watcher)
    tally = await fleet.look_at(decided.looks)
    finished = clock()
    report = SyncReport(
        forge.name,
        finished - started,
        listed=len(decided.keep),
        changed=tally.changed,
        unchanged=decided.unchanged,
        failed=tuple(sorted(tally.failed, key=lambda failure: failure.project)),
        removed=removed,
        renamed=len(decided.renames),
        no_wiki=tally.no_wiki,
        listing_error=listing.error,
        hidden=tuple(listing.hidden),
    )
    await anyio.to_thread.run_sync(store.finish_run, run, _summary(report, started, finished))
    return report


async def refresh(forge: Forge, store: Store, settings: SyncSettings, project: Project, *, now: float) -> Project:
    """Look at one project now, whatever its stamp says, and return it as it is known then.

    Needs no lease. Raises the errors of :class:`sync.forge.base.Forge`; a failed look is noted in the cache first.
    """
    try:
        listed = await forge.find(project.name)
        # By what the forge says: the name may be another repository's by now.
        known = (await anyio.to_thread.run_sync(store.known, forge.name)).get(listed.repo.key.id)
        await _look_and_commit(Looker(forge, store, settings), listed, known, now=now, listed_at=now)
    except StoreFailure:
        raise
    except KnowledgeError as error:
        listed = Listed(project.repo, "", project.updated_at, project.url, project.archived, project.fork)
        await _note_failure(Looker(forge, store, settings), listed, error, now=now, listed_at=now)
        raise
    return await anyio.to_thread.run_sync(store.project, listed.repo.key) or project


async def _list(forge: Forge, watcher: Progress) -> _Listing:
    listing = _Listing()
    try:
        async for page in forge.listing():
            listing.projects.extend(page.projects)
            listing.hidden.extend(page.hidden)
            watcher.listed(len(listing.projects), page.total)
    except KnowledgeError as error:
        listing.error = error.message
    return listing


def _prune(store: Store, forge: str, decided: Plan, listing: _Listing, listed_at: float) -> int:
    return store.prune(forge, decided.keep, hidden=listing.hidden, listed_at=listed_at)


@dataclass(frozen=True, slots=True)
class _Fleet:
    """Looks at many projects side by side."""

    looker: Looker
    known: Mapping[int, Known]
    listed_at: float
    clock: Callable[[], float]
    watcher: Progress

    async def look_at(self, looks: tuple[Listed, ...]) -> _Tally:
        tally = _Tally()
        todo = iter(looks)
        async with anyio.create_task_group() as group:

            async def work() -> None:
                for listed in todo:
                    try:
                        await self._look_at_one(listed, tally)
                    except StoreFailure as failure:
                        tally.fatal = failure
                        group.cancel_scope.cancel()

            for _ in range(min(LOOKS_AT_ONCE, len(looks))):
                group.start_soon(work)
        if tally.fatal is not None:
            raise tally.fatal
        return tally

    async def _look_at_one(self, listed: Listed, tally: _Tally) -> None:
        now = self.clock()
        try:
            known = self.known.get(listed.repo.key.id)
            state = await _look_and_commit(self.looker, listed, known, now=now, listed_at=self.listed_at)
        except StoreFailure:
            raise
        except Exception as error:  # a fault of one project, ours included, must not stop the others
            reason = await _note_failure(self.looker, listed, error, now=now, listed_at=self.listed_at)
            tally.failed.append(Failure(listed.repo.name, reason))
            self.watcher.looked(listed.repo.name, reason)
            return
        tally.changed += 1
        tally.no_wiki += state is ProjectState.NO_WIKI
        self.watcher.looked(listed.repo.name, None)


async def _look_and_commit(
    looker: Looker, listed: Listed, known: Known | None, *, now: float, listed_at: float
) -> ProjectState:
    """Look at one project and bring what is found into the cache, as far as nobody looked at it after ``listed_at``."""
    state = ProjectState.FAILED
    async with aclosing(looker.look(listed, known, now=now)) as snapshots:
        async for snapshot in snapshots:
            state = snapshot.state
            if not await anyio.to_thread.run_sync(partial(looker.store.commit, snapshot, listed_at=listed_at)):
                break
            listed_at = snapshot.looked_at
    return state


def _reason(error: Exception) -> str:
    if isinstance(error, NotFound):  # each forge says it in its own words, to whoever asked for just this project
        return INVISIBLE
    if isinstance(error, KnowledgeError):
        return error.message
    logger.error("internal error while looking at a project", exc_info=error)
    return f"internal error ({type(error).__name__}), see the log"


async def _note_failure(looker: Looker, listed: Listed, error: Exception, *, now: float, listed_at: float) -> str:
    """Keep in the cache that the look of ``now`` failed, and return why."""
    reason = _reason(error)
    failed = Snapshot(listed, ProjectState.FAILED, now, looker.settings.fingerprint(listed.repo.name))
    note = partial(looker.store.record_failure, failed, reason, denied=isinstance(error, Denied), listed_at=listed_at)
    await anyio.to_thread.run_sync(note)
    return reason


def _summary(report: SyncReport, started: float, finished: float) -> RunSummary:
    return RunSummary(
        report.forge,
        started,
        finished,
        listed=report.listed,
        changed=report.changed,
        failed=len(report.failed),
        removed=report.removed,
        complete=report.complete,
    )
