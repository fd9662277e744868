"""What a forge's refusals mean: a status that is no success, turned into one of our errors. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from cache.errors import Denied, KnowledgeError, NotFound, Unavailable
from sync.exchange import Response, Trouble, Unreachable
from sync.forge.base import INVISIBLE
from sync.forge.gitea import shapes
from sync.forge.gitea.calls import API, is_full_name
from sync.forge.gitea.shapes import Malformed
from sync.forge.gitea.site import Site

MOVED = frozenset(
    {
        HTTPStatus.MOVED_PERMANENTLY,
        HTTPStatus.FOUND,
        HTTPStatus.TEMPORARY_REDIRECT,
        HTTPStatus.PERMANENT_REDIRECT,
    }
)
NO_TREE = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT})  # for a ref that is not there
_ON_THE_WAY: Mapping[int, Trouble] = {
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: Trouble.PROXY,
    HTTPStatus.TOO_MANY_REQUESTS: Trouble.BUSY,
    HTTPStatus.SERVICE_UNAVAILABLE: Trouble.BUSY,
    HTTPStatus.BAD_GATEWAY: Trouble.LOST,
    HTTPStatus.GATEWAY_TIMEOUT: Trouble.LOST,
}  # what a proxy or an overload answers in the forge's place
_NO_TOKEN = frozenset({"token is required", "Only signed in user is allowed to call APIs."})  # said to who sends none
_SCOPES = re.compile(r"required scope\(s\)[^\[]*\[([^\]]*)\]")
_REPO = re.compile(re.escape(API) + r"/repos/([^/]+)/([^/]+)(?:/|$)")


class ScopeMissing(Denied):
    """The token may not do this. ``scopes`` are those it would need one of."""

    def __init__(self, host: str, scopes: tuple[str, ...]) -> None:
        super().__init__(f"token lacks the scope {' or '.join(scopes)} on {host} — run gateway doctor", host=host)
        self.scopes = scopes


class NoRoute(Unreachable):
    """There is no such call: an older forge, no forge at all, or one whose API is switched off. ``lasting``: the
    forge itself says so, and not somebody on the way."""

    def __init__(self, host: str, status: int, *, lasting: bool) -> None:
        super().__init__(host, Trouble.WRONG, f"no Gitea API at this address (HTTP {status}) — check [forge] url")
        self.lasting = lasting


def unexpected(site: Site, what: str) -> Unreachable:
    """The error for an answer of success that holds ``what`` instead of what was asked for."""
    return Unreachable(site.host, Trouble.WRONG, f"{what} where the API's answer was expected")


def failure(response: Response, site: Site) -> KnowledgeError:
    """The error that a status other than success means."""
    status, host, said = response.status, site.host, _message(response)
    if status in _ON_THE_WAY:
        return Unreachable(host, _ON_THE_WAY[status], f"HTTP {_named(status)}")
    if 300 <= status < 400:
        return Unreachable(host, Trouble.WRONG, f"it redirects (HTTP {status}) — check [forge] url")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _denied(host, status, said)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        return NotFound(INVISIBLE) if said is not None else NoRoute(host, status, lasting=_is_routers(response))
    return Unavailable(_answers(host, status, said), host=host)


def new_name(response: Response, site: Site) -> str:
    """The name that a repository has now, by a redirect's ``Location``.

    Raises ``Unreachable`` for a redirect to another host, which is not followed, or to anything else.
    """
    try:
        target = urlsplit(response.headers.get("location", ""))
        elsewhere = f"{target.scheme or urlsplit(site.origin).scheme}://{target.netloc.lower()}"
    except ValueError:
        raise failure(response, site) from None
    if target.netloc and elsewhere != site.origin:
        where = shapes.printable(elsewhere.replace("@", " "), 100)
        raise Unreachable(site.host, Trouble.WRONG, f"it redirects to {where} — check [forge] url")
    if (found := _REPO.search(target.path)) is None:
        raise failure(response, site)
    name = f"{unquote(found[1])}/{unquote(found[2])}"
    if not is_full_name(name):
        raise failure(response, site)
    return name


def _message(response: Response) -> str | None:
    """What the forge says in its own words; ``None`` if it is not the forge's API that answers."""
    try:
        record = shapes.an_object(shapes.parse(response.body))
        return shapes.printable(shapes.text(record, "message", ""), 200)
    except Malformed:
        return None


def _denied(host: str, status: int, said: str | None) -> Denied:
    if said in _NO_TOKEN:
        return Denied(f"no token is set for {host} — set token_file, then run gateway doctor", host=host)
    if status == HTTPStatus.UNAUTHORIZED:
        return Denied(f"token refused by {host} — run gateway doctor", host=host)
    scopes = _scopes(said or "")
    return ScopeMissing(host, scopes) if scopes else Denied(_answers(host, status, said), host=host)


def _scopes(said: str) -> tuple[str, ...]:
    """The scopes that a message names, as Gitea (``required=[a,b]``) or Forgejo (``: [a b]``) writes them."""
    found = _SCOPES.search(said)
    return tuple(re.findall(r"[a-z:]+", found[1])) if found else ()


def _is_routers(response: Response) -> bool:
    """Whether the forge's router answers, which found no such route."""
    return response.status == HTTPStatus.METHOD_NOT_ALLOWED or response.body.strip() == b"404 page not found"


def _answers(host: str, status: int, said: str | None) -> str:
    return f"{host} answers HTTP {_named(status)}" + (f": {said}" if said else "")


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
