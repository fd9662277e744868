"""``knowledge.ask_projects``: one question to several wikis, side by side. Entries are made by pure functions."""

from __future__ import annotations

import logging
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace

import anyio
import anyio.to_thread

from cache.errors import KnowledgeError, NotFound, StoreFailure, TimedOut
from cache.interface import Match, Matches, Store
from cache.model import Project, ProjectKey, ProjectState
from cache.search.query import Query
from cache.search.snippet import snippet
from gateway.answers import AskAnswer, PageMatch, ProjectError, ProjectMatches
from gateway.live import LivePage, LiveRead, LiveReader, look_through
from gateway.naming import Names, refuse_patterns
from gateway.pages import page_url
from sync import front_matter
from sync.forge.base import INVISIBLE
from sync.page import first_prose

NO_WIKI = "no wiki — repo has no .wiki/index.md"
EMPTY = "empty repository"
OUR_FAULT = "internal error (see the log)"
UNREAD = "(fetch failed)"
ROUNDS = 3  # reads of one project: those after the first fill the places of pages that are gone

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """``types`` are canonical; ``None`` means all but ``raw``. ``limit`` is per project."""

    query: Query
    projects: tuple[str, ...]
    types: frozenset[str] | None
    limit: int


async def ask(question: Question, store: Store, names: Names, reader: LiveReader) -> AskAnswer:
    """Match in the cache, read the best pages of each project live, and answer in the caller's order.

    Raises ``InvalidArgument`` for a pattern, unless a project is called so."""
    until = reader.until()
    known = await anyio.to_thread.run_sync(_look_up, question, store, names)
    asker = _Asker(question, known, store, names, reader, until)
    order: dict[ProjectKey | str, None] = {}
    entries: dict[ProjectKey | str, ProjectMatches | ProjectError] = {}
    async with anyio.create_task_group() as group:

        async def fill(project: Project) -> None:
            try:
                entries[project.key] = await asker.entry(project)
            except StoreFailure:
                raise
            except Exception:  # a fault of one project, ours included, must not spoil the others
                logger.exception("internal error while asking a project")
                entries[project.key] = ProjectError(names.spell(project), OUR_FAULT)

        for word, meaning in known.found.items():
            place = word.strip().casefold() if isinstance(meaning, KnowledgeError) else meaning.key
            if place in order:
                continue
            order[place] = None
            if isinstance(meaning, KnowledgeError):
                entries[place] = unknown(word, meaning)
            else:
                group.start_soon(fill, meaning)
    return AskAnswer(question.projects, tuple(entries[place] for place in order))


@dataclass(frozen=True, slots=True)
class _Known:
    """What the cache knows: what each word means, each project's matches, and of which blobs among them it holds what
    they say of themselves."""

    found: Mapping[str, Project | KnowledgeError]
    matches: Mapping[ProjectKey, Matches]
    described: Container[str]


def _look_up(question: Question, store: Store, names: Names) -> _Known:
    found = names.find_each(question.projects, store)
    refuse_patterns([word for word, meaning in found.items() if isinstance(meaning, NotFound)])
    keys = list({meaning.key: None for meaning in found.values() if isinstance(meaning, Project)})
    matches = store.match(keys, question.query, types=question.types, limit=question.limit)
    return _Known(found, matches, store.facts({match.page.sha for each in matches.values() for match in each.best}))


