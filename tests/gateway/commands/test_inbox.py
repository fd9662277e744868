"""``gateway inbox``: what it lists and shows, and where it files an entry."""

from __future__ import annotations

import pytest

from tests.support.cli import Home, Inside, Outcome
from tests.support.knowledge_base import STAMP, knowledge_base, put, snapshot


@pytest.fixture
def inbox(home: Home, run: Inside) -> Inside:
    """With two entries, of which one suggests a document that is there."""
    put(home.path, {"kb/knowledge/api/x.md": "# X\n\n## A\n"})
    home.configure('[engineering]\nroot = "~/kb"\n')
    base = knowledge_base(home.path / "kb")
    base.capture("# Limits\n\nsixty\x1b a minute", "api/x")
    base.capture("word " * 40, None)
    return run


def test_it_lists_entries_with_their_numbers(inbox: Inside) -> None:
    shown = inbox("inbox")
    assert shown.code == 0
    first, second = shown.out.splitlines()
    assert first == f"1  {STAMP}  [api/x]  ### Limits sixty\N{REPLACEMENT CHARACTER} a minute"
    assert second.startswith(f"2  {STAMP}  word word")
    assert second.endswith("…")


def test_it_shows_one(inbox: Inside) -> None:
    assert inbox("inbox", "1") == Outcome(0, "### Limits\n\nsixty\N{REPLACEMENT CHARACTER} a minute\n", "")


def test_it_files_one_under_a_heading_of_what_it_suggests(inbox: Inside, home: Home) -> None:
    assert inbox("inbox", "1", "--heading", "A") == Outcome(0, "filed in knowledge/api/x.md\n", "")
    assert snapshot(home.path / "kb")["knowledge/api/x.md"].startswith(b"# X\n\n## A\n\n### Limits\n")
    assert inbox("inbox").out.startswith(f"1  {STAMP}  word")


def test_it_files_one_as_a_new_document(inbox: Inside, home: Home) -> None:
    done = inbox("inbox", "2", "--topic", "api/words", "--title", "Words")
    assert done == Outcome(0, "filed in knowledge/api/words.md\n", "")
    assert (home.path / "kb/knowledge/api/words.md").read_text().startswith("# Words\n\nword word")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["3"], 3, "the inbox has no entry 3 — it has 2"),
        (["0"], 2, "should be greater than or equal to 1"),
        (["--heading", "A"], 2, "say which entry"),
        (["2", "--heading", "A"], 2, "the entry suggests no topic — name one with --topic"),
        (["1", "--topic", "api/x"], 2, "say where it goes: --heading"),
        (["1", "--topic", "nope", "--heading", "A"], 3, "no knowledge document found matching 'nope'"),
        (["1", "--topic", "../x", "--title", "X"], 2, "topic: .. begins with a dot"),
    ],
)
def test_what_cannot_be_done_is_said(inbox: Inside, home: Home, args: list[str], code: int, said: str) -> None:
    before = snapshot(home.path / "kb")
    shown = inbox("inbox", *args)
    assert shown.code == code
    assert said in shown.err
    assert snapshot(home.path / "kb") == before


def test_an_empty_one_says_so(home: Home, run: Inside) -> None:
    (home.path / "kb").mkdir()
    assert run("inbox", "--root", "kb") == Outcome(0, "nothing to file\n", "")
