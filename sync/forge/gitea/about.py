"""What a forge says of itself and of a token, and what a survey of one brings together. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urljoin

from cache.errors import KnowledgeError, NotFound
from sync import retry
from sync.exchange import Response
from sync.forge.gitea import shapes
from sync.forge.gitea.calls import API
from sync.forge.gitea.failures import MOVED, NoRoute, ScopeMissing, failure, unexpected
from sync.forge.gitea.shapes import Malformed
from sync.forge.gitea.site import Site

_ROUTE = f"{API}/version"
_TRIED = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.LOCKED})
_DIGITS = re.compile("[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Server:
    """A forge. ``version`` is ``None`` where it tells only those who sign in."""

    version: str | None

    @property
    def title(self) -> str:
        """What to call it: a Forgejo names the Gitea that it is compatible with."""
        if self.version is None:
            return "Gitea or Forgejo"
        return f"{'Forgejo' if '+gitea-' in self.version else 'Gitea'} {self.version.partition('+gitea-')[0]}"


@dataclass(frozen=True, slots=True)
class Quota:
    """How many requests of ``limit`` are left for now."""

    limit: int
    remaining: int


@dataclass(frozen=True, slots=True)
class Listed:
    """What one of a forge's listings holds; ``of`` names it, empty for all that the token lists."""

    of: str
    found: int | KnowledgeError


@dataclass(frozen=True, slots=True)
class Survey:
    """What was learned of the forge at ``url``, or why it was not; what depends on that is missing then.

    ``better_url`` is where a forge answers, if ``url`` is not. ``login`` is the token's user, ``None`` without a token.
    ``scopes`` are those that the token was found to have or to lack. ``batches``: many files can be read in one
    request. ``skew`` is by how many seconds its clock is ahead of ours.
    """

    url: str
    server: Server | KnowledgeError
    better_url: str | None = None
    login: str | KnowledgeError | None = None
    scopes: Mapping[str, bool] = field(default_factory=dict)
    batches: bool | None = None
    listings: tuple[Listed, ...] = ()
    skew: float | None = None
    quota: Quota | None = None


def server(response: Response, site: Site) -> Server:
    """Who answers to :func:`sync.forge.gitea.calls.version`. One that wants a token first is a forge too."""
    if response.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) and _has_message(response):
        return Server(None)
    if response.status != HTTPStatus.OK:
        error = failure(response, site)
        raise NoRoute(site.host, response.status, lasting=False) if isinstance(error, NotFound) else error
    return Server(_text(response, site, "version"))


def login(response: Response, site: Site) -> str:
    """The name of the token's user."""
    if response.status != HTTPStatus.OK:
        raise failure(response, site)
    return _text(response, site, "login")


def has_batches(response: Response, site: Site) -> bool:
    """Whether ``file-contents`` is there, by the limit that came with it. Older forges have neither."""
    if response.status != HTTPStatus.OK:
        raise failure(response, site)
    return "default_max_response_size" in _record(response, site)


def has_scope(response: Response, site: Site) -> bool | None:
    """Whether the token was let through to where a call fails for other reasons, ``None`` if that cannot be told."""
    if response.status in _TRIED or HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
        return True
    if response.status == HTTPStatus.FORBIDDEN and isinstance(failure(response, site), ScopeMissing):
        return False
    return None


def moved_to(response: Response, site: Site) -> str | None:
    """The root that a redirect of :func:`sync.forge.gitea.calls.version` leads to, if it leads to one. Nobody is led
    away from TLS."""
    location = response.headers.get("location")
    if response.status not in MOVED or not location:
        return None
    try:
        target = urljoin(f"{site.url}{_ROUTE}", location)
    except ValueError:
        return None
    schemes = ("https://",) if site.url.startswith("https:") else ("https://", "http://")
    return target.removesuffix(_ROUTE) if target.startswith(schemes) and target.endswith(_ROUTE) else None


def skew(response: Response, now: float) -> float | None:
    """By how many seconds the forge's clock is ahead of ours, to the second; ``now`` is when the answer came."""
    sent = retry.http_date(response.headers.get("date", ""))
    return None if sent is None else sent + 0.5 - now  # what is below a second is cut off


def quota(headers: Mapping[str, str]) -> Quota | None:
    """What a hosted forge, or a proxy, tells of its limits."""
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-"):
        limit, remaining = (_number(headers.get(prefix + name, "")) for name in ("limit", "remaining"))
        if limit and remaining is not None:
            return Quota(limit, remaining)
    return None


def _has_message(response: Response) -> bool:
    try:
        return "message" in shapes.an_object(shapes.parse(response.body))
    except Malformed:
        return False


def _record(response: Response, site: Site) -> shapes.Record:
    try:
        return shapes.an_object(shapes.parse(response.body))
    except Malformed as malformed:
        raise unexpected(site, str(malformed)) from None


def _text(response: Response, site: Site, key: str) -> str:
    try:
        value = shapes.text(_record(response, site), key)
    except Malformed as malformed:
        raise unexpected(site, str(malformed)) from None
    return "".join(letter for letter in value if letter.isprintable())[:100]


def _number(digits: str) -> int | None:
    digits = digits.partition(",")[0].strip()  # a policy may follow
    return int(digits) if _DIGITS.fullmatch(digits) else None
