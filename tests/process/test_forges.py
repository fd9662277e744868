"""Several forges in one cache, and a sync that stays."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.fake_gitea import FakeGitea, Hang, Reset, Server, serve, web_page
from tests.fake_gitea.faults import When
from tests.support.cli import Outcome
from tests.support.gitea_fleet import wiki
from tests.support.installation import TOKEN, Installation, asked, filled, forge_with, wait_until


@pytest.fixture
def one(forge_process: Server) -> Server:
    return filled(forge_process, {f"acme/r{number}": wiki("Yarn") for number in range(9)})


@pytest.fixture
def two() -> Iterator[Server]:
    with serve(forge_with({"acme/r1": wiki("Other")})) as server:
        yield server


def test_the_same_name_on_two_forges_is_two_projects_and_each_forge_fails_alone(
    installation: Installation, one: Server, two: Server
) -> None:
    forges = {"one": one, "two": two}
    sections = [f'[forges.{name}]\nurl = "{server.url}"\ntoken = "{TOKEN}"\n' for name, server in forges.items()]
    installation.config.write_text("".join(sections) + f'[cache]\nfile = "{installation.cache}"\n')
    installation.expect_silent_sync()
    shown = installation.run("ask", "other", "-p", "acme/r1")
    assert shown.code == 3
    assert "ambiguous project — one of: one:acme/r1, two:acme/r1" in shown.out
    assert "concepts/other" in installation.run("ask", "other", "-p", "two:acme/r1").out
    one.add_fault(Reset())
    two.run(FakeGitea.commit, "acme/r1", {".wiki/late.md": "# Late\n"})
    shown = installation.run("sync")
    assert shown.code == 4
    assert shown.err.startswith("cannot list one: ")
    pages = {name: len(project["pages"]) for name, project in installation.content().items()}  # type: ignore[arg-type]
    assert pages == {"two:acme/r1": 2, **{f"one:acme/r{number}": 1 for number in range(9)}}


def test_one_that_stays_goes_on_after_a_failure_and_ends_when_asked_to(installation: Installation, one: Server) -> None:
    installation.configure(one)
    one.add_fault(web_page(503), When(times=3))  # the first listing, with what is tried again
    running = installation.start("sync", "--watch", "1s")
    wait_until(lambda: running.ended or one.run(asked) > 3 + 3 * 9)
    one.run(FakeGitea.commit, "acme/r1", {".wiki/late.md": "# Late\n"})
    before = one.run(asked)
    wait_until(lambda: running.ended or one.run(asked) > before + 4)
    running.process.send_signal(signal.SIGTERM)
    outcome = running.outcome()
    assert outcome.code == 0
    assert outcome.err.startswith("cannot list default: ")
    assert outcome.err.count("\n") == 1
    assert len(installation.content()["acme/r1"]["pages"]) == 2  # type: ignore[arg-type]


def test_one_that_is_interrupted_ends_without_a_word(installation: Installation, one: Server) -> None:
    installation.configure(one)
    one.add_fault(Hang(), When(skip=6))
    running = installation.start("sync")
    wait_until(lambda: running.ended or one.run(asked) > 6)
    running.process.send_signal(signal.SIGINT)
    assert running.outcome() == Outcome(130, "", "")
    one.clear_faults()
    installation.expect_silent_sync()
