"""How many requests are held open at once."""

from __future__ import annotations

import anyio
import httpx2
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from gateway.transports.bounded import Bounded

pytestmark = pytest.mark.anyio


async def test_one_too_many_is_told_so_and_served_when_another_has_gone() -> None:
    go_on = anyio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await go_on.wait()
        if scope["path"] == "/fails":
            raise ValueError
        await PlainTextResponse("done")(scope, receive, send)

    transport = httpx2.ASGITransport(Bounded(slow, 2), raise_app_exceptions=False)
    async with (
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        anyio.create_task_group() as group,
    ):
        for path in ("/", "/fails"):
            group.start_soon(client.get, path)
        await anyio.wait_all_tasks_blocked()
        refused = await client.get("/")
        assert refused.status_code == 503
        assert refused.json() == {"error": "unavailable: too many requests at once — try again later"}
        go_on.set()
        await anyio.wait_all_tasks_blocked()
        for _ in range(3):
            assert (await client.get("/")).text == "done"
