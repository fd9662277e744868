"""Sends one call to a forge: with the token, which is read again when it is refused; once for all who ask the same
at the same time; and under the new name where a repository has moved. A thin driver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import TypeVar

import anyio.to_thread

from cache.errors import TooLarge
from sync.credentials import Credentials
from sync.exchange import Request, Response, Trouble, Unreachable
from sync.forge.gitea.calls import Call
from sync.forge.gitea.failures import MOVED, new_name, unexpected
from sync.forge.gitea.site import Site
from sync.http import HttpClient
from sync.inflight import InFlight

T = TypeVar("T")

PARSED_AT_ONCE = 256 * 1024  # bytes, about 3 ms
MOST_MOVES = 3  # of one repository in a row


class Session:
    """One forge, as one token sees it."""

    def __init__(self, site: Site, http: HttpClient, credentials: Credentials) -> None:
        self.site = site
        self._http = http
        self._credentials = credentials
        self._under_way = InFlight[Call, Response]()

    @property
    def share(self) -> int:
        """How many requests at once one reader may have under way: others must not wait for it if it hangs."""
        return max(1, self._http.max_in_flight * 2 // 3)

    async def send(self, call: Call) -> Response:
        """The forge's answer, of any status. Of redirects only a repository's new name is followed, so that no other
        host sees the token.

        Raises the errors of :meth:`sync.http.HttpClient.send`, ``Denied`` where no token can be had, and
        ``Unreachable`` where a repository is redirected to anything else.
        """
        for _ in range(MOST_MOVES + 1):
            response = await self._joined(call)
            if call.repo is None or response.status not in MOVED:
                return response
            call = call.of(new_name(response, self.site))
        raise Unreachable(self.site.host, Trouble.WRONG, "it redirects in circles")

    async def ask(self, call: Call, read: Callable[[Response, Site], T]) -> T:
        """What :meth:`send` brings, as ``read`` understands it. An answer that is too large is not the forge's."""
        try:
            response = await self.send(call)
        except TooLarge:
            raise unexpected(self.site, "far too much") from None
        return await self.parse(response, read)

    async def parse(self, response: Response, read: Callable[[Response, Site], T]) -> T:
        """What ``read`` makes of ``response``; a large one does not hold the event loop up."""
        if len(response.body) > PARSED_AT_ONCE:
            return await anyio.to_thread.run_sync(read, response, self.site)
        return read(response, self.site)

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._http.aclose()

    async def _joined(self, call: Call) -> Response:
        if call.idempotent:
            return await self._under_way.run(call, lambda: self._authorized(call))
        try:
            return await self._authorized(call)
        finally:
            self._under_way.forget()  # who asks from now on wants to see what was written

    async def _authorized(self, call: Call) -> Response:
        token = await self._credentials.token()
        response = await self._exchange(call, token)
        if response.status == HTTPStatus.UNAUTHORIZED and (fresh := await self._credentials.renewed(token)) is not None:
            response, token = await self._exchange(call, fresh), fresh
        return _redacted(response, token)

    async def _exchange(self, call: Call, token: str) -> Response:
        authorization = (("Authorization", f"token {token}"),) if token else ()
        return await self._http.send(
            Request(
                call.method,
                self.site.url + call.target,
                limit=call.limit,
                headers=(*call.headers, *authorization),
                body=call.body,
                idempotent=call.idempotent,
            )
        )


def _redacted(response: Response, token: str) -> Response:
    """A refusal or redirect without the token, which whoever answers may repeat: the words go into our messages."""
    if response.status < HTTPStatus.MULTIPLE_CHOICES or not token:
        return response
    headers = {name: value.replace(token, "***") for name, value in response.headers.items()}
    return replace(response, headers=headers, body=response.body.replace(token.encode(), b"***"))
