"""What every test shares: the one event loop backend, and a place for what whole processes write."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_gitea import FakeGitea, Server, serve
from tests.support.installation import Installation
from tests.support.leaks import files_below, holding


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def forge_process() -> Iterator[Server]:
    """A fake forge in a process of its own, which every test fills anew (see ``tests.support.installation.filled``)."""
    with serve(FakeGitea()) as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def no_token_written(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """At the end of a session (of one process, where several share the tests) the token stands in nothing that
    installations wrote in it, nor in any cache that any test left."""
    yield
    caches = [path for path in tmp_path_factory.getbasetemp().rglob("*.db*") if path.is_file()]
    assert holding([*files_below(written), *caches]) == []


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
