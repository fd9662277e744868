"""What a CLAUDE.md can say: of the tools that are served, and of those only."""

from __future__ import annotations

import pytest

from gateway.claude_md import claude_md
from gateway.settings import ToolsetName
from tests.support.cli import Home, Inside


@pytest.mark.parametrize(
    ("toolset", "word"),
    [("engineering", "search_knowledge"), ("federation", "knowledge.ask_projects"), ("swarmkit", "search_docs")],
)
def test_it_names_the_tools_that_are_served(toolset: ToolsetName, word: str) -> None:
    assert word in claude_md("kb", [toolset], read_only=False)
    others = claude_md(
        "kb", [name for name in ("engineering", "federation", "swarmkit") if name != toolset], read_only=False
    )
    assert word not in others
    assert "`kb`" in others


def test_it_asks_for_nothing_to_be_written_where_nothing_is() -> None:
    assert "update_knowledge" in claude_md("kb", ["engineering"], read_only=False)
    assert "update_knowledge" not in claude_md("kb", ["engineering"], read_only=True)


def test_it_is_printed_for_what_is_configured(home: Home, run: Inside) -> None:
    home.configure('[engineering]\nroot = "~/kb"\n')
    shown = run("client-config", "claude-md", "--name", "kb")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == claude_md("kb", ["engineering"], read_only=False)


def test_it_is_not_written_by_us(home: Home, run: Inside) -> None:
    shown = run("client-config", "claude-md", "--write")
    assert shown.code == 2
    assert "run it without --write" in shown.err
    assert list(home.path.iterdir()) == []
