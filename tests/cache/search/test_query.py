"""How a query is read."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cache.search.query import MAX_WORD, MAX_WORDS, Query, fold, normalize


def test_the_whole_is_folded_and_its_white_space_too() -> None:
    assert Query.parse("  Windows\n\tYARN  ").whole == "windows yarn"


def test_compatibility_forms_are_one() -> None:
    assert fold("ﬁle ① Ｗｉｋｉ") == "file 1 wiki"


def test_sharp_s_is_double_s_in_either_case() -> None:
    assert fold("Straße") == fold("STRASSE") == fold("STRAẞE")


def test_yo_is_ye() -> None:
    assert fold("Ёлка") == fold("елка")


def test_words_split_at_everything_but_letters_and_digits() -> None:
    assert Query.parse("windows-yarn_exec/v2.1").words == ("windows", "yarn", "exec", "v2", "1")


def test_a_word_counts_once() -> None:
    assert Query.parse("yarn Yarn YARN").words == ("yarn",)


def test_stop_words_carry_no_meaning() -> None:
    assert Query.parse("how do we run yarn on windows").content == ("run", "yarn", "windows")


def test_stop_words_count_where_nothing_else_is_left() -> None:
    assert Query.parse("what is this").content == ("what", "is", "this")


def test_signs_alone_are_no_words() -> None:
    query = Query.parse("!!! ::")
    assert (query.whole, query.words, query.content) == ("!!! ::", (), ())


def test_a_han_sentence_is_one_word_and_carries_meaning_by_its_pairs() -> None:
    query = Query.parse("任务队列")
    assert query.words == ("任务队列",)
    assert query.content == ("任务", "务队", "队列")


def test_scripts_without_spaces_split_where_the_script_changes() -> None:
    assert Query.parse("yarn任务 タスクの設定").words == ("yarn", "任务", "タスク", "の", "設定")


def test_japanese_particles_carry_no_meaning() -> None:
    assert Query.parse("タスクの設定").content == ("タスク", "設定")


def test_vowel_signs_belong_to_their_word() -> None:
    assert Query.parse("हिन्दी में").words == ("हिन्दी", "में")


def test_single_letters_of_other_scripts_carry_no_meaning() -> None:
    assert Query.parse("сборка в ci").content == ("сборка", "ci")


def test_a_long_query_is_ranked_by_its_first_words() -> None:
    query = Query.parse(" ".join(f"word{number}" for number in range(500)))
    assert len(query.words) == MAX_WORDS
    assert query.words[0] == "word0"


def test_a_long_word_counts_by_its_beginning() -> None:
    assert Query.parse("x" * 2000).words == ("x" * MAX_WORD,)


def test_lone_surrogates_become_what_can_be_stored() -> None:
    assert Query.parse("a\ud800b").whole == "a\ufffdb"


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=200))
def test_every_query_can_be_read_and_stored(text: str) -> None:
    query = Query.parse(text)
    assert len(query.words) <= MAX_WORDS
    assert len(query.content) <= MAX_WORDS
    assert bool(query.words) == bool(query.content)
    for part in (query.whole, *query.words, *query.content):
        part.encode()


@given(
    st.lists(st.sampled_from(["a", "É", "e\u0301\u0323", "ß", "ﬁ", "任", "ё", " ", "o" + "\u0301" * 29]), max_size=900)
)
def test_a_long_text_is_normalized_like_a_short_one(parts: list[str]) -> None:
    text = "".join(parts)
    assert normalize("NFC", text) == unicodedata.normalize("NFC", text)
    assert normalize("NFKC", text) == unicodedata.normalize("NFKC", text)


def test_text_that_takes_the_square_of_its_length_to_normalize_as_a_whole_is_folded() -> None:
    folded = fold("a" + "\u0301\u0323" * 100_000)  # a quarter of a minute otherwise, and an hour for a megabyte
    assert len(folded) > 199_000
