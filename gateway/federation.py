"""The federation over cache and forges: what every tool and command asks of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio.to_thread

from cache import cursor as cursors
from cache.errors import Ambiguous, InvalidArgument, KnowledgeError, NotConfigured, NotFound, RateLimited, Unavailable
from cache.interface import Match, Store
from cache.model import Page, Project, ProjectKey, ProjectState
from cache.search.query import Query
from cache.search.terms import MAX_SEARCHED
from cache.times import timestamp
from gateway.answers import (
    AskAnswer,
    IngestAnswer,
    PageAnswer,
    PageEntry,
    PageList,
    ProjectEntry,
    ProjectList,
    SearchAnswer,
    SharedMatch,
    StatusAnswer,
    TaskAnswer,
)
from gateway.ask import Question, ask, snippet_of, why_barren
from gateway.filing import Filer, TaskRequest
from gateway.ingest import Ingester, IngestRequest
from gateway.live import LiveReader, unconfigured
from gateway.naming import Names, refuse_patterns
from gateway.reading import PageReader, PageRequest
from gateway.write_policy import WritePolicy
from sync.forge.writing import WritableForge
from sync.plan import SyncSettings
from sync.wiki_index import canonical_type
from sync.worker import refresh

REFRESH_PAUSE = 10.0  # seconds between two refreshes of one project
MAX_STATUS_CHARS = 20_000  # code points of a STATUS file that are answered
SUGGESTED_PROJECTS = 5


@dataclass(frozen=True, slots=True)
class Policy:
    """How the federation answers. Durations in seconds. ``sync`` gives each forge's settings, for refreshes."""

    shared: str = ""
    deadline: float = 20.0
    max_age: float = 0.0
    stale_after: float = 24 * 3600.0
    sync: Mapping[str, SyncSettings] = field(default_factory=dict)
    write: WritePolicy = field(default_factory=WritePolicy)