@dataclass(frozen=True, slots=True)
class _Asker:
    """Makes each project's entry."""

    question: Question
    known: _Known
    store: Store
    names: Names
    reader: LiveReader
    until: float

    async def entry(self, project: Project) -> ProjectMatches | ProjectError:
        """The best pages that are still there, with what is known of the others."""
        name = self.names.spell(project)
        if (reason := why_barren(project)) is not None:
            return ProjectError(name, reason)
        matches, described = self.known.matches[project.key], self.known.described
        found: list[PageMatch] = []
        best: Sequence[Match] = matches.best
        seen, gone = set[str](), 0
        for _ in range(ROUNDS):
            read, shown = await self._read(project, best, described)
            if read.failure is not None and not found and not has_answer(read):
                return ProjectError(name, _why(read.failure))
            found += shown
            seen.update(match.page.slug for match in best)
            gone += len(read.gone)
            if not read.gone or len(seen) >= matches.total:
                break
            best, described = await anyio.to_thread.run_sync(self._next, project, seen, len(read.gone))
        return ProjectMatches(
            name,
            tuple(found),
            max(0, matches.total - gone - len(found)),
            warning(project, read, self.reader.age(project)),
        )

    async def _read(
        self, project: Project, best: Sequence[Match], described: Container[str]
    ) -> tuple[LiveRead, tuple[PageMatch, ...]]:
        """The pages of some matches as read just now, and what is shown of them."""
        pages = [match.page for match in best]
        async with self.reader.room(pages, self.until):
            read = await self.reader.read(project, pages, described, self.until)
            if read.failure is not None and not has_answer(read):
                return read, ()
            size = sum(len(live.body) for live in read.pages if live.body is not None)
            return read, await look_through(size, _page_matches, project, read, self.question.query)

    def _next(self, project: Project, seen: Collection[str], count: int) -> tuple[Sequence[Match], Container[str]]:
        """The next ``count`` matches that were not ``seen`` yet (what was read may have changed the order), and of
        which blobs among them the cache holds what they say of themselves."""
        asked = self.question
        matches = self.store.match([project.key], asked.query, types=asked.types, limit=len(seen) + count)
        best = [match for match in matches[project.key] if match.page.slug not in seen][:count]
        return best, self.store.facts({match.page.sha for match in best})


def _why(failure: KnowledgeError) -> str:
    """What a project's entry says of a forge that failed: of what is not visible each says it in its own words."""
    return INVISIBLE if isinstance(failure, NotFound) else failure.message


def unknown(word: str, error: KnowledgeError) -> ProjectError:
    """The entry of a word that names no project, or several."""
    if isinstance(error, NotFound):
        return ProjectError(word, error.reason, error.suggestions)
    return ProjectError(word, error.message)


def failed(entry: ProjectMatches | ProjectError) -> bool:
    """Whether a project could not be asked; one without a wiki was, and has nothing to say."""
    return isinstance(entry, ProjectError) and entry.error not in (NO_WIKI, EMPTY)


def why_barren(project: Project) -> str | None:
    """Why a project cannot have a match, if it cannot, in the words of the tool contract."""
    if project.pages:
        return None
    if project.state is ProjectState.EMPTY:
        return EMPTY
    if project.state in (ProjectState.FAILED, ProjectState.DENIED):
        return project.failure or "could not be read — run gateway doctor"
    if project.index_problem is not None:
        return malformed(project.index_problem)
    return None if project.has_wiki else NO_WIKI


def malformed(problem: str) -> str:
    return f"wiki index malformed: {problem}"


def has_answer(read: LiveRead) -> bool:
    """Whether a read that failed can be answered for: by a cached copy, or because time ran out on known matches. Of a
    project that the token may not see any more nothing is shown."""
    if isinstance(read.failure, NotFound):
        return False
    return isinstance(read.failure, TimedOut) or any(page.body is not None for page in read.pages)


def warning(project: Project, read: LiveRead, age_s: int) -> str | None:
    """What the reader of one project's matches should know about them; cached copies are ``age_s`` seconds old."""
    if isinstance(read.failure, TimedOut):
        return read.failure.message
    if read.failure is not None:
        return f"{read.failure.message}; copies are {age_s} s old"
    return None if project.index_problem is None else malformed(project.index_problem)


def _page_matches(project: Project, read: LiveRead, query: Query) -> tuple[PageMatch, ...]:
    return tuple(page_match(project, live, query) for live in read.pages)


def page_match(project: Project, live: LivePage, query: Query) -> PageMatch:
    """One match with its snippet."""
    page = live.page
    match = PageMatch(
        page.slug,
        page.type,
        page.title,
        UNREAD if live.body is None else snippet_of(live.body, query),
        page.listed,
        page.sha,
        url=page_url(project, page.slug),
        age_s=live.age_s,
    )
    if live.stale:
        match = replace(match, stale=True)
    return replace(match, uncommitted=True) if page.uncommitted else match


def snippet_of(body: str, query: Query) -> str:
    """The text around the match, or the first prose where only the title matches (it is looked for only then). Front
    matter is none of the text."""
    text = body[front_matter.split(body)[1] :]
    return snippet(text, query, fallback="") or snippet(text, query, fallback=first_prose(text))
