"""``knowledge.get_from``: one page, live, with the cache behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

import anyio.to_thread

from cache.errors import InvalidArgument, KnowledgeError, NotFound, NotUtf8, StoreFailure, TimedOut, TooLarge
from cache.interface import Store
from cache.model import Page, Project
from cache.suggest import near
from gateway.answers import PageAnswer
from gateway.live import LivePage, LiveRead, LiveReader, described
from gateway.naming import Names
from gateway.pages import clean_slug, correct_case, cut, in_folder, page_path, page_url
from sync import page as page_text
from sync.forge.base import WIKI, Absent, Answer, File, Refused, TooBig, Unchanged

INDEX = "index"  # the slug by which every wiki's index can be read
SHOWN_HEADINGS = 100  # of a page; the rest can be read


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of which page: ``section`` is a heading, ``offset`` and ``max_chars`` count code points; no
    ``max_chars``: all of it."""

    slug: str
    section: str | None = None
    offset: int = 0
    max_chars: int | None = 40_000


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads single pages of projects that are known."""

    store: Store
    names: Names
    live: LiveReader

    async def read(self, project: Project, request: PageRequest) -> PageAnswer:
        """The page, or the part of it that ``request`` asks for.

        Raises ``NotFound`` with near slugs or the headings, ``InvalidArgument`` for what is no page, ``NotUtf8``,
        ``TooLarge``, and the forge's errors where the cache has no copy.
        """
        until = self.live.until()
        page = await anyio.to_thread.run_sync(self._known_page, project, request.slug)
        async with self.live.room([page], until):
            copy = await self._read(project, page, until)
            if copy.body is None:
                raise await anyio.to_thread.run_sync(self._missing, project, page.slug)
            return await anyio.to_thread.run_sync(self._answer, project, copy, copy.body, request)

    def _known_page(self, project: Project, asked: str) -> Page:
        """The page as the cache knows it, by its slug as answers give it, or else with slips mended; one it does not
        know may still be on the forge."""
        page = self.store.page(project.key, asked)
        if page is not None:
            return page
        slug = clean_slug(asked)
        page = self.store.page(project.key, slug)
        if page is not None:
            return page
        known = {page.slug: page for page in self.store.pages(project.key)}
        index = self.store.index(project.key)
        if index is not None:
            index_slug = index.path.removeprefix(WIKI).removesuffix(".md")
            known.setdefault(index_slug, _unlisted(index_slug, index.sha))
            known.setdefault(INDEX, known[index_slug])  # whatever the file that serves as the index is called
        mended = slug if slug in known else correct_case(slug, known)
        return _unlisted(slug) if mended is None else known[mended]

    async def _read(self, project: Project, page: Page, until: float) -> LivePage:
        """The page from its forge, or the cached copy of a forge that fails. ``body`` is ``None``: no such page."""
        if (recent := self.live.recent(project, page)) is not None:
            return recent
        copy = await anyio.to_thread.run_sync(self._copy, project, page)
        if copy.body is not None and self.live.is_fresh(project):
            return replace(copy, stale=False)
        sha = None if copy.body is None else page.sha
        try:
            answer = await self.live.fetch_one(project, page_path(page.slug), sha, until)
        except (StoreFailure, NotFound):  # what the token may not see any more is not shown from a copy either
            raise
        except KnowledgeError as error:
            if copy.body is not None:
                return copy
            if isinstance(error, TimedOut):
                raise TimedOut(error.seconds, remedy="ask again, or raise [gateway] deadline") from None
            raise
        if isinstance(answer, Unchanged):
            read = LivePage(replace(page, uncommitted=False), copy.body)
            self.live.note(project, read)
            return read
        read = await anyio.to_thread.run_sync(self._open, project, page, answer)
        self.live.note(project, read)
        if page.sha:
            gone = (page,) if read.body is None else ()
            await self.live.remember(project, [page], LiveRead(() if gone else (read,), gone))
        return read

    def _copy(self, project: Project, page: Page) -> LivePage:
        body = self.store.bodies(project.key, {page.sha}).get(page.sha)
        return LivePage(page, body, stale=True, age_s=self.live.age(project))

    def _open(self, project: Project, page: Page, answer: Answer) -> LivePage:
        path = self._path(project, page.slug)
        match answer:
            case File():
                return described(page, answer, _decode(answer.data, path))
            case TooBig(limit=limit):
                raise TooLarge(path, limit, remedy="no page of that size is read: split it")
            case Refused(reason=reason):
                raise InvalidArgument(f"refused: {path} is {reason}, not a page", argument="slug")
            case Absent():
                return LivePage(page, None)

    def _missing(self, project: Project, slug: str) -> KnowledgeError:
        pages = self.store.pages(project.key)
        if inside := in_folder(slug, pages):
            path = self._path(project, slug).removesuffix(".md")
            return InvalidArgument(f"refused: {path} is a directory — it holds {', '.join(inside)}", argument="slug")
        suggestions = near(slug, [page.slug for page in pages if page.slug != slug])
        hint = "" if suggestions else " — knowledge.list shows the pages there are"
        return NotFound(f"page not found: {self._path(project, slug)}{hint}", suggestions=suggestions)

    def _answer(self, project: Project, copy: LivePage, body: str, request: PageRequest) -> PageAnswer:
        headings = [heading.text for heading in page_text.headings(body)]
        text = body
        if request.section is not None:
            part = page_text.section(body, request.section)
            if part is None:
                shown = ", ".join(headings[:20]) or "none"
                raise NotFound(f"section not found: {request.section} (headings: {shown})")
            text = part
        excerpt = cut(text, offset=request.offset, max_chars=request.max_chars)
        page = copy.page
        return PageAnswer(
            excerpt.text,
            self.names.spell(project),
            page.slug,
            page.title,
            page.sha,
            page_url(project, page.slug),
            excerpt.chars,
            excerpt.offset,
            excerpt.next_offset,
            tuple(islice(headings, SHOWN_HEADINGS)),
            copy.stale,
            copy.age_s or 0,
            uncommitted=page.uncommitted or None,
        )

    def _path(self, project: Project, slug: str) -> str:
        return f"{self.names.spell(project)}/{page_path(slug)}"


def _decode(data: bytes, path: str) -> str:
    try:
        return page_text.decode(data, path)
    except NotUtf8 as error:
        raise NotUtf8(path, remedy="save the file as UTF-8") from error


def _unlisted(slug: str, sha: str = "") -> Page:
    """A page of which nothing but the name is known (and, of an index, its blob)."""
    return Page(slug, sha, 0, "other", slug.rpartition("/")[2])
