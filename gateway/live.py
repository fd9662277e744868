"""Reading pages from their forge at the moment of the question, with the cache behind it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.to_thread

from cache.errors import KnowledgeError, NotConfigured, StoreFailure, TimedOut
from cache.interface import Store
from cache.model import MAX_PAGE, Page, PageFacts, Project
from cache.search.terms import MAX_SEARCHED
from gateway.pages import page_path
from gateway.recent import RecentBodies, Seen
from sync import page as page_text
from sync.forge.base import Absent, Answer, File, Forge, Refused, TooBig, Unchanged
from sync.wiki_index import describe

MAX_GLANCED = 1024 * 1024  # bytes of a page that is read for a snippet; a larger one is answered for by the cache
FREE = 128 * 1024  # bytes of pages that are read whatever else is being read
AT_ONCE = 16 * 1024  # bytes of text that are looked through in less time than it takes to hand them to a thread
LIGHT = 2 * 1024 * 1024  # bytes of pages
LIGHT_AT_ONCE = 16  # reads of no more than that
HEAVY_AT_ONCE = 2  # reads of more
LATE_AT_ONCE = 2  # reads of copies where there was no room in time

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LivePage:
    """A page as it was read, or a copy that was seen ``age_s`` seconds ago; ``stale``: since its forge could not be
    read. ``body`` is ``None`` where neither had it."""

    page: Page
    body: str | None
    stale: bool = False
    age_s: int | None = None


@dataclass(frozen=True, slots=True)
class LiveRead:
    """What reading some pages of a project brought, in the order asked. ``gone`` are pages that are no more.
    ``failure`` is why the forge could not be read, if it could not."""

    pages: tuple[LivePage, ...]
    gone: tuple[Page, ...] = ()
    failure: KnowledgeError | None = None


@dataclass(frozen=True, slots=True)
class LiveReader:
    """Reads within ``deadline`` seconds; what was seen at most ``max_age`` seconds ago is not asked for.

    A question has one deadline for all it reads: ``until``, by the event loop's clock, as :meth:`until` gives it."""

    store: Store
    forges: Mapping[str, Forge]
    clock: Callable[[], float]
    deadline: float
    max_age: float
    _recent: RecentBodies = field(default_factory=RecentBodies)
    _light: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(LIGHT_AT_ONCE))
    _heavy: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(HEAVY_AT_ONCE))
    _late: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(LATE_AT_ONCE))

    def until(self) -> float:
        """The deadline of a question that is put now."""
        return anyio.current_time() + self.deadline

    @asynccontextmanager
    async def room(self, pages: Iterable[Page], until: float) -> AsyncIterator[None]:
        """Room in memory for the bodies of ``pages``, for as long as they are needed: many calls, or a few for large
        ones, must not take all there is. Who gets none in time reads copies, for which there is a little more."""
        size = sum(page.size for page in pages)
        if size <= FREE:
            yield
            return
        places = self._light if size <= LIGHT else self._heavy
        with anyio.CancelScope(deadline=until) as waiting:
            await places.acquire()
        if waiting.cancelled_caught:
            places = self._late
            await places.acquire()
        try:
            yield
        finally:
            places.release()

    async def fetch(
        self, project: Project, paths: Sequence[str], until: float, *, limit: int = MAX_PAGE
    ) -> tuple[Answer, ...]:
        """The files at ``paths`` from the forge, each of at most ``limit`` bytes.

        Raises the errors of :class:`sync.forge.base.Forge`, and ``TimedOut`` past the deadline.
        """
        forge = self._forge(project)
        with self._before(until):
            return await forge.read(project.repo, paths, limit=limit)
        raise TimedOut(self.deadline)

    async def fetch_one(self, project: Project, path: str, sha: str | None, until: float) -> Answer | Unchanged:
        """The file at ``path`` from the forge, or that it still is the blob ``sha`` that the cache holds.

        Raises as :meth:`fetch`.
        """
        if sha is None:
            return (await self.fetch(project, [path], until))[0]
        forge = self._forge(project)
        with self._before(until):
            return await forge.revalidate(project.repo, path, sha, limit=MAX_PAGE)
        raise TimedOut(self.deadline)

    def _before(self, until: float) -> anyio.CancelScope:
        """What ends the block at the deadline. Raises ``TimedOut`` past it, since then nothing is to be sent."""
        if anyio.current_time() >= until:
            raise TimedOut(self.deadline)
        return anyio.CancelScope(deadline=until)

    def _forge(self, project: Project) -> Forge:
        forge = self.forges.get(project.key.forge)
        if forge is None:
            raise unconfigured(project.key.forge)
        return forge

    async def read(self, project: Project, pages: Sequence[Page], described: Container[str], until: float) -> LiveRead:
        """The bodies of ``pages``, or as much of them as is searched; a forge that fails is answered for by the cache,
        and so is a page that is too large to be read for its snippet alone. ``described`` are the blobs of which the
        cache holds what they say of themselves."""
        if not pages:
            return LiveRead(())
        young = await self._young(project, pages)
        rest = [page for page in pages if page.slug not in young]
        if not rest:
            return LiveRead(tuple(young[page.slug] for page in pages))
        read = await self._ask(project, rest, described, until)
        found = {live.page.slug: live for live in read.pages} | young
        return replace(read, pages=tuple(found[page.slug] for page in pages if page.slug in found))

    async def _ask(self, project: Project, pages: Sequence[Page], described: Container[str], until: float) -> LiveRead:
        try:
            answers = await self.fetch(project, [page_path(page.slug) for page in pages], until, limit=MAX_GLANCED)
        except StoreFailure:
            raise
        except KnowledgeError as error:
            return LiveRead(await self.cached(project, pages), failure=error)
        size = sum(len(answer.data) for answer in answers if isinstance(answer, File))
        read = await look_through(size, _sort, pages, answers, described)
        for live in read.pages:
            self.note(project, live)
        await self.remember(project, pages, read)
        unread = [live.page for live in read.pages if live.body is None]
        if not unread:
            return read
        spare = {live.page.slug: live for live in await self.cached(project, unread)}
        return replace(read, pages=tuple(spare.get(live.page.slug, live) for live in read.pages))

    def is_fresh(self, project: Project) -> bool:
        """Whether what the cache holds of ``project`` is young enough to be served without asking."""
        return (
            self.max_age > 0
            and project.mirrored
            and project.looked_at is not None
            and 0 <= self.clock() - project.looked_at <= self.max_age  # a look in the future is of a clock set back
        )

    def recent(self, project: Project, page: Page) -> LivePage | None:
        """The page as it was read a short while ago, if that was not too long ago."""
        now = self.clock()
        seen = self._recent.find(project.key, page, now=now, max_age=self.max_age)
        return None if seen is None else LivePage(seen.page, seen.body, age_s=round(now - seen.at))

    def note(self, project: Project, live: LivePage) -> None:
        """Keep a page that was read just now, for :meth:`recent`."""
        if live.body is not None:
            self._recent.note(project.key, Seen(live.page, live.body, self.clock()), max_age=self.max_age)

    async def _young(self, project: Project, pages: Sequence[Page]) -> dict[str, LivePage]:
        """Those of ``pages``, by slug, that need not be asked for."""
        young = {page.slug: live for page in pages if (live := self.recent(project, page)) is not None}
        if self.is_fresh(project):
            cached = await self.cached(project, [page for page in pages if page.slug not in young])
            young |= {live.page.slug: replace(live, stale=False) for live in cached if live.body is not None}
        return young

    def age(self, project: Project) -> int:
        """Seconds since the cache saw what it holds of ``project``."""
        return 0 if project.looked_at is None else max(0, round(self.clock() - project.looked_at))

    async def cached(self, project: Project, pages: Sequence[Page]) -> tuple[LivePage, ...]:
        """The same pages from the cache, as far as they are searched; without a copy there the body is ``None``."""
        shas = {page.sha for page in pages}
        bodies = await anyio.to_thread.run_sync(lambda: self.store.bodies(project.key, shas, longest=MAX_SEARCHED))
        age = self.age(project)
        return tuple(
            LivePage(page, bodies[page.sha], stale=True, age_s=age) if page.sha in bodies else LivePage(page, None)
            for page in pages
        )

    async def remember(self, project: Project, before: Sequence[Page], read: LiveRead) -> None:
        """Note in the cache what a read changed: nothing where it only confirmed. A cache that cannot be written
        does not keep the answer from the caller."""
        known = {page.slug: page for page in before}
        news = [live for live in read.pages if live.body is not None and live.page != known.get(live.page.slug)]
        try:
            if news:
                await anyio.to_thread.run_sync(_remember, self.store, project, news)
            if read.gone:
                await anyio.to_thread.run_sync(self.store.mark_stale, project.key)
        except StoreFailure as error:
            logger.warning("%s", error.message)


