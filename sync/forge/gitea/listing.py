"""Lists the repositories of a forge: the first page of each source, then the others side by side. A thin driver."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cache.errors import KnowledgeError, NotFound
from sync.concurrency import all_of
from sync.exchange import Trouble, Unreachable
from sync.forge.base import INVISIBLE, ListingPage
from sync.forge.gitea import calls, protocol
from sync.forge.gitea.calls import Call
from sync.forge.gitea.protocol import RepoPage
from sync.forge.gitea.session import Session

WINDOW = 32  # pages that are asked for at once, before anybody hears of them
MOST_PAGES = 10_000  # one that goes on is no listing


@dataclass(frozen=True, slots=True)
class Source:
    """One of a forge's listings: what it is ``of``, for errors, and the call for each of its pages."""

    of: str
    page: Callable[[int], Call]


def sources(user: str, orgs: Sequence[str]) -> tuple[Source, ...]:
    """What the token lists, or what ``user`` owns; and what each of ``orgs`` does."""
    own = Source(f"user {user}", partial(calls.repos_of_user, user)) if user else Source("", calls.user_repos)
    return (own, *(Source(f"organization {org}", partial(calls.repos_of_org, org)) for org in orgs))


class Lister:
    """Lists through ``session``; keys are of the forge called ``forge``."""

    def __init__(self, session: Session, forge: str, listed: Sequence[Source]) -> None:
        self._session = session
        self._forge = forge
        self._sources = listed

    async def pages(self) -> AsyncIterator[ListingPage]:
        """Each repository once. A source that fails does not keep back what the others list: its error comes last.

        Raises the errors of :meth:`sync.forge.base.Forge.listing`.
        """
        firsts = await all_of([partial(self._first, source) for source in self._sources])
        total = sum(first.total or 0 for first in firsts if isinstance(first, RepoPage)) or None
        seen: set[int] = set()
        failure: KnowledgeError | None = None
        for source, first in zip(self._sources, firsts, strict=True):
            if isinstance(first, KnowledgeError):
                failure = failure or first
                continue
            async for page in self._whole(source, first):
                new = tuple(listed for listed in page.repos if listed.repo.key.id not in seen)
                seen.update(listed.repo.key.id for listed in new)
                yield ListingPage(new, total)
        if failure is not None:
            raise failure

    async def _whole(self, source: Source, first: RepoPage) -> AsyncIterator[RepoPage]:
        """All pages; twice if their number of repositories changed meanwhile: one that went away moves the others up,
        perhaps onto a page that was read already."""
        totals: set[int] = set()
        async for page in self._pages(source, first):
            totals.update(() if page.total is None else (page.total,))
            yield page
        if len(totals) > 1:
            async for page in self._pages(source, await self._page(source, 1)):
                yield page

    async def _pages(self, source: Source, first: RepoPage) -> AsyncIterator[RepoPage]:
        yield first
        number, pages = 1, [first]
        while pages[-1].more:
            if number >= MOST_PAGES:
                raise Unreachable(self._session.site.host, Trouble.WRONG, "its listing does not end")
            ahead = range(number + 1, max(number + 1, min(first.last or 0, number + WINDOW)) + 1)
            pages = await all_of([partial(self._page, source, page) for page in ahead])
            for page in pages:
                yield page
            number = ahead[-1]

    async def _first(self, source: Source) -> RepoPage | KnowledgeError:
        try:
            return await self._page(source, 1)
        except NotFound:
            return NotFound(f"{source.of} {INVISIBLE}".strip())
        except KnowledgeError as error:
            return error

    async def _page(self, source: Source, number: int) -> RepoPage:
        return await self._session.ask(source.page(number), partial(protocol.repo_page, forge=self._forge))
