"""A home to run the command line in."""

from pathlib import Path

import pytest

from tests.support.cli import Home, Inside, move_in


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home")


@pytest.fixture
def run(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Inside:
    move_in(home, monkeypatch)
    return Inside(home, capfd)
