"""A forge that answers nonsense, never ends, hangs or goes away, as a whole sync lives through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cache.store import SqliteStore
from sync.credentials import TokenSource
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient, HttpSettings
from sync.worker import SyncReport, sync_forge
from tests.fake_gitea import (
    CutBody,
    Endless,
    FakeGitea,
    Gzip,
    Hang,
    Json,
    Reset,
    Server,
    Trickle,
    listen,
    too_many,
    unavailable,
    web_page,
)
from tests.fake_gitea.faults import Effect, When
from tests.support.gitea_fleet import INDEX, wiki
from tests.support.installation import TOKEN, Installation, filled, forge_with

REPOSITORIES = {f"acme/r{number}": wiki("Yarn", "Caching") for number in range(10)}
NONSENSE: dict[str, tuple[Effect, str]] = {
    "acme/r1": (web_page(), "HTML where the API's answer was expected"),
    "acme/r2": (Endless(), "far too much where the API's answer was expected"),
    "acme/r3": (Endless(chunk="\0" * 4096, content_type="text/html"), "far too much where"),
    "acme/r4": (CutBody(), "connection closed before the answer was whole"),
    "acme/r5": (Gzip(cut=5), "gzip that ends early"),
    "acme/r6": (Json([[]]), "no object where the API's answer was expected"),
    "acme/r7": (Reset(), "connection"),
}


@pytest.fixture
def server(forge_process: Server) -> Server:
    return filled(forge_process, REPOSITORIES)


@pytest.fixture
def home(installation: Installation, server: Server) -> Installation:
    installation.configure(server)
    return installation


def test_nonsense_is_told_for_each_project_and_the_others_are_done(home: Installation, server: Server) -> None:
    for name, (effect, _) in NONSENSE.items():
        server.add_fault(effect, When(path=f"/repos/{name}/git/*"))
    shown = home.run("sync")
    assert (shown.code, len(shown.out.splitlines())) == (3, 1)
    lines = shown.err.splitlines()
    assert [line.split(": ")[0] for line in lines] == list(NONSENSE)
    for line, (_, why) in zip(lines, NONSENSE.values(), strict=True):
        assert why in line
    assert {
        name for name, project in home.content().items() if project["state"] == "ok"
    } == REPOSITORIES.keys() - NONSENSE
    server.clear_faults()
    home.expect_silent_sync()
    assert {project["state"] for project in home.content().values()} == {"ok"}


def test_a_restart_that_refuses_at_first_is_not_noticed(home: Installation, server: Server) -> None:
    """As a proxy answers while the forge behind it starts."""
    server.add_fault(unavailable("1"), When(skip=4, times=3))
    server.add_fault(too_many("1"), When(skip=12, times=2))
    home.expect_silent_sync()


def test_a_refused_token_is_one_line_and_keeps_what_is_known(home: Installation, server: Server) -> None:
    home.fill()
    server.run(FakeGitea.revoke, TOKEN)
    shown = home.run("sync")
    assert shown.code == 4
    assert "token refused by 127.0.0.1" in shown.err
    assert shown.err.endswith("run gateway doctor\n")
    assert len(home.content()) == len(REPOSITORIES)


@pytest.mark.full
def test_a_forge_that_is_down_is_waited_for_and_then_told(home: Installation, server: Server) -> None:
    home.fill()
    server.stop()
    shown = home.run("sync")
    assert shown.code == 4
    assert "unreachable: connection refused" in shown.err
    assert len(home.content()) == len(REPOSITORIES)
    asked = home.run("ask", "yarn", "-p", "acme/r3")
    assert "unreachable: connection refused" in asked.out + asked.err
    server.start()
    home.expect_silent_sync()


@pytest.mark.anyio
@pytest.mark.parametrize("effect", [Hang(), Trickle(pause=0.02)], ids=["hangs", "trickles"])
async def test_a_project_whose_answer_does_not_come_fails_alone(tmp_path: Path, effect: Effect) -> None:
    forge = forge_with(REPOSITORIES)
    forge.faults.add(effect, path="/repos/acme/r1/git/*")
    report = await _synced(forge, tmp_path, HttpSettings(idle_timeout=1.0, attempt_timeout=1.5))
    assert [failure.project for failure in report.failed] == ["acme/r1"]
    assert "timed out" in report.failed[0].reason
    assert report.changed == len(REPOSITORIES) - 1


async def _synced(forge: FakeGitea, folder: Path, settings: HttpSettings) -> SyncReport:
    store = SqliteStore(folder / "cache.db", on_notice=print)
    with listen(forge) as url:
        client = GiteaForge("main", HttpClient(settings), GiteaSettings(url, token=TokenSource(token=TOKEN)))
        try:
            return await sync_forge(client, store, INDEX, clock=lambda: 1_900_000_000.0)
        finally:
            await client.aclose()
            store.close()
