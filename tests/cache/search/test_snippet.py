"""The piece of text that shows a match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.search.query import Query
from cache.search.snippet import ELLIPSIS, snippet

PROSE = " ".join(f"word{number}" for number in range(200))


def show(body: str, query: str, *, fallback: str = "", width: int = 80) -> str:
    return snippet(body, Query.parse(query), fallback=fallback, width=width)


def test_a_short_text_is_shown_whole() -> None:
    assert show("Use yarn\n\nhere.", "yarn") == "Use yarn here."


def test_the_whole_query_is_preferred_to_its_words() -> None:
    body = f"exec yarn {PROSE} the yarn exec trick {PROSE}"
    assert "the yarn exec trick" in show(body, "yarn exec")


def test_the_match_stands_amid_its_surroundings() -> None:
    shown = show(f"{PROSE} needle {PROSE}", "needle")
    assert abs(shown.index("needle") - (len(shown) - len("needle")) / 2) < 12


def test_words_are_not_cut() -> None:
    shown = show(f"{PROSE} needle {PROSE}", "needle")
    assert shown.startswith(ELLIPSIS)
    assert shown.endswith(ELLIPSIS)
    assert set(shown.strip(ELLIPSIS).split()) <= {*PROSE.split(), "needle"}


def test_nothing_is_left_out_where_no_ellipsis_stands() -> None:
    assert show(f"needle {PROSE}", "needle").startswith("needle word0")
    assert show(f"{PROSE} needle", "needle").endswith("word199 needle")


def test_the_place_with_most_different_words_is_shown() -> None:
    body = f"yarn yarn yarn {PROSE} cache on yarn for windows {PROSE}"
    assert "cache on yarn for windows" in show(body, "windows yarn cache")


def test_words_are_found_in_other_forms() -> None:
    assert "Configuring" in show(f"{PROSE} Configuring {PROSE}", "how to configure it")


def test_stop_words_do_not_draw_the_snippet() -> None:
    assert "yarn" in show(f"how do we on how do we on {PROSE} yarn {PROSE}", "how do we yarn on")


def test_words_that_are_not_ascii_are_found_inside_others() -> None:
    assert "Datenübertragung" in show(f"{PROSE} Datenübertragung {PROSE}", "Übertragung")


def test_text_without_spaces_is_cut_anywhere() -> None:
    shown = show("请注意这里" * 20 + "任务队列" + "其他很多东西" * 20, "任务队列", width=20)
    assert "任务队列" in shown
    assert len(shown) == 22


def test_folding_that_changes_lengths_does_not_shift_the_cut() -> None:
    body = "ßßßß ﬃ … " * 60 + "needle" + " Ⅷ ẞ" * 60
    assert "needle" in show(body, "needle", width=30)


def test_combining_signs_stay_with_their_letter() -> None:
    body = "e\u0301 " * 100 + "cafe\u0301 noir " + "e\u0301 " * 100
    assert "cafe\u0301 noir" in show(body, "café noir", width=30)


@pytest.mark.parametrize("before", range(8 * 1024 - 10, 8 * 1024 + 3))
def test_words_are_found_wherever_they_stand_in_a_long_text(before: int) -> None:
    text = ("x" * 7 + " ") * (before // 8) + "y" * (before % 8 - 1) + " "
    assert "a needle here" in show(f"{text}a needle here {PROSE}", "needle")
    assert "das Öhr hier" in show(f"{text}das Öhr hier {PROSE}", "öhr")


def test_signs_that_grow_when_folded_are_searched_within_bounds() -> None:
    assert show("needle " + "\ufdfa" * 400_000, "needle").startswith("needle")
    assert show("\ufdfa" * 400_000 + " needle", "needle", fallback="prose") == "prose"


def test_without_a_match_the_fallback_begins() -> None:
    assert show(PROSE, "needle", fallback="First\nprose.") == "First prose."
    shown = show(PROSE, "needle", fallback=PROSE)
    assert shown.startswith("word0 ")
    assert shown.endswith(ELLIPSIS)
    assert len(shown) <= 81


def test_a_query_without_words_is_found_as_a_whole_only() -> None:
    assert "::" in show(f"{PROSE} a::b {PROSE}", "::")
    assert show(PROSE, "!!!", fallback="prose") == "prose"


def test_an_empty_query_finds_nothing() -> None:
    assert show(PROSE, "", fallback="prose") == "prose"


PIECES = st.text(alphabet=st.sampled_from("ab ß.ﬁ…ée\u0301任务İǰ\u0345\ud800\n\t"), max_size=400)


@given(body=PIECES | st.text(max_size=400), query=PIECES | st.text(max_size=50), width=st.integers(1, 120))
def test_a_snippet_is_a_piece_of_the_body_and_bounded(body: str, query: str, width: int) -> None:
    shown = snippet(body, Query.parse(query), fallback="", width=width)
    assert len(shown) <= width + 2
    text = " ".join(body.split())
    assert shown == text or shown.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS) in text


@given(before=PIECES, after=PIECES, needle=st.sampled_from(["needle", "Größe", "任务队列", "ﬁne"]))
def test_what_is_in_the_body_is_in_the_snippet(before: str, after: str, needle: str) -> None:
    assert needle in snippet(f"{before} {needle} {after}", Query.parse(needle), fallback="", width=30)
