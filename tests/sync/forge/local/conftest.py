"""What the tests of the local forge share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.local_forge import Asked


@pytest.fixture
def asked(repo: Path) -> Asked:
    """The repository that the test's own ``repo`` made."""
    return Asked(repo)
