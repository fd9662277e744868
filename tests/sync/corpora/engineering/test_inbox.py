"""The inbox: entries are added and taken out whole, whatever is in them and around them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.errors import Conflict, InvalidArgument, KnowledgeError
from sync import front_matter
from sync.closing import is_closed
from sync.corpora.engineering.document import headings
from sync.corpora.engineering.inbox import TOPIC, Entry, entries, with_entry, without
from sync.corpora.engineering.levels import lowered
from tests.support import markdown_pieces as pieces

NOW = "2026-11-30T12:00:00Z"


def added(content: str, text: str = "", topic: str | None = None) -> str:
    return with_entry(text, content, topic, NOW)


class TestNewEntries:
    def test_the_first_makes_the_document(self) -> None:
        assert added("x") == f"# Knowledge inbox\n\n## {NOW}\n\nx\n"

    def test_one_comes_behind_the_other_with_its_topic(self) -> None:
        text = added("y", added("x"), "api/limits")
        assert text == f"# Knowledge inbox\n\n## {NOW}\n\nx\n\n## {NOW} — api/limits\n\ny\n"

    def test_a_topic_is_one_line_of_plain_words(self) -> None:
        (entry,) = entries(added("x", topic=" *a* <b> #\t"))
        assert entry.topic == "*a* <b> #"
        assert [each.topic for each in entries(added("x", topic="  "))] == [None]
        with pytest.raises(InvalidArgument) as refused:
            added("x", topic="a\nb")
        assert refused.value.argument == TOPIC

    def test_headings_become_deeper_than_the_entry_s(self) -> None:
        (entry,) = entries(added("# A\n\nB\n===\n\n## C ##\n\n###### D"))
        assert entry.content == "### A\n\n### B\n\n#### C ##\n\n###### D"

    def test_code_that_is_left_open_is_closed(self) -> None:
        assert added("```sh\nls").endswith("```sh\nls\n```\n")
        assert added("<!-- x").endswith("<!-- x\n-->\n")

    def test_so_is_what_somebody_left_open_before(self) -> None:
        before = "# Knowledge inbox\n\n## mine\n\n~~~\nx"
        assert added("y", before) == f"{before}\n~~~\n\n## {NOW}\n\ny\n"

    def test_front_matter_that_does_not_end_is_not_ended_by_an_entry(self) -> None:
        with pytest.raises(Conflict):
            added("a\n\n---", "---\nmine: x\n")

    def test_front_matter_that_ends_stays(self) -> None:
        assert added("x", "---\ntags: [a]\n---") == f"---\ntags: [a]\n---\n\n## {NOW}\n\nx\n"

    def test_line_ends_are_those_of_the_inbox(self) -> None:
        assert added("a\nb", "# I\r\n") == f"# I\r\n\r\n## {NOW}\r\n\r\na\r\nb\r\n"

    def test_nothing_is_no_entry(self) -> None:
        with pytest.raises(InvalidArgument):
            added(" \n")


class TestEntries:
    def test_are_sections_of_level_two(self) -> None:
        text = f"# I\n\n## {NOW} — t\n\na\n\n### b\n\n## by hand\n\nc\n\n# Other\n\nd\n\n##\n\ne\n"
        assert [(each.number, each.timestamp, each.topic, each.content) for each in entries(text)] == [
            (1, NOW, "t", "a\n\n### b"),
            (2, None, "by hand", "c"),
            (3, None, None, "e"),
        ]

    def test_none_are_in_an_empty_inbox(self) -> None:
        assert entries("") == entries("# Knowledge inbox\n") == ()

    def test_one_is_the_same_wherever_it_stands(self) -> None:
        first, second = entries(added("x", added("x")))
        assert first.same_as(second)
        assert not first.same_as(Entry(1, NOW, "t", "x", 0, 1))

    def test_to_take_one_out_keeps_all_else(self) -> None:
        text = f"# I\n\n## {NOW}\n\na\n\n## {NOW}\n\nb\r\n\n# End\n"
        assert without(text, entries(text)[0]) == f"# I\n\n## {NOW}\n\nb\r\n\n# End\n"
        assert without(text, entries(text)[1]) == f"# I\n\n## {NOW}\n\na\n\n# End\n"


@settings(max_examples=80)
@given(pieces.texts(), pieces.contents, st.one_of(st.none(), st.text(max_size=8)))
def test_whatever_is_captured_is_one_more_entry(text: str, content: str, topic: str | None) -> None:
    try:
        made = added(content, text, topic)
    except KnowledgeError:
        return
    before, after = entries(text), entries(made)
    assert after[-1].timestamp == NOW
    assert len(after) == len(before) + 1
    assert [each.content for each in after[:-2]] == [each.content for each in before[:-1]]
    assert made.startswith(text) or not text.strip()
    assert all(each.level > 2 for each in headings(after[-1].content, 0))
    assert is_closed(made, front_matter.split(made)[1])


@settings(max_examples=80)
@given(st.lists(pieces.contents, min_size=1, max_size=4), st.data())
def test_whatever_is_taken_out_leaves_the_others(contents: list[str], data: st.DataObject) -> None:
    text = "# I\n"
    for content in contents:
        try:
            text = added(content, text)
        except KnowledgeError:
            continue
    found = entries(text)
    if not found:
        return
    gone = data.draw(st.sampled_from(found))
    rest = [each.content for each in found if each.number != gone.number]
    assert [each.content for each in entries(without(text, gone))] == rest


@settings(max_examples=80)
@given(pieces.texts(most=8), st.integers(2, 6))
def test_lowered_headings_are_deep_enough_and_say_the_same(content: str, least: int) -> None:
    before, after = headings(content, 0), headings(lowered(content, least), 0)
    assert [each.text for each in after] == [each.text for each in before]
    assert all(each.level >= least for each in after)
