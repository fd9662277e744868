"""``gateway projects``: an empty list says why."""

from __future__ import annotations

from tests.support.cli import Home, Inside, Outcome


def test_before_the_first_sync_the_remedy_is_told(home: Home, run: Inside) -> None:
    home.with_fleet()
    assert run("projects") == Outcome(0, "", "gateway: no project is known yet — run gateway sync\n")


def test_a_word_that_is_in_no_name_is_told(home: Home, run: Inside) -> None:
    home.with_fleet()
    run("sync")
    assert run("projects", "zeppelin") == Outcome(0, "", "gateway: no project has 'zeppelin' in its name\n")
