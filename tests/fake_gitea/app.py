"""The ASGI application: a request is logged, maybe struck by a fault, routed, checked and answered."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.fake_gitea import (
    routes_accounts,
    routes_contents,
    routes_git,
    routes_issues,
    routes_pulls,
    routes_repos,
    routes_writes,
)
from tests.fake_gitea.answers import Answer, Refused, no_such_route, refused, text_answer
from tests.fake_gitea.call import Call
from tests.fake_gitea.faults import Effect, Endless, Hang, Reply, Reset
from tests.fake_gitea.log import Exchange
from tests.fake_gitea.routing import Endpoint, Match, Router
from tests.fake_gitea.sending import Wire, body_of, send_answer, send_endless

if TYPE_CHECKING:
    from tests.fake_gitea.forge import FakeGitea

PARTS = (
    routes_accounts,
    routes_repos,
    routes_git,
    routes_contents,
    routes_writes,
    routes_issues,
    routes_pulls,
)
ENDPOINTS: tuple[Endpoint, ...] = tuple(endpoint for part in PARTS for endpoint in part.ROUTES.endpoints)
ROUTER = Router(ENDPOINTS)
API = "/api/v1"


def application(forge: FakeGitea) -> ASGIApp:
    """``forge`` as an ASGI application."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError("a forge speaks HTTP only")
        await _Request(forge, scope, receive, send).run()

    return app


class _Request:
    """One request on its way through the forge."""

    def __init__(self, forge: FakeGitea, scope: Scope, receive: Receive, send: Send) -> None:
        self.forge = forge
        target, query = scope["raw_path"].decode(), scope["query_string"].decode()
        below = forge.sub_path + API
        path = target.removeprefix(below) if target.startswith(below + "/") else None
        self.match = None if path is None else ROUTER.match(path)
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
        self.credential = _credential(headers.get("authorization", ""))
        self.token = None if self.credential is None else forge.tokens.get(self.credential)
        self.exchange = Exchange(
            method=scope["method"],
            route="" if self.match is None else self.match.template,
            target=(target if path is None else path) + (f"?{query}" if query else ""),
            query=tuple(parse_qsl(query, keep_blank_values=True)),
            headers=headers,
            user=None if self.token is None else self.token.user.login,
        )
        date = formatdate(time.time() + forge.date_skew, usegmt=True)
        self.wire = Wire(scope, receive, send, {"date": date}, self._finish)

    def _finish(self) -> None:
        self.forge.log.end(self.exchange)

    async def run(self) -> None:
        self.forge.log.begin(self.exchange)
        try:
            self.exchange.body = await body_of(self.wire.receive)
            delay, effect = self.forge.faults.on(self.exchange)
            if self.forge.delay + delay:
                await anyio.sleep(self.forge.delay + delay)
            while self.forge.held:  # noqa: ASYNC110 a test in another thread ends it
                await anyio.sleep(0.005)
            await self._answer(effect)
        finally:
            self._finish()

    async def _answer(self, effect: Effect | None) -> None:
        match effect:
            case Reset(after=False):
                await self.wire.reset()
            case Hang(after=False):
                await self.wire.gone()
            case Endless():
                self.exchange.status = 200
                await send_endless(self.wire, effect)
            case Reply():
                self.exchange.status = effect.status
                headers = {"content-type": effect.content_type, **effect.headers}
                await self.wire.answer(text_answer(effect.body, effect.status, headers))
            case _:
                await self._let_forge_answer(effect)

    async def _let_forge_answer(self, effect: Effect | None) -> None:
        with self.forge.lock:
            answer = self._handle()
        self.exchange.status = answer.status
        match effect:
            case Reset():
                await self.wire.reset()
            case Hang():
                await self.wire.gone()
            case _:
                await send_answer(self.wire, answer, effect)

    def _handle(self) -> Answer:
        match = self.match
        if match is None:
            return no_such_route()
        endpoint = _endpoint(match, self.exchange.method)
        if endpoint is None:
            return text_answer("", 405)
        if endpoint.batch and not self.forge.dialect.batches:
            return no_such_route()
        call = Call(self.forge, self.exchange, match.params, endpoint.query, self.token)
        try:
            if self.credential is not None and self.token is None:
                raise refused(call, 401, "user does not exist [uid: 0, name: ]")
            _check_scopes(call, endpoint)
            return endpoint.handler(call)
        except Refused as refusal:
            return refusal.answer


def _endpoint(match: Match, method: str) -> Endpoint | None:
    return match.by_method.get("GET" if method == "HEAD" else method)


def _credential(authorization: str) -> str | None:
    kind, _, value = authorization.partition(" ")
    return value.strip() if kind.lower() in {"token", "bearer"} else None


def _check_scopes(call: Call, endpoint: Endpoint) -> None:
    """Refuse a token without the scopes that the endpoint needs; without a token there is nothing to check."""
    if call.token is None:
        return
    for group in endpoint.required():
        if not all(call.token.covers(scope) for scope in group):
            needed = " ".join(group)
            told = f", required=[{needed}], token scope={call.token.named}"
            ending = told if call.forge.dialect.tells_scopes else f": [{needed}]"
            raise refused(call, 403, f"token does not have at least one of required scope(s){ending}")
