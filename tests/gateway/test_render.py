"""What a person reads of an answer."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from rich.console import Console

from gateway import render
from gateway.answers import AskAnswer, PageMatch, ProjectEntry, ProjectError, ProjectMatches, SearchAnswer, SharedMatch
from gateway.render import Line

MATCH = PageMatch("concepts/x", "concepts", "X", "what x is", listed=True, revision="a" * 40)


def plain(lines: Iterable[Line]) -> list[str]:
    out = io.StringIO()
    render.show(Console(file=out, width=20), lines)
    return out.getvalue().splitlines()


def ask(*results: ProjectMatches | ProjectError) -> list[str]:
    return plain(render.ask_lines(AskAnswer(("a",), results)))


def test_matches_come_with_their_snippets_and_how_to_read_on() -> None:
    assert ask(ProjectMatches("a/web", (MATCH,), 0)) == [
        "a/web",
        "  concepts/x  X",
        "    what x is",
        "gateway get a/web concepts/x  reads a page",
    ]


def test_what_is_old_or_not_committed_is_marked() -> None:
    match = PageMatch("x", "other", "X", "", listed=True, revision="a", stale=True, age_s=90, uncommitted=True)
    assert ask(ProjectMatches("a/web", (match,), 0))[1] == "  x  X (stale) (uncommitted) (90 s old)"


def test_more_matches_and_warnings_are_told() -> None:
    lines = ask(ProjectMatches("a/web", (MATCH,), 3, warning="timed out after 20 s"))
    assert lines[3:5] == ["  and 3 more", "  timed out after 20 s"]


def test_an_error_comes_with_near_names() -> None:
    assert ask(ProjectError("a/wbe", "unknown project — run sync first", ("a/web",))) == [
        "a/wbe",
        "  unknown project — run sync first (did you mean a/web?)",
    ]


def test_what_is_to_be_typed_is_quoted() -> None:
    match = PageMatch("a page; rm -rf", "other", "X", "", listed=True, revision="a")
    assert ask(ProjectMatches("a/b c", (match,), 0))[-1] == "gateway get 'a/b c' 'a page; rm -rf'  reads a page"


def test_what_is_to_be_typed_holds_no_option_that_a_page_brings() -> None:
    match = PageMatch("--config=theirs", "other", "X", "", listed=True, revision="a")
    assert ask(ProjectMatches("a/b", (match,), 0))[-1] == "gateway get -- a/b --config=theirs  reads a page"


def test_a_search_tells_how_many_more_there_are() -> None:
    match = SharedMatch("x", "other", "X", "text", 0.5, listed=True, revision="a")
    answer = SearchAnswer("q", (match,), 4, "c", "2026-01-01T00:00:00Z", stale=False, suggested_projects=())
    assert plain(render.search_lines(answer)) == ["  x  X", "    text", "  and 3 more"]


def test_a_search_without_a_match_names_whom_to_ask() -> None:
    answer = SearchAnswer(
        "it's here", (), 0, "c", "2026-01-01T00:00:00Z", stale=True, suggested_projects=("a/web", "b")
    )
    assert plain(render.search_lines(answer)) == [
        "nothing found in the shared wiki",
        """gateway ask 'it'"'"'s here' -p a/web -p b  asks projects that may know""",
        "the last sync is old — run gateway sync",
    ]


def test_a_project_is_one_line() -> None:
    entry = ProjectEntry("a/web", "failed: gone", archived=True, has_status=True, has_wiki=True, pages=2)
    assert plain([render.project_line(entry)]) == ["a/web  2 pages, failed: gone, STATUS, archived"]


def test_a_reason_does_not_repeat_whose_it_is() -> None:
    entry = ProjectEntry("a/web", "failed: a/web cannot be read", False, False, has_wiki=False, pages=0)
    assert plain([render.project_line(entry)]) == ["a/web  failed: cannot be read"]


def test_a_terminal_gets_the_fleet_in_columns() -> None:
    out = io.StringIO()
    entries = [
        ProjectEntry("a/long-name", "failed: this and that", False, False, has_wiki=False, pages=0),
        ProjectEntry("b", "ok", False, False, has_wiki=True, pages=1),
    ]
    render.show_projects(Console(file=out, width=26, force_terminal=True, no_color=True), entries)
    assert [line.rstrip() for line in re.sub(r"\x1b\[\d*m", "", out.getvalue()).splitlines()] == [
        "a/long-name  failed: this",
        "             and that",
        "b            1 page",
    ]


def test_a_title_that_says_no_more_than_the_slug_is_left_out() -> None:
    match = PageMatch("plain", "other", "plain", "text", listed=False, revision="a")
    assert ask(ProjectMatches("a/web", (match,), 0))[1:3] == ["  plain", "    text"]


def test_a_command_to_be_copied_stays_whole_on_a_terminal() -> None:
    out = io.StringIO()
    match = PageMatch("a/very/long/slug/indeed", "other", "X", "", listed=True, revision="a")
    answer = AskAnswer(("a",), (ProjectMatches("a/web", (match,), 0),))
    render.show(Console(file=out, width=20, force_terminal=True, no_color=True), render.ask_lines(answer))
    assert "gateway get a/web a/very/long/slug/indeed" in out.getvalue()


def test_a_pipe_gets_no_wrapped_lines_and_no_markup() -> None:
    assert plain([render.line("[bold]long[/bold] :smile: " * 9, "red", indent=2)]) == [
        "  " + "[bold]long[/bold] :smile: " * 9
    ]


def test_a_terminal_gets_long_lines_below_their_indent() -> None:
    out = io.StringIO()
    render.show(Console(file=out, width=20, force_terminal=True, no_color=True), [render.line("word " * 8, indent=4)])
    lines = out.getvalue().splitlines()
    assert len(lines) > 1
    assert all(line.startswith("    word") for line in lines)


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert plain([render.line("a\x1b]0;x\x07\u202eb\u009b")]) == ["a�]0;x��b�"]
