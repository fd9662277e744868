"""``gateway get``: what there is to say about a page goes to stderr."""

from __future__ import annotations

from tests.support.cli import Home, Inside, Outcome


def test_a_page_that_is_not_committed_says_so(home: Home, run: Inside) -> None:
    home.with_fleet()
    run("sync")
    page = home.path / "src/acme/web/.wiki/concepts/windows-yarn-exec.md"
    page.write_text("# Changed\n", encoding="utf-8")
    shown = run("get", "web", "concepts/windows-yarn-exec")
    assert shown == Outcome(0, "# Changed\n", "gateway: as it is in the working tree, not committed yet\n")
