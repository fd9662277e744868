"""The stems of English words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.search.stem import stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run", "running"),
        ("deploy", "deployments"),
        ("cache", "caching"),
        ("configuration", "configuring"),
        ("hopping", "hopped"),
        ("retry", "retries"),
        ("key", "keys"),
        ("relation", "relational"),
    ],
)
def test_forms_of_a_word_meet_in_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"), [("host", "hostile"), ("general", "generic"), ("us", "use"), ("new", "news")]
)
def test_words_that_only_look_alike_do_not(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["as", "x", "utf8", "größe", "k8s", ""])
def test_other_words_are_their_own_stems(word: str) -> None:
    assert stem(word) == word


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=40))
def test_a_stem_of_letters_is_letters(word: str) -> None:
    assert stem(word).isalpha() == bool(word)


def test_threads_do_not_disturb_each_other() -> None:
    words = [f"{letter}unning{'s' * (number % 3)}" for number in range(200) for letter in "abcdefgh"]
    expected = [stem(word) for word in words]
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, words * 4)) == expected * 4
