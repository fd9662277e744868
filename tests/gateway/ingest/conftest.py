"""A forge with a small wiki to write pages into."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.federation import Policy
from tests.support.gitea_client import fake_forge
from tests.support.gitea_fleet import MIRRORED, fleet_on
from tests.support.ingesting import WIKI, Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with fleet_on(fake_forge(), tmp_path, repositories={"acme/web": WIKI}, settings=MIRRORED) as fleet:
        fleet.policy = Policy(shared="acme/web")
        await fleet.sync()
        fleet.forge.reset_counts()
        yield Desk(fleet)
