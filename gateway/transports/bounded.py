"""No more requests at once than there is memory for."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Bounded:
    """``app`` for at most ``most`` requests at once; further ones are told so (503) instead of held."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._places = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._places:
            busy = JSONResponse({"error": "unavailable: too many requests at once — try again later"}, 503)
            await busy(scope, receive, send)
            return
        self._places -= 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._places += 1
