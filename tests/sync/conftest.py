"""A small fleet on a Gitea."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.gitea_client import fake_forge
from tests.support.gitea_fleet import PLAIN, GiteaFleet, fleet_on, wiki


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[GiteaFleet]:
    """Three projects, not synced yet: one with wiki and STATUS, one with a wiki alone, one with neither."""
    repositories = {"acme/web": wiki("Yarn", "Caching"), "acme/api": wiki("Limits", status=None), "acme/tool": PLAIN}
    async with fleet_on(fake_forge(), tmp_path, repositories=repositories) as fleet:
        yield fleet
