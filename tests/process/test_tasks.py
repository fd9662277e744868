"""Several gateways at once, in processes of their own, that file the same text on a forge."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.fake_gitea import FakeGitea, Hang, Server
from tests.fake_gitea.faults import When
from tests.fake_gitea.state import Issue
from tests.support.cli import Outcome
from tests.support.installation import Installation, filled, wait_until

TEXT = "Say in the wiki how yarn runs on Windows"


@pytest.fixture
def forge(forge_process: Server) -> Server:
    server = filled(forge_process, {"acme/web": {"README.md": "# Web\n"}})
    server.run(set_clock, datetime.now(UTC))
    return server


def set_clock(forge: FakeGitea, now: datetime) -> None:
    forge.clock.now = now


def issues(forge: FakeGitea) -> list[Issue]:
    return list(forge.repo("acme/web").issues.values())


def test_with_one_cache_they_file_one_issue_between_them(installation: Installation, forge: Server) -> None:
    installation.configure(forge)
    installation.fill()
    outcomes = [running.outcome() for running in [installation.start("task", "web", TEXT) for _ in range(3)]]
    url = f"  {forge.url}acme/web/issues/1\n"
    assert sorted(outcomes, key=str) == [
        *[Outcome(0, f"acme/web#1  filed before\n{url}", "")] * 2,
        Outcome(0, f"acme/web#1  filed\n{url}", ""),
    ]
    assert [issue.title for issue in forge.run(issues)] == [TEXT]


def test_one_that_was_killed_while_it_filed_is_made_up_for(installation: Installation, forge: Server) -> None:
    installation.configure(forge)
    installation.fill()
    forge.add_fault(Hang(after=True), When(method="POST", route="*/issues", times=1))
    running = installation.start("task", "web", TEXT)
    wait_until(lambda: running.ended or len(forge.run(issues)) == 1)
    running.kill()
    assert installation.run("task", "web", TEXT).out.startswith("acme/web#1  filed before\n")
    assert len(forge.run(issues)) == 1
