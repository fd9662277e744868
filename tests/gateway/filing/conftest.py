"""A forge that knows what time it is, with a repository to file tasks in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cache.store import SqliteStore
from tests.support.filing import Desk
from tests.support.gitea_client import fake_forge
from tests.support.gitea_fleet import NOW, PLAIN, fleet_on


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    forge = fake_forge()
    forge.clock.now = datetime.fromtimestamp(NOW, UTC)
    async with fleet_on(forge, tmp_path, repositories={"acme/web": PLAIN}) as fleet:
        await fleet.sync()
        forge.reset_counts()
        yield Desk(fleet)


@pytest.fixture
def elsewhere(desk: Desk, tmp_path: Path) -> Iterator[Desk]:
    """The same with a cache of its own."""
    store = SqliteStore(tmp_path / "other.db", clock=desk.fleet.clock, on_notice=print)
    try:
        yield replace(desk, store=store)
    finally:
        store.close()
