"""What a page is found by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cache.search.query import Query, fold
from cache.search.terms import MAX_SEARCHED, Term, body_terms, length, page_terms, repeated, repeats


def finds(word: str, text: str) -> bool:
    (only,) = Query.parse(word).words
    return Term.of(only).needle in f" {body_terms(text)} "


def test_words_meet_by_their_stems() -> None:
    assert finds("configure", "Configuring the cache")


def test_a_word_is_no_part_of_another() -> None:
    assert not finds("yarn", "yarns2 unyarn")


def test_a_word_that_is_not_ascii_is_found_inside_others() -> None:
    assert finds("übertragung", "Die Datenübertragung läuft")
    assert finds("люч", "Ключи")
    assert finds("队列", "任务队列配置")


def test_one_character_is_found_at_any_place() -> None:
    assert all(finds("队", text) for text in ("队列", "任务队", "任务队列"))


def test_what_is_found_inside_does_not_reach_into_the_next_word() -> None:
    assert not finds("кот", "ко т")


def test_a_word_without_diacritics_finds_the_one_with_them() -> None:
    assert finds("uber", "Über uns")


def test_parts_of_a_foreign_word_are_no_ascii_words() -> None:
    assert not finds("na", "naïve")


def test_names_count_by_their_parts_too() -> None:
    assert page_terms("concepts/yarnCache", "WindowsYarnExec", "the GitHub way").split(" / ") == [
        "concept yarncach yarn cach",
        "windowsyarnexec window yarn exec",
        "the github way git hub",
    ]


def test_an_empty_text_has_no_terms() -> None:
    assert (body_terms(""), length(""), repeats("")) == ("", 0, "")


def test_repeats_tell_how_often_a_term_stands_there() -> None:
    told = repeats(body_terms("yarn Yarn cache yarns"))
    assert repeated(told, Term.of("yarn")) == 3
    assert repeated(told, Term.of("cache")) == 1


def test_a_term_whose_text_begins_like_another_is_not_mistaken_for_it() -> None:
    assert repeated(repeats("yarning yarning yarn"), Term.of("yarn")) == 1


def test_a_phrase_stands_as_often_as_its_rarest_part() -> None:
    assert repeated(repeats(body_terms("ключ ключ лю")), Term.of("ключ")) == 2


def test_a_long_run_of_han_is_searched_to_its_end() -> None:
    assert finds("队列", "任" * 5000 + "队列")


def test_a_long_ascii_word_is_found_by_itself() -> None:
    assert finds("x" * 500, "x" * 500)


def test_signs_that_grow_when_folded_are_searched_within_bounds() -> None:
    assert len(body_terms("\ufdfa" * MAX_SEARCHED)) < 10 * MAX_SEARCHED


def test_only_the_beginning_of_an_enormous_body_is_searched() -> None:
    assert not finds("end", "a " * (MAX_SEARCHED // 2) + " end")


@given(st.text(max_size=300))
def test_each_word_of_a_text_finds_it(text: str) -> None:
    padded = f" {body_terms(text)} "
    for word in Query.parse(text).words:
        assert Term.of(word).needle in padded


@given(st.text(max_size=100))
def test_terms_split_at_their_spaces_only(text: str) -> None:
    terms = body_terms(text)
    assert all(part.isalnum() or not part.isascii() for part in terms.split(" ") if part)
    assert fold(terms) == terms


def test_a_word_of_combining_signs_alone_is_indexed_in_time() -> None:
    assert body_terms("a" + "\u0301\u0323" * 50_000)  # the square of their number would be some seconds


def test_a_long_line_is_indexed_like_many_short_ones() -> None:
    words = [f"word{number}" for number in range(10_000)]
    assert body_terms(" ".join(words)) == body_terms("\n".join(words))
    assert body_terms("x" * 40_000) == " ".join(["x" * 64] * 3)  # what is no word of any language is not one term
