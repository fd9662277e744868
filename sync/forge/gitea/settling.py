"""Whether a write was carried out, by its answer or by the lack of one. Pure.

It was not, for certain, where the request found no connection or was sent elsewhere (a redirect; but 303 tells where
to see what was done), where the answer is a status of the caller's fault (4xx; but 408 is also what some proxies say
of a slow forge), or where it is 503 with ``Retry-After``: who tells when to come again has not begun (RFC 9110,
sections 10.2.3 and 15.6.4). A plain 503 also comes from proxies that lost the forge in the middle. Whatever else is no
success is ``Unsettled``.
"""

from __future__ import annotations

from http import HTTPStatus

from cache.errors import KnowledgeError, TimedOut, TooLarge
from sync.exchange import Response, Trouble, Unreachable
from sync.forge.gitea.failures import failure
from sync.forge.gitea.site import Site
from sync.forge.writing import Unsettled

_AFTER_SENDING = frozenset({Trouble.LOST, Trouble.GARBLED})


def unsettled(site: Site, why: str) -> Unsettled:
    """The error for a write of which nobody knows whether it was carried out."""
    message = f"{site.host} did not tell whether it was carried out ({why}) — look before sending it again"
    return Unsettled(message, host=site.host)


def unanswered(error: KnowledgeError, site: Site) -> KnowledgeError:
    """What ``error``, which came in place of an answer, means for a write."""
    match error:
        case Unreachable(trouble=trouble, why=why):
            return unsettled(site, why) if trouble in _AFTER_SENDING else error
        case TimedOut() | TooLarge():
            return unsettled(site, error.message)
        case _:
            return error


def is_carried_out(response: Response, site: Site) -> bool:
    """Whether a write was carried out, or refused. Raises ``Unsettled`` where the answer does not tell."""
    status = response.status
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return True
    is_refused = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    is_refused = is_refused and status != HTTPStatus.REQUEST_TIMEOUT
    if is_refused or (status == HTTPStatus.SERVICE_UNAVAILABLE and "retry-after" in response.headers):
        return False
    raise unsettled(site, failure(response, site).message)
