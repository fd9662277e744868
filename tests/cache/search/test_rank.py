"""The order of matches, without a database."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.search.query import Query
from cache.search.rank import Collected, Hit, Sizes, Terms, ladder
from cache.search.terms import body_terms, length, repeats

SIZES = Sizes(pages=10, page_terms=60, bodies=10, body_terms=1000)


def worded(page: int, text: str, *, kind: str = "concepts", position: int | None = None) -> Hit:
    terms = body_terms(text)
    return page, page if position is None else position, kind, terms, length(terms)


def bodied(page: int, text: str, *, words: int = 0) -> Hit:
    terms = body_terms(text)
    return page, page, "concepts", repeats(terms), words or length(terms)


def named(page: int) -> Hit:
    return page, page, "concepts", "", 0


def places(query: str, found: Collected, *, limit: int | None = None) -> list[tuple[int, int]]:
    """Step and page of each place."""
    best, _ = ladder(Terms.of(Query.parse(query)), found, shows=lambda kind: kind != "raw", limit=limit)
    return [(step, page) for step, _, _, page in best]


def test_the_steps_come_one_after_the_other() -> None:
    found = Collected(
        SIZES,
        named=[named(4)],
        worded=[worded(1, "yarn"), worded(3, "exec yarn"), worded(4, "yarn exec")],
        bodies=[bodied(2, "yarn exec"), bodied(3, "yarn exec")],
        frequency=[2, 2],
    )
    assert places("yarn exec", found) == [(1, 4), (2, 3), (3, 2), (4, 1)]


def test_pages_of_the_first_two_steps_keep_the_order_of_the_index() -> None:
    found = Collected(SIZES, named=[named(9), named(8)], worded=[worded(7, "b a a a"), worded(6, "a b " + "c " * 50)])
    assert places("a b", found) == [(1, 8), (1, 9), (2, 6), (2, 7)]


def test_the_second_step_wants_stop_words_too() -> None:
    found = Collected(SIZES, worded=[worded(1, "yarn"), worded(2, "the yarn")])
    assert places("the yarn", found) == [(2, 2), (4, 1)]


def test_a_rarer_word_weighs_more() -> None:
    found = Collected(SIZES, worded=[worded(1, "a b"), worded(2, "a c"), worded(3, "a d"), worded(4, "z y")])
    assert places("a z xx", found)[0] == (4, 4)


def test_more_of_the_words_weigh_more() -> None:
    found = Collected(SIZES, worded=[worded(1, "yarn x"), worded(2, "yarn windows")])
    assert places("yarn windows exec", found) == [(4, 2), (4, 1)]


def test_the_same_word_weighs_more_in_a_shorter_text() -> None:
    found = Collected(SIZES, worded=[worded(1, "yarn and much else besides"), worded(2, "yarn")])
    assert places("yarn exec", found) == [(4, 2), (4, 1)]


def test_a_body_that_repeats_the_words_weighs_more() -> None:
    found = Collected(SIZES, bodies=[bodied(1, "yarn", words=100), bodied(2, "yarn yarn", words=100)], frequency=[2])
    assert places("yarn", found) == [(3, 2), (3, 1)]


def test_equal_scores_keep_the_order_of_the_index() -> None:
    found = Collected(SIZES, worded=[worded(1, "yarn a", position=7), worded(2, "yarn b", position=3)])
    assert places("yarn exec", found) == [(4, 2), (4, 1)]


def test_the_best_are_the_first_of_all() -> None:
    found = Collected(SIZES, worded=[worded(page, "yarn " + "x " * (page % 4)) for page in range(8)])
    assert places("yarn exec", found, limit=3) == places("yarn exec", found)[:3]


def test_all_are_counted() -> None:
    found = Collected(SIZES, worded=[worded(page, "yarn") for page in range(8)])
    _, total = ladder(Terms.of(Query.parse("yarn exec")), found, shows=lambda _: True, limit=3)
    assert total == 8


def test_a_hidden_type_is_left_out_and_changes_no_score() -> None:
    hits = [worded(1, "yarn a b"), worded(2, "yarn", kind="raw"), worded(3, "yarn exec x")]
    terms = Terms.of(Query.parse("yarn exec y"))
    everything, _ = ladder(terms, Collected(SIZES, worded=hits), shows=lambda _: True, limit=None)
    shown, total = ladder(terms, Collected(SIZES, worded=hits), shows=lambda kind: kind != "raw", limit=None)
    assert shown == [place for place in everything if place[3] != 2]
    assert total == 2


@pytest.mark.parametrize("limit", [None, 3])
@given(texts=st.lists(st.text("bx ", max_size=12), max_size=10), query=st.text("bcx ", max_size=8))
def test_scores_fall_and_lie_between_0_and_1(limit: int | None, texts: list[str], query: str) -> None:
    hits = [worded(page, f"yarn {text}") for page, text in enumerate(texts)]
    terms = Terms.of(Query.parse(f"yarn {query}"))
    frequency = [1 for _ in terms.content]
    found = Collected(SIZES, named=hits[:1], worded=hits, bodies=hits[:2], frequency=frequency)
    best, _ = ladder(terms, found, shows=lambda _: True, limit=limit)
    scores = [-minus_score for _, minus_score, _, _ in best]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
