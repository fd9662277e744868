"""Finds out what keeps a forge from being used, by harmless requests: who answers, whose token it is, what it may do.
A thin driver over :mod:`sync.forge.gitea.about`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from cache.errors import KnowledgeError, TimedOut
from sync.concurrency import all_of
from sync.credentials import Credentials, TokenSource
from sync.exchange import Response, Trouble, Unreachable
from sync.forge.gitea import about, calls, protocol
from sync.forge.gitea.about import Listed, Quota, Server, Survey
from sync.forge.gitea.calls import Call
from sync.forge.gitea.client import GiteaSettings
from sync.forge.gitea.failures import ScopeMissing
from sync.forge.gitea.listing import Source, sources
from sync.forge.gitea.session import Session
from sync.forge.gitea.site import Site, addresses
from sync.http import HttpClient

TRIALS = {
    "read:user": calls.current_user(),
    "read:repository": calls.one_repo(),
    "write:repository": calls.no_commit(),
    "write:issue": calls.no_issue(),
}
MOST_REDIRECTS = 2  # from http to https, and to another name

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a forge answers."""

    url: str
    server: Server


async def locate(http: HttpClient, urls: Sequence[str]) -> Found:
    """The first of ``urls`` at which a forge answers; no token is sent.

    Raises what is wrong with the first one: the errors of :mod:`sync.forge.base`, or ``NotConfigured``.
    """
    first: KnowledgeError | None = None
    for url in urls:
        try:
            return await _ask_who(http, url)
        except KnowledgeError as error:
            first = first or error
            if _is_the_hosts(error):
                break
    if first is None:
        raise ValueError("no address to try")
    raise first


async def _ask_who(http: HttpClient, url: str) -> Found:
    for _ in range(MOST_REDIRECTS):
        session = _anonymous(http, Site.of(url))
        response = await session.send(calls.version())
        target = about.moved_to(response, session.site)
        if target is None:
            return Found(session.site.url, about.server(response, session.site))
        url = target
    session = _anonymous(http, Site.of(url))
    return Found(session.site.url, await session.ask(calls.version(), about.server))


def _is_the_hosts(error: KnowledgeError) -> bool:
    """Whether another path on the same host would meet the same error."""
    return isinstance(error, TimedOut) or (isinstance(error, Unreachable) and error.trouble is not Trouble.WRONG)


def _anonymous(http: HttpClient, site: Site) -> Session:
    return Session(site, http, Credentials(TokenSource()))


class Prober:
    """Surveys one forge. ``now`` gives seconds since the UTC epoch."""

    def __init__(self, http: HttpClient, settings: GiteaSettings, *, now: Callable[[], float] = time.time) -> None:
        self._http = http
        self._now = now
        self._site = Site.of(settings.url)
        self._sources = sources(settings.user, settings.orgs)
        self._credentials = Credentials(settings.token)
        self._session = Session(self._site, http, self._credentials)
        self._quota: Quota | None = None
        self._skew: float | None = None

    async def survey(self) -> Survey:
        """What can be learned of the forge. Raises nothing of :mod:`sync.forge.base`: errors are what was learned."""
        who = await self._learned(_anonymous(self._http, self._site), calls.version(), about.server)
        survey = Survey(self._site.url, who)
        if isinstance(who, KnowledgeError):
            survey = replace(survey, better_url=await self._better_url(who))
        else:
            survey = await self._as_user(survey)
        return replace(survey, skew=self._skew, quota=self._quota)

    async def _better_url(self, error: KnowledgeError) -> str | None:
        if _is_the_hosts(error):
            return None
        try:
            found = await locate(self._http, addresses(self._site.url))
        except KnowledgeError:
            return None
        return found.url

    async def _as_user(self, survey: Survey) -> Survey:
        try:
            token = await self._credentials.token()
        except KnowledgeError as error:
            return replace(survey, login=error)
        if not token:
            return replace(survey, listings=await self._list())
        who = survey.server
        login = await self._learned(self._session, calls.current_user(), about.login)
        if isinstance(login, KnowledgeError) and not isinstance(login, ScopeMissing):
            return replace(survey, login=login)
        if isinstance(who, Server) and who.version is None:
            who = await self._learned(self._session, calls.version(), about.server)
        batches = await self._learned(self._session, calls.api_settings(), about.has_batches)
        listings = await self._list()
        return replace(
            survey,
            server=who,
            login=login,
            batches=None if isinstance(batches, KnowledgeError) else batches,
            listings=listings,
            scopes=await self._scopes(login, listings),
        )

    async def _list(self) -> tuple[Listed, ...]:
        """The first page of each listing tells how much there is."""
        return tuple(await all_of([partial(self._first_page, source) for source in self._sources]))

    async def _first_page(self, source: Source) -> Listed:
        page = await self._learned(self._session, source.page(1), partial(protocol.repo_page, forge=""))
        if isinstance(page, KnowledgeError):
            return Listed(source.of, page)
        return Listed(source.of, max(page.total or 0, len(page.repos)))

    async def _scopes(self, login: object, listings: Sequence[Listed]) -> dict[str, bool]:
        """Which scopes the token has. One that no answer told of yet is tried."""
        outcomes = (login, *(listed.found for listed in listings))
        known = {scope: False for outcome in outcomes if isinstance(outcome, ScopeMissing) for scope in outcome.scopes}
        if not any(isinstance(listed.found, KnowledgeError) for listed in listings):
            known = {"read:user": True, "read:repository": True}  # each listing needs both
        trials = {scope: call for scope, call in TRIALS.items() if scope not in known}
        found = await all_of([partial(self._may, call) for call in trials.values()])
        return known | {scope: has for scope, has in zip(trials, found, strict=True) if has is not None}

    async def _may(self, call: Call) -> bool | None:
        may = await self._learned(self._session, call, about.has_scope)
        return None if isinstance(may, KnowledgeError) else may

    async def _learned(self, session: Session, call: Call, read: Callable[[Response, Site], T]) -> T | KnowledgeError:
        """What ``read`` makes of the answer, or why there is none. Its headers are looked at on the way."""

        def look(response: Response, site: Site) -> T:
            self._skew = about.skew(response, self._now()) if self._skew is None else self._skew
            self._quota = about.quota(response.headers) or self._quota
            return read(response, site)

        try:
            return await session.ask(call, look)
        except KnowledgeError as error:
            return error
