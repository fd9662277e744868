"""What a sync tells of itself."""

from __future__ import annotations

import io
import json

from rich.console import Console

from gateway import progress
from gateway.exits import Exit
from gateway.syncing import exit_code
from sync.worker import Failure, SyncReport

FAILED = SyncReport(
    "work", 1.25, listed=9, changed=2, unchanged=5, failed=(Failure("a/x", "why"), Failure("a/y", "so"))
)


def test_the_summary_leaves_out_what_did_not_happen() -> None:
    assert progress.summary([SyncReport("default", 0.04, listed=3, changed=3)]) == "3 projects in 0.0 s, 3 read"


def test_the_summary_of_several_forges_names_them() -> None:
    unlisted = SyncReport("home", 2.0, removed=1, renamed=2, no_wiki=1, listing_error="it is gone")
    assert progress.summary([FAILED, unlisted]) == (
        "work: 9 projects in 1.2 s, 2 read, 5 unchanged, 2 failed; "
        "home: 0 projects in 2.0 s, 0 read, 1 of those read have no wiki, 2 renamed, 1 gone, listing failed"
    )


def test_the_exit_code_tells_the_worst() -> None:
    fine, unlisted = SyncReport("a", 1.0), SyncReport("b", 1.0, listing_error="gone")
    assert [exit_code(reports) for reports in ([fine], [fine, FAILED], [FAILED, unlisted])] == [
        Exit.OK,
        Exit.FAILED,
        Exit.UNLISTED,
    ]


def test_failures_are_named_up_to_a_bound() -> None:
    unlisted = SyncReport("home", 2.0, listing_error="it is\ngone")
    assert progress.failures([FAILED, unlisted]) == [
        "cannot list home: it is\N{REPLACEMENT CHARACTER}gone",
        "a/x: why",
        "a/y: so",
    ]
    many = SyncReport("a", 1.0, failed=tuple(Failure(f"a/{n}", "x") for n in range(25)))
    assert progress.failures([many])[-2:] == ["a/19: x", "and 5 more — see gateway projects"]


def test_json_is_one_line() -> None:
    text = progress.as_json([FAILED])
    assert "\n" not in text
    told = json.loads(text)
    assert (told["complete"], told["exit"]) == (False, 3)
    assert told["forges"][0]["failed"] == [{"project": "a/x", "reason": "why"}, {"project": "a/y", "reason": "so"}]


def test_a_bar_shows_how_far_it_is_and_how_many_failed() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    with progress.watch("default", console) as watcher:
        watcher.listed(3, None)
        watcher.planned(2, 1)
        watcher.looked("a/x", None)
        watcher.looked("a/\x1by", "it broke")
    assert "2/2" in out.getvalue()
    assert "reading, 1 failed" in out.getvalue()
    assert "it broke" not in out.getvalue()


def test_a_bar_tells_rate_and_time_left() -> None:
    out, now = io.StringIO(), 1000.0
    console = Console(file=out, force_terminal=True, width=120, get_time=lambda: now)
    with progress.watch("default", console) as watcher:
        watcher.planned(40, 0)
        for number in range(20):
            now += 0.5
            watcher.looked(f"a/{number}", None)
    assert "2.0/s" in out.getvalue()
    assert "0:00:10" in out.getvalue()


def test_a_pipe_shows_nothing_meanwhile() -> None:
    out = io.StringIO()
    with progress.watch("default", Console(file=out)) as watcher:
        watcher.listed(3, None)
        watcher.planned(2, 1)
        watcher.looked("a/x", "broken")
    assert out.getvalue() == ""
