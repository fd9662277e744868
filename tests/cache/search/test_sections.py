"""Search by sections: the ladder, documents that change, and what neither tags nor others' sections do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cache.search.query import Query
from cache.search.sections import Section, Sections


def document(path: str, title: str, text: str = "", *, tags: tuple[str, ...] = (), **sections: str) -> list[Section]:
    """A document whose first section has its title, and further sections by their headings."""
    first = Section(path, title, title, text, tags, first=True)
    return [first, *(Section(path, title, heading, body, tags) for heading, body in sections.items())]


def index(*documents: list[Section]) -> Sections:
    sections = Sections()
    for one in documents:
        sections.replace(one[0].path, one)
    return sections


def found(sections: Sections, query: str, limit: int = 10) -> list[tuple[str, str]]:
    return [(one.section.path, one.section.heading) for one in sections.search(Query.parse(query), limit)]


def test_a_title_as_asked_comes_before_longer_ones_and_before_texts() -> None:
    sections = index(
        document("a.md", "Notes on caching in the proxy", "caching"),
        document("b.md", "Caching", "what we do"),
        document("c.md", "Other", "caching caching caching"),
    )
    assert found(sections, "caching") == [
        ("b.md", "Caching"),
        ("a.md", "Notes on caching in the proxy"),
        ("c.md", "Other"),
    ]


def test_a_heading_is_found_and_not_the_other_sections_of_its_document() -> None:
    sections = index(document("run.md", "Running", "intro", Setup="make", Ports="8080"))
    assert found(sections, "ports") == [("run.md", "Ports")]


def test_words_are_found_in_any_order_and_form() -> None:
    sections = index(document("a.md", "Windows yarn exec"), document("b.md", "Linux"))
    assert found(sections, "how do we run yarn on windows") == [("a.md", "Windows yarn exec")]


def test_all_words_in_a_text_come_before_one_in_a_heading() -> None:
    sections = index(document("a.md", "Keys", "rotate"), document("b.md", "Other", "rotate the gateway keys"))
    assert found(sections, "rotate keys gateway") == [("b.md", "Other"), ("a.md", "Keys")]


def test_one_of_several_words_in_a_text_is_found_last() -> None:
    sections = index(document("a.md", "One", "the port is 8080"), document("b.md", "Port", "x"))
    assert found(sections, "port zebra") == [("b.md", "Port"), ("a.md", "One")]


def test_words_that_are_not_ascii_are_found_inside_others() -> None:
    sections = index(document("a.md", "Ключи", "о перевыпуске ключей"), document("b.md", "Tôkyô", "東京都の設定"))
    assert found(sections, "ключ") == [("a.md", "Ключи")]
    assert found(sections, "京都") == [("b.md", "Tôkyô")]


def test_a_tag_raises_a_match_and_makes_none() -> None:
    plain, tagged = document("a.md", "A", "about auth"), document("b.md", "B", "about auth", tags=("auth",))
    sections = index(plain, tagged, document("c.md", "C", "nothing", tags=("auth",)))
    assert found(sections, "auth") == [("b.md", "B"), ("a.md", "A")]


def test_equal_ones_come_by_path_and_place() -> None:
    sections = index(document("b.md", "B", X="same"), document("a.md", "A", Y="same", Z="same"))
    assert found(sections, "same") == [("a.md", "Y"), ("a.md", "Z"), ("b.md", "X")]


def test_what_is_replaced_or_removed_is_found_no_more() -> None:
    sections = index(document("a.md", "Old", "old text"))
    sections.replace("a.md", document("a.md", "New", "new text"))
    assert (found(sections, "old"), found(sections, "new")) == ([], [("a.md", "New")])
    sections.remove("a.md")
    sections.remove("a.md")
    assert (found(sections, "new"), list(sections.paths)) == ([], [])


def test_nothing_is_found_for_nothing() -> None:
    assert found(index(document("a.md", "A", "text")), "") == []


words = st.lists(st.sampled_from("alpha beta gamma delta ключ 東京 keys key".split()), max_size=6).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from("abc"), words, words, words), max_size=8), words)
def test_a_changed_index_answers_as_one_that_is_made_anew(edits: list[tuple[str, str, str, str]], query: str) -> None:
    """Also in another order: scores depend on what is there, not on how it came there."""
    sections = Sections()
    last: dict[str, list[Section]] = {}
    for path, title, heading, text in edits:
        last[path] = [Section(path, title, title, text, first=True), Section(path, title, heading, text)]
        sections.replace(path, last[path])
    anew = index(*(last[path] for path in sorted(last)))
    assert sections.search(Query.parse(query), 100) == anew.search(Query.parse(query), 100)
    assert all(0 < one.score < 1 for one in sections.search(Query.parse(query), 100))


def test_a_document_of_that_name_comes_before_a_part_of_another() -> None:
    sections = index(document("a.md", "Everything", Caching=""), document("b.md", "Caching"))
    assert found(sections, "caching") == [("b.md", "Caching"), ("a.md", "Caching")]
