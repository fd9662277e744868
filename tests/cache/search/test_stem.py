"""The stems of English words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.search.stem import stem

ENDINGS = (
    "", "s", "es", "ies", "sses", "ed", "eed", "ing", "y", "ational", "tional", "enci", "anci", "izer", "bli", "alli",
    "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti",
    "biliti", "logi", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic",
    "able", "ible", "ant", "ement", "ment", "ent", "ion", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive",
    "ize", "e", "ll", "bl", "at", "iz", "tt", "ss", "zz",
)  # fmt: skip


@pytest.fixture(scope="module")
def sqlite_stems() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'porter ascii')")
        connection.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)")
        yield connection


def sqlite_stem(connection: sqlite3.Connection, word: str) -> str:
    connection.execute("DELETE FROM words")
    connection.execute("INSERT INTO words VALUES (?)", (word,))
    (found,) = connection.execute("SELECT term FROM stems").fetchone()
    return str(found)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("running", "run"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("agreed", "agre"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("configuration", "configur"),
        ("configuring", "configur"),
        ("controlling", "control"),
        ("sky", "sky"),
    ],
)
def test_words_lose_their_endings(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["as", "x", "utf8", "größe", "k8s", ""])
def test_short_words_and_those_with_other_signs_stay(word: str) -> None:
    assert stem(word) == word


@given(beginning=st.text("abcdeghilmnorstuvwxyz", min_size=2, max_size=8), ending=st.sampled_from(ENDINGS))
def test_stems_are_those_of_sqlite(sqlite_stems: sqlite3.Connection, beginning: str, ending: str) -> None:
    word = beginning + ending
    if word not in {"eed", "ies"}:  # whole words that SQLite takes for endings
        assert stem(word) == sqlite_stem(sqlite_stems, word)
