"""Several processes on one cache: two syncs, and gateways that read while one writes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.fake_gitea import FakeGitea, Hang, Server
from tests.fake_gitea.faults import When
from tests.support.cli import Outcome
from tests.support.gitea_fleet import wiki
from tests.support.installation import Installation, asked, filled, wait_until
from tests.support.stdio_process import StdioProcess, call

PAGES = tuple(f"Page {number}" for number in range(6))
REPOSITORIES = {f"acme/r{number}": wiki(*PAGES, about=f"of yarn {number}") for number in range(12)}
MIRRORED = '[sync]\npages = "all"\n[wiki]\nshared = "acme/r0"\n'
BUSY = Outcome(75, "", "gateway: another sync is running on this cache — try again when it is done\n")


@pytest.fixture
def server(forge_process: Server) -> Server:
    return filled(forge_process, REPOSITORIES)


@pytest.fixture
def home(installation: Installation, server: Server) -> Installation:
    installation.configure(server, MIRRORED)
    return installation


def test_of_two_syncs_one_goes_on_and_the_other_says_so(home: Installation, server: Server) -> None:
    """The forge is restarted in the middle of the first, which sits it out."""
    server.add_fault(Hang(), When(skip=9))
    first = home.start("sync")
    wait_until(lambda: server.run(asked) > 9)
    assert home.run("sync") == BUSY
    assert not first.ended
    server.clear_faults()
    server.stop()
    server.start()
    assert first.outcome() == Outcome(0, "", "")
    home.expect_sound_cache()
    assert home.everything() == home.undisturbed(server, MIRRORED)


def test_the_lease_of_one_that_was_killed_is_free_at_once(home: Installation, server: Server) -> None:
    server.add_fault(Hang())
    first = home.start("sync")
    wait_until(lambda: server.run(asked) > 0)
    assert home.run("sync") == BUSY
    first.kill()
    server.clear_faults()
    home.expect_silent_sync()


@pytest.mark.parametrize("syncs", [1, pytest.param(10, marks=pytest.mark.full)])
def test_four_gateways_read_while_one_syncs(home: Installation, server: Server, syncs: int) -> None:
    """Each answer is whole: all pages of a project as they were before a push, or as they are after it."""
    home.fill()
    over = threading.Event()
    readers = [Reader(home, number, over) for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        reading = [threads.submit(reader.read_on) for reader in readers]
        try:
            wait_until(lambda: any(each.done() for each in reading) or all(reader.rounds for reader in readers))
            for number in range(syncs):
                for name in REPOSITORIES:
                    server.run(FakeGitea.commit, name, {f".wiki/concepts/late-{number}.md": f"# Late yarn {number}\n"})
                home.expect_silent_sync()
        finally:
            over.set()
        for each in reading:
            each.result()
    home.expect_silent_sync()
    home.expect_sound_cache()
    assert home.everything() == home.undisturbed(server, MIRRORED)


@dataclass
class Reader:
    """Asks a gateway of its own again and again until it is ``over``; ``rounds`` is how often."""

    home: Installation
    number: int
    over: threading.Event
    rounds: int = 0

    def read_on(self) -> None:
        log = self.home.folder / "output" / f"reader-{self.number}.err"
        log.parent.mkdir(exist_ok=True)
        with StdioProcess(log, self.home.command("serve"), env=self.home.environ) as gateway:
            gateway.handshake()
            while not self.over.is_set():
                answers = [gateway.ask(request)["result"] for request in questions(self.rounds)]
                for answer in answers:
                    assert not answer.get("isError"), answer
                expect_whole(answers[0]["structuredContent"])
                self.rounds += 1
            gateway.end_input()
            assert gateway.exit_code() == 0
        assert log.read_text() == ""


def questions(number: int) -> list[dict[str, Any]]:
    projects = [f"acme/r{(number + step) % len(REPOSITORIES)}" for step in range(3)]
    return [
        call(5 * number, "knowledge.ask_projects", query="yarn", projects=projects, limit=20),
        call(5 * number + 1, "knowledge.get_from", project=projects[0], slug="concepts/page-1"),
        call(5 * number + 2, "knowledge.search", query="yarn"),
        call(5 * number + 3, "projects.list"),
        call(5 * number + 4, "knowledge.list", project=projects[1]),
    ]


def expect_whole(answer: dict[str, Any]) -> None:
    for entry in answer["results"]:
        assert "error" not in entry, entry
        assert "warning" not in entry, entry
        slugs = [match["slug"] for match in entry["matches"]]
        late = [slug for slug in slugs if slug.startswith("concepts/late-")]
        assert len(slugs) == len(PAGES) + len(late)
        assert sorted(late) == [f"concepts/late-{number}" for number in range(len(late))]
