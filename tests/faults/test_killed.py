"""A sync that is killed, at any moment, and started again."""

from __future__ import annotations

import random
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.fake_gitea import FakeGitea, Hang, Server
from tests.fake_gitea.faults import When
from tests.support.gitea_fleet import LISTING, PLAIN, TREE, wiki
from tests.support.installation import Installation, Running, asked, filled, wait_until

MIRRORED = '[sync]\npages = "all"\n'
PAGES = tuple(f"Page {number}" for number in range(8))
REPOSITORIES = {
    f"acme/r{number:02}": wiki(*PAGES, about=f"of {number}") if number % 4 else PLAIN for number in range(24)
}


@pytest.fixture
def server(forge_process: Server) -> Server:
    return filled(forge_process, REPOSITORIES)


@pytest.fixture
def home(installation: Installation, server: Server) -> Installation:
    installation.configure(server, MIRRORED)
    return installation


def stopped_at(server: Server, home: Installation, answers: int) -> Running:
    """A sync to whose first ``answers`` requests the forge has an answer, and to no other."""
    server.clear_faults()
    server.reset_counts()
    server.add_fault(Hang(), When(skip=answers))
    running = home.start("sync")
    wait_until(lambda: running.ended or server.run(asked) > answers)
    return running


def test_at_many_moments_it_goes_on_where_it_was(home: Installation, server: Server) -> None:
    for answers in (1, 6, 40):
        running = stopped_at(server, home, answers)
        assert not running.ended
        running.kill()
    server.clear_faults()
    server.reset_counts()
    with home.store() as store:
        done = len(store.projects(limit=100))
    assert 0 < done < 24
    home.expect_silent_sync()
    heads = [exchange for exchange in server.requests if exchange.key == TREE and exchange.path.endswith("/main")]
    assert len(heads) == 24 - done
    home.expect_sound_cache()
    assert home.everything() == home.undisturbed(server, MIRRORED)
    server.reset_counts()
    home.expect_silent_sync()
    assert server.counts == {LISTING: 1}


def test_while_it_writes_it_leaves_whole_projects(home: Installation, server: Server) -> None:
    """The write-ahead log tells how far it has come."""
    log = Path(f"{home.cache}-wal")
    for size in (60_000, 180_000):
        running = home.start("sync")
        wait_until(partial(_ended_or_larger, running, log, size))
        running.kill()
        home.expect_sound_cache()
        with home.store() as store:
            for project in store.projects(limit=100):
                held = store.bodies(project.key, {page.sha for page in store.pages(project.key)})
                assert len(held) == project.pages in (0, len(PAGES))
    home.expect_silent_sync()
    assert home.everything() == home.undisturbed(server, MIRRORED)


def test_while_it_brings_news_the_old_or_the_new_is_there(home: Installation, server: Server) -> None:
    home.fill()
    for name in REPOSITORIES:
        server.run(FakeGitea.commit, name, {".wiki/concepts/page-3.md": "# New\n", ".wiki/concepts/page-4.md": None})
    server.run(FakeGitea.rename, "acme/r01", "acme/s01")
    server.run(FakeGitea.remove, "acme/r02")
    stopped_at(server, home, 40).kill()
    with home.store() as store:
        for project in store.projects(limit=100):
            slugs = {page.slug for page in store.pages(project.key)}
            texts = store.bodies(project.key, {page.sha for page in store.pages(project.key)}).values()
            assert not slugs or ("concepts/page-4" in slugs) != ("# New\n" in texts)
    server.clear_faults()
    home.expect_silent_sync()
    assert home.everything() == home.undisturbed(server, MIRRORED)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_at_random_moments(home: Installation, server: Server, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    names = list(REPOSITORIES)
    for number in range(25):
        server.run(FakeGitea.commit, dice.choice(names), {f".wiki/concepts/late-{number}.md": f"# Late {number}\n"})
        running = home.start("sync")
        with suppress(subprocess.TimeoutExpired):
            running.process.wait(dice.uniform(0.3, 1.5))
        running.kill()
    home.expect_sound_cache()
    home.expect_silent_sync()
    home.expect_silent_sync()
    assert home.everything() == home.undisturbed(server, MIRRORED)


def _ended_or_larger(running: Running, file: Path, size: int) -> bool:
    try:
        return running.ended or file.stat().st_size > size
    except FileNotFoundError:
        return False