class Federation:
    """Answers questions about the fleet. ``clock`` gives seconds since the UTC epoch.

    Every method raises the errors of ``cache.errors`` and nothing else that a caller could mend.
    """

    def __init__(
        self, store: Store, forges: Mapping[str, WritableForge], policy: Policy, *, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._forges = forges
        self._policy = policy
        self._clock = clock
        self._names = Names(tuple(forges))
        self._live = LiveReader(store, forges, clock, policy.deadline, policy.max_age)
        self._page_reader = PageReader(store, self._names, self._live)
        self._filer = Filer(store, forges, self._names, policy.write, clock, policy.deadline)
        self._ingester = Ingester(store, forges, self._names, policy.write, clock, policy.deadline)
        self._refreshed: dict[ProjectKey, float] = {}

    async def ask_projects(
        self, query: str, projects: Sequence[str], *, limit: int = 5, types: Sequence[str] | None = None
    ) -> AskAnswer:
        """Ask the named projects' wikis side by side; up to ``limit`` matches of each are read live."""
        question = Question(_parse(query), tuple(projects), _canonical(types), limit)
        return await ask(question, self._store, self._names, self._live)

    async def get_from(self, project: str, request: PageRequest) -> PageAnswer:
        """A page of a named project, live; a forge that fails is answered for by the cache, with its age."""
        return await self._page_reader.read(await self._find(project), request)

    async def get(self, request: PageRequest) -> PageAnswer:
        """A page of the shared wiki, as :meth:`get_from`."""
        return await self._page_reader.read(await self._shared(), request)

    async def search(self, query: str, *, types: Sequence[str] | None = None, limit: int = 10) -> SearchAnswer:
        """Search the shared wiki in the cache."""
        parsed = _parse(query)
        project = await self._shared()
        answer = await anyio.to_thread.run_sync(self._search, project, parsed, _canonical(types), limit)
        return replace(answer, query=query)

    def _search(self, project: Project, query: Query, types: frozenset[str] | None, limit: int) -> SearchAnswer:
        if (reason := why_barren(project)) is not None:
            raise Unavailable(f"shared wiki {self._names.spell(project)}: {reason}")
        matches = self._store.match([project.key], query, types=types, limit=limit)[project.key]
        bodies = self._store.bodies(project.key, {match.page.sha for match in matches}, longest=MAX_SEARCHED)
        age = None if project.synced_at is None else self._clock() - project.synced_at
        return SearchAnswer(
            query.whole,
            tuple(_shared_match(match, bodies.get(match.page.sha, ""), query) for match in matches),
            matches.total,
            project.revision or "",
            timestamp(project.synced_at) or "",
            age is None or abs(age) > self._policy.stale_after,  # negative: the clock was set back since
            () if matches else self._projects_knowing(query, project.key),
        )

    def _projects_knowing(self, query: Query, shared: ProjectKey) -> tuple[str, ...]:
        knowing = self._store.projects_knowing(query, limit=SUGGESTED_PROJECTS + 1)
        return tuple(self._names.spell(project) for project in knowing if project.key != shared)[:SUGGESTED_PROJECTS]

    async def list_pages(
        self,
        project: str | None = None,
        *,
        types: Sequence[str] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> PageList:
        """The pages of one wiki (the shared one by default) in its index's order, from the cache."""
        found = await (self._shared() if project is None else self._find(project))
        return await anyio.to_thread.run_sync(self._list, found, _canonical(types), limit, cursor)

    def _list(self, project: Project, types: frozenset[str] | None, limit: int, cursor: str | None) -> PageList:
        pages = self._store.pages(project.key)
        chosen = [page for page in pages if types is None or canonical_type(page.type) in types]
        start = 0 if cursor is None else _start(chosen, cursor)
        shown = chosen[start : start + limit]
        return PageList(
            self._names.spell(project),
            tuple(PageEntry(page.slug, page.type, page.title, page.listed) for page in shown),
            _cursor(start + limit, shown[-1].slug) if start + limit < len(chosen) else None,
        )

    async def projects(self, query: str | None = None, *, limit: int = 50, cursor: str | None = None) -> ProjectList:
        """The fleet as the cache knows it, by name."""

        def page() -> ProjectList:
            found = self._store.projects(query=query, limit=limit + 1, after=cursor)
            more = self._store.cursor(found[limit - 1]) if len(found) > limit else None
            return ProjectList(tuple(self._entry(project) for project in found[:limit]), more)

        return await anyio.to_thread.run_sync(page)

    async def status(self, project: str) -> StatusAnswer:
        """One project's STATUS file from the cache."""
        found = await self._find(project)
        status = await anyio.to_thread.run_sync(self._store.status, found.key)
        if status is None and found.synced_at is None and found.failure is not None:
            raise Unavailable(found.failure)  # it was never read: nobody knows whether there is one
        if status is None:
            raise NotFound(f"no STATUS.md in {self._names.spell(found)}")
        return StatusAnswer(
            status.text[:MAX_STATUS_CHARS],
            self._names.spell(found),
            status.path,
            status.sha,
            len(status.text),
            len(status.text) > MAX_STATUS_CHARS,
            timestamp(found.synced_at),
            uncommitted=status.uncommitted or None,
        )

    async def refresh(self, project: str) -> ProjectEntry:
        """Look at one project now. Raises ``RateLimited`` within 10 s of the last refresh."""
        found = await self._find(project)
        forge = self._forges.get(found.key.forge)
        if forge is None:
            raise unconfigured(found.key.forge)
        now = self._clock()
        since = now - self._refreshed.get(found.key, float("-inf"))
        if 0 <= since < REFRESH_PAUSE:
            raise RateLimited(f"refreshed {int(since)} s ago", retry_after=REFRESH_PAUSE - since)
        self._refreshed = {key: at for key, at in self._refreshed.items() if 0 <= now - at < REFRESH_PAUSE}
        self._refreshed[found.key] = now
        settings = self._policy.sync.get(forge.name, SyncSettings(shared=self._policy.shared))
        try:
            return self._entry(await refresh(forge, self._store, settings, found, now=now))
        except KnowledgeError:
            self._refreshed.pop(found.key, None)  # it was not refreshed, and may be asked for again
            raise

    async def file_task(self, project: str, request: TaskRequest) -> TaskAnswer:
        """File a task in a named project, or find that its text was filed there less than a day ago."""
        return await self._filer.file(await self._find(project, argument="target_project"), request)

    async def ingest(self, project: str | None, request: IngestRequest) -> IngestAnswer:
        """Write a page and its line in the index of a named project's wiki, or of the shared one."""
        found = await (self._shared() if project is None else self._find(project, argument="target_project"))
        return await self._ingester.ingest(found, request)

    def _entry(self, project: Project) -> ProjectEntry:
        state = f"failed: {project.failure}" if project.state is ProjectState.FAILED else project.state.value
        return ProjectEntry(
            self._names.spell(project),
            state,
            project.archived,
            project.has_status,
            project.has_wiki,
            project.pages,
            timestamp(project.updated_at),
            timestamp(project.synced_at),
            uncommitted=project.uncommitted or None,
        )

    async def _find(self, word: str, *, argument: str = "project") -> Project:
        try:
            return await anyio.to_thread.run_sync(self._names.find, word, self._store)
        except NotFound:
            refuse_patterns([word], argument=argument)
            raise

    async def _shared(self) -> Project:
        name = self._policy.shared
        if not name:
            raise NotConfigured("no shared wiki — set [wiki] shared")
        try:
            return await self._find(name)
        except NotFound as error:
            message = f"shared wiki {name}: {error.reason}, or correct [wiki] shared"
            raise NotFound(message, suggestions=error.suggestions) from None
        except Ambiguous as error:
            raise Ambiguous(f"shared wiki {name}", error.candidates) from None


def _parse(query: str) -> Query:
    if not query.strip():
        raise InvalidArgument("query is empty — ask with a few words", argument="query")
    return Query.parse(query)


def _canonical(types: Sequence[str] | None) -> frozenset[str] | None:
    return None if types is None else frozenset(canonical_type(word) for word in types)


def _shared_match(match: Match, body: str, query: Query) -> SharedMatch:
    page = match.page
    return SharedMatch(
        page.slug,
        page.type,
        page.title,
        snippet_of(body, query),
        round(match.score, 4),
        page.listed,
        page.sha,
        uncommitted=page.uncommitted or None,
    )


def _cursor(position: int, last_slug: str) -> str:
    """A place in a page list, as short for a long slug as for any other."""
    return cursors.encode(position, _digest(last_slug))


def _digest(slug: str) -> str:
    return hashlib.sha256(slug.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _start(pages: Sequence[Page], cursor: str) -> int:
    """Where the page list goes on: behind the last page shown, or, if that is gone, where it stood."""
    match cursors.decode(cursor):
        case [int(position), str(last)]:
            fallback = max(0, min(position, len(pages)))
        case _:
            raise cursors.foreign()
    numbers = (fallback - 1, *range(len(pages)))  # most often it is where it was
    return next((number + 1 for number in numbers if number >= 0 and _digest(pages[number].slug) == last), fallback)
