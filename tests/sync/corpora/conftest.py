"""A SwarmKit checkout that tests may read, and one that they may change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.swarmkit_repo import make_repo


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """To be read only."""
    return make_repo(tmp_path_factory.mktemp("swarmkit"))
