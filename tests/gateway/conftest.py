"""A home to run the command line in, and a fleet on a Gitea to ask."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.cli import Home, Inside, move_in
from tests.support.gitea_client import fake_forge
from tests.support.gitea_fleet import MIRRORED, GiteaFleet, fleet_on
from tests.support.ten_projects import FLEET


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home")


@pytest.fixture
def run(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Inside:
    move_in(home, monkeypatch)
    return Inside(home, capfd)


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[GiteaFleet]:
    """Ten projects of six pages that answer "yarn"; the cache has no bodies."""
    async with fleet_on(fake_forge(), tmp_path, repositories=FLEET) as fleet:
        await fleet.expect_complete()
        fleet.forge.reset_counts()
        yield fleet


@pytest.fixture
async def mirrored(tmp_path: Path) -> AsyncIterator[GiteaFleet]:
    """The same with all bodies in the cache."""
    async with fleet_on(fake_forge(), tmp_path, repositories=FLEET, settings=MIRRORED) as fleet:
        await fleet.expect_complete()
        fleet.forge.reset_counts()
        yield fleet
