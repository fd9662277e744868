"""What every test shares: the one event loop backend, and a place for what whole processes write."""

from pathlib import Path

import pytest

from tests.support.installation import Installation


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of everything that installations write in this session."""
    return tmp_path_factory.mktemp("written")


@pytest.fixture
def installation(tmp_path: Path, written: Path, request: pytest.FixtureRequest) -> Installation:
    """One with nothing in it. Its configuration, which may hold the token, lies elsewhere than what it writes."""
    folder = written / f"{len(list(written.iterdir())):03}-{request.function.__name__}"
    (folder / "home").mkdir(parents=True)
    return Installation(tmp_path / "auth.toml", folder)