async def look_through(size: int, work: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
    """What ``work`` makes of texts of about ``size`` bytes: at once where they are short, else in a thread, since the
    event loop must not wait for it."""
    if size <= AT_ONCE:
        return work(*args)
    return await anyio.to_thread.run_sync(work, *args)


def unconfigured(forge: str) -> NotConfigured:
    """The error for a project whose forge has left the configuration."""
    return NotConfigured(f"forge {forge} is not configured any more — run gateway sync")


def _sort(pages: Sequence[Page], answers: Sequence[Answer], described: Container[str]) -> LiveRead:
    """Lay answers beside the pages they are for. What is a page no more (no such file, a symbolic link) is gone."""
    live: list[LivePage] = []
    gone: list[Page] = []
    for page, answer in zip(pages, answers, strict=True):
        match answer:
            case File():
                live.append(_live_page(page, answer, known=answer.sha in described))
            case TooBig():
                live.append(LivePage(page, None))
            case Absent() | Refused():
                gone.append(page)
    return LiveRead(tuple(live), tuple(gone))


def _live_page(page: Page, file: File, *, known: bool) -> LivePage:
    """A page with the body just read; no body where it is no text."""
    try:
        body = page_text.decode(file.data, file.path)
    except KnowledgeError:
        return LivePage(page, None)
    if file.sha == page.sha and known:  # title and type say already what this body does
        same = page.uncommitted == file.uncommitted
        return LivePage(page if same else replace(page, uncommitted=file.uncommitted), body)
    return described(page, file, body)


def described(page: Page, file: File, body: str) -> LivePage:
    """A page with the body just read, and with what that body says of its title and type."""
    now = describe(page, page_text.facts(body))
    return LivePage(replace(now, sha=file.sha, size=len(file.data), uncommitted=file.uncommitted), body)


def _remember(store: Store, project: Project, news: Sequence[LivePage]) -> None:
    bodies = {live.page.sha: live.body for live in news if live.body is not None}
    facts: dict[str, PageFacts] = {sha: page_text.facts(body) for sha, body in bodies.items()}
    store.remember(project.key, [live.page for live in news], bodies, facts)
