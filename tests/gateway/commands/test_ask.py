"""``gateway ask`` and ``search``: how a question is typed, and what the exit code says."""

from __future__ import annotations

import shutil

import pytest

from tests.support.cli import Home, Inside


@pytest.fixture
def synced(home: Home, run: Inside) -> Inside:
    home.with_fleet()
    assert run("sync").code == 0
    return run


def break_repository(home: Home, name: str) -> None:
    objects = home.path / "src" / name / ".git" / "objects"
    shutil.rmtree(objects)
    objects.mkdir()


@pytest.mark.parametrize(
    "args",
    [["ask", "windows", "yarn", "-p", "web"], ["ask", "yarn", "-p", "web", "api"], ["search", "release", "list"]],
)
def test_words_beyond_the_question_are_told_what_they_lack(run: Inside, args: list[str]) -> None:
    shown = run(*args)
    assert (shown.code, shown.out) == (2, "")
    assert "put a question of several words in quotes" in shown.err


@pytest.mark.parametrize(
    ("projects", "expected"),
    [
        (["web", "lost"], 0),  # somebody knows
        (["payments", "legacy-billing"], 1),  # none has it, one because it has no wiki
        (["payments", "lost"], 3),  # who knows what the misspelt one has
    ],
)
def test_nothing_is_certain_only_if_all_were_asked(synced: Inside, projects: list[str], expected: int) -> None:
    named = [word for project in projects for word in ("-p", project)]
    assert synced("ask", "windows yarn", *named).code == expected


def test_a_project_that_cannot_be_read_is_no_miss(home: Home, run: Inside) -> None:
    home.with_fleet()
    break_repository(home, "acme/web")
    run("sync")
    shown = run("ask", "zeppelin", "-p", "web", "-p", "payments")
    assert shown.code == 3
    assert "cannot be read" in shown.out


@pytest.mark.parametrize("args", [["", "-p", "web"], [" ", "-p", "web"], ["x", "-p", ""], ["x", "-p", "acme/*"]])
def test_words_that_say_nothing_are_a_slip_of_usage(synced: Inside, args: list[str]) -> None:
    shown = synced("ask", *args)
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1)
