"""A Gitea that goes down and comes back, as those see it who ask in the meantime."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx2
import pytest

from cache.model import ProjectState
from cache.store import SqliteStore
from gateway.answers import AskAnswer, ProjectError, ProjectMatches
from gateway.federation import Federation, Policy
from gateway.reading import PageRequest
from sync.admission import Timing
from sync.credentials import TokenSource
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient, HttpSettings
from sync.worker import SyncReport, sync_forge
from tests.fake_gitea import FakeGitea, Server, serve
from tests.support.gitea_client import ALICE, fake_forge
from tests.support.gitea_fleet import INDEX, MIRRORED, Clock, wiki

pytestmark = pytest.mark.anyio

TEN = [f"acme/r{number}" for number in range(10)]
FILES = wiki("Yarn exec", "Yarn cache", about="runs on Windows")
BOUND = 10  # seconds within which a forge that is down is answered for, on any machine


class Counting(httpx2.AsyncBaseTransport):
    """The network, with the number of requests that were tried on it."""

    def __init__(self) -> None:
        self.attempts = 0
        self._network = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.attempts += 1
        return await self._network.handle_async_request(request)

    async def aclose(self) -> None:
        await self._network.aclose()


@dataclass
class Remote:
    """A forge in a process of its own and a gateway that asks it; ``later`` are seconds that its clocks are ahead."""

    server: Server
    store: SqliteStore
    clock: Clock
    network: Counting = field(default_factory=Counting)
    later: float = 0.0

    def __post_init__(self) -> None:
        timing = Timing(clock=lambda: time.monotonic() + self.later)
        http = HttpClient(HttpSettings(), timing=timing, transport=self.network)
        self.forge = GiteaForge("main", http, GiteaSettings(self.server.url, token=TokenSource(token=ALICE)))
        self.federation = Federation(self.store, {"main": self.forge}, Policy(), clock=self.clock)

    async def sync(self) -> SyncReport:
        return await sync_forge(self.forge, self.store, MIRRORED, clock=self.clock)

    async def ask(self, projects: Sequence[str] = TEN) -> AskAnswer:
        with anyio.fail_after(BOUND):
            return await self.federation.ask_projects("yarn", projects)

    def pass_time(self, seconds: float) -> None:
        self.later += seconds
        self.clock.now += seconds


@pytest.fixture
async def remote(tmp_path: Path) -> AsyncIterator[Remote]:
    forge, clock = fake_forge(), Clock()
    for name in TEN:
        forge.add_repo(name, FILES)
    store = SqliteStore(tmp_path / "cache.db", clock=clock, on_notice=print)
    with serve(forge) as server:
        remote = Remote(server, store, clock)
        assert (await remote.sync()).complete
        yield remote
        await remote.network.aclose()
        store.close()


def expect_copies(answer: AskAnswer, *, age_s: int) -> None:
    for found in answer.results:
        assert isinstance(found, ProjectMatches)
        assert found.warning is not None
        assert "unreachable: connection refused" in found.warning
        assert found.warning.endswith(f"copies are {age_s} s old")
        assert len(found.matches) == 2
        assert all(match.stale and "on Windows" in match.snippet for match in found.matches)
        assert [match.age_s for match in found.matches] == [age_s] * 2


async def test_copies_answer_with_their_age_and_it_is_found_out_once(remote: Remote) -> None:
    remote.server.stop()
    remote.clock.now += 90
    remote.network.attempts = 0
    expect_copies(await remote.ask(), age_s=90)
    tried = remote.network.attempts
    assert tried <= 8 + 2  # those that were under way together, and a probe or two while it may be coming back
    expect_copies(await remote.ask(), age_s=90)
    page = await remote.federation.get_from("acme/r3", PageRequest("concepts/yarn-exec"))
    assert (page.text, page.stale, page.age_s) == (FILES[".wiki/concepts/yarn-exec.md"], True, 90)
    assert remote.network.attempts == tried


async def test_one_probe_at_a_time_asks_whether_it_is_back(remote: Remote) -> None:
    remote.server.stop()
    await remote.ask()
    for _ in range(3):
        remote.pass_time(60)
        remote.network.attempts = 0
        await remote.ask()
        assert remote.network.attempts == 1


async def test_what_has_no_copy_is_an_error_that_says_why(remote: Remote) -> None:
    assert (await sync_forge(remote.forge, remote.store, INDEX, clock=remote.clock)).complete
    remote.server.stop()
    for found in (await remote.ask()).results:
        assert isinstance(found, ProjectError)
        assert found.error == f"{remote.forge.host} unreachable: connection refused"


async def test_the_first_success_clears_every_trace(remote: Remote) -> None:
    before = await remote.ask()
    remote.server.stop()
    await remote.ask()
    remote.pass_time(1)
    failed = await remote.sync()
    assert failed.listing_error is not None
    assert "connection refused" in failed.listing_error
    remote.server.start()
    remote.pass_time(60)
    assert await remote.ask() == before
    page = await remote.federation.get_from("acme/r3", PageRequest("concepts/yarn-exec"))
    assert (page.stale, page.age_s) == (False, 0)
    assert all(project.state is ProjectState.OK for project in remote.store.projects(limit=100))
    remote.server.reset_counts()
    report = await remote.sync()
    assert (report.complete, report.changed) == (True, 0)


async def test_a_refresh_that_failed_leaves_no_trace_after_one_that_did_not(remote: Remote) -> None:
    remote.server.stop()
    with pytest.raises(Exception, match="connection refused"):
        await remote.federation.refresh("acme/r3")
    assert (await remote.federation.projects("r3")).projects[0].state.startswith("failed:")
    remote.server.start()
    remote.server.run(FakeGitea.commit, "acme/r3", {".wiki/late.md": "# Late\n"})
    remote.pass_time(60)
    entry = await remote.federation.refresh("acme/r3")
    assert (entry.state, entry.pages) == ("ok", 3)
