"""What was worked out last: found again, and never more of it than its bound."""

from __future__ import annotations

from sync.forge.local.recent import Recent


def test_what_was_kept_is_found_until_there_is_too_much_of_it() -> None:
    recent = Recent[str](limit=6)
    recent.keep("a", "x")
    recent.keep("b", "yy")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == ("x", "yy", None)
    recent.keep("c", "z")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (None, "yy", "z")


def test_what_was_used_longest_ago_goes_first() -> None:
    recent = Recent[str](limit=4)
    recent.keep("a", "x")
    recent.keep("b", "y")
    assert recent.get("a") == "x"
    recent.keep("c", "z")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == ("x", None, "z")


def test_what_is_more_than_the_bound_drives_nothing_out() -> None:
    recent = Recent[str](limit=4)
    recent.keep("a", "x")
    recent.keep("b", "four")
    assert (recent.get("a"), recent.get("b")) == ("x", None)


def test_keeping_a_name_again_counts_once() -> None:
    recent = Recent[str](limit=4)
    for _ in range(9):
        recent.keep("a", "x")
    recent.keep("b", "y")
    assert (recent.get("a"), recent.get("b")) == ("x", "y")
