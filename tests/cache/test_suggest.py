"""Near names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.suggest import near

NAMES = ("acme/web", "acme/website", "acme/api", "tools/build-cache", "tools/wiki")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("acme/wbe", "acme/web"),
        ("acme/webb", "acme/web"),
        ("ACME/WEB", "acme/web"),
        ("webstie", "acme/website"),
        ("build-cahce", "tools/build-cache"),
        ("tool/wiki", "tools/wiki"),
        ("wikis", "tools/wiki"),
    ],
)
def test_a_slip_is_recognized(word: str, meant: str) -> None:
    assert near(word, NAMES)[0] == meant


def test_a_name_is_not_near_for_the_folder_alone() -> None:
    assert near("acme/quilt", NAMES) == ()


def test_nothing_is_near_to_something_else() -> None:
    assert near("zebra-quilt", NAMES) == ()


def test_the_empty_word_is_near_to_nothing() -> None:
    assert near("", NAMES) == ()


def test_no_names_give_no_suggestion() -> None:
    assert near("acme/web", ()) == ()


def test_there_are_at_most_three() -> None:
    assert len(near("acme/project-1", [f"acme/project-{number}" for number in range(10, 20)])) == 3


def test_equally_near_names_are_sorted() -> None:
    assert near("acme/we", ["acme/wez", "acme/wea"]) == ("acme/wea", "acme/wez")


def test_a_name_is_suggested_once() -> None:
    assert near("acme/wbe", ["acme/web", "acme/web"]) == ("acme/web",)


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=10))
def test_any_word_can_be_asked_for(word: str, names: list[str]) -> None:
    assert set(near(word, names)) <= set(names)
