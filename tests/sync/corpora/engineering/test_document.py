"""A document's title, tags, headings and their ranges."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from sync.corpora.engineering.document import etag, facts_of, headings
from sync.corpora.engineering.lines import (
    content_lines,
    filled,
    gap_before,
    gap_behind,
    is_blank,
    line_end_before,
    line_number,
    next_line,
)
from tests.support import markdown_pieces as pieces


def told(text: str) -> list[tuple[int, str]]:
    return [(each.level, each.text) for each in headings(text)]


class TestHeadings:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("# A\n\n## B ##\n### C\n", [(1, "A"), (2, "B"), (3, "C")]),
            ("A\nb\n===\nC\n---\n", [(1, "A b"), (2, "C")]),
            ("```\n## x\n```\n~~~\n## x\n~~~\n    ## x\n", []),
            ("<!--\n## x\n-->\n<script>\n## x\n</script>\n", []),
            ("- ## x\n  ## x\n\n> ## x\n", []),
            ("- a\n## B\n", [(2, "B")]),
            ("---\ntitle: x\n---\n## A\n", [(2, "A")]),
            ("---\n\n## A\n\n---\n", [(2, "A")]),
            ("a | b\n--- | ---\n## A\n", [(2, "A")]),
            ("#A\n\\## A\n####### A\n", []),
            ("## A\r\r## B\r", [(2, "A"), (2, "B")]),
            ("\ufeff## A\n", [(2, "A")]),
        ],
    )
    def test_are_those_of_commonmark_at_the_top_level(self, text: str, expected: list[tuple[int, str]]) -> None:
        assert told(text) == expected

    def test_know_what_is_above_them(self) -> None:
        text = "# T\n\n### Deep\n\n## A\n\n#### X\n\n### Y\n\n# U\n\n## B\n"
        above = [(each.text, each.above) for each in headings(text)]
        assert above == [
            ("T", ()), ("Deep", ("T",)), ("A", ("T",)), ("X", ("T", "A")), ("Y", ("T", "A")), ("U", ()), ("B", ("U",)),
        ]  # fmt: skip

    @given(pieces.texts())
    def test_range_over_whole_lines_and_the_whole_rest(self, text: str) -> None:
        found = headings(text)
        for each, following in pairwise(found):
            assert each.end == following.start
        assert not found or found[-1].end == len(text)
        for each in found:
            assert each.start < each.body <= each.end
            assert each.start == 0 or text[each.start - 1] in "\r\n\ufeff"
            assert text[each.body - 1] in "\r\n" or each.body == len(text)
            assert text[each.body - 1 : each.body + 1] != "\r\n"


class TestFacts:
    def test_the_title_is_that_of_the_front_matter_then_the_heading_then_the_name(self) -> None:
        assert facts_of("---\ntitle: F\n---\n# H\n", "a/b.md").title == "F"
        assert facts_of("text\n\n# H\n", "a/b.md").title == "H"
        assert facts_of("## no\n", "a/b-c.md").title == "b-c"

    def test_tags_are_known(self) -> None:
        assert facts_of("---\ntags: [a, b]\n---\n# H\n", "a.md").tags == ("a", "b")

    @pytest.mark.parametrize(
        ("text", "title"),
        [
            ("text\n" * 1000 + "\n# Late\n", "Late"),
            ("text\n" * 1000 + "\nLate\n===\n", "Late"),
            ("```\n" + "# code\n" * 1000 + "```\n# Late\n", "Late"),
            ("---\n" + "# yaml\n" * 1000 + "a: b\n---\n# Late\n", "Late"),
            ("# [Early]\n" + "text\n" * 1000 + "\n[early]: /x\n", "Early"),
            ("# " + "long " * 1000, "long " * 1000),
            ("\r# Returns\r" * 1000, "Returns"),
        ],
    )
    def test_a_title_is_found_wherever_it_stands(self, text: str, title: str) -> None:
        assert facts_of(text, "a.md").title == title[:300]

    def test_every_byte_counts_for_the_etag(self) -> None:
        assert etag(b"a\n") != etag(b"a\r\n")
        assert etag(b"") == etag(b"")


class TestLines:
    def test_nothing_else_ends_one(self) -> None:
        assert line_number("a\u2028b\x0bc\x0cd\x85e\nf", 11) == 2
        assert line_number("a\r\nb\rc\n", 6) == 3

    def test_blank_is_what_has_spaces_and_tabs_alone(self) -> None:
        assert is_blank(" \t\r\n")
        assert not is_blank("\u00a0\n")

    def test_a_caller_s_text_loses_blank_lines_around_it(self) -> None:
        assert content_lines("\ufeff\n \r\n  a\rb \n\n\t\n") == ["  a", "b "]

    @pytest.mark.parametrize(
        ("text", "range_"),
        [("", (0, 0)), ("\n \n", (0, 0)), ("\na\n\nb\n\n", (1, 6)), ("a", (0, 1)), (" \r\na\r\n", (3, 6))],
    )
    def test_the_filled_ones_are_a_range(self, text: str, range_: tuple[int, int]) -> None:
        assert filled(text, 0, len(text)) == range_

    @pytest.mark.parametrize(
        ("text", "at", "end"),
        [
            ("a\r\nb", 3, "\r\n"),
            ("a\nb\r\n", 2, "\n"),
            ("a\rb", 2, "\r"),
            ("a", 1, "\n"),
            ("a\r\n", 1, "\r\n"),
            ("", 0, "\n"),
        ],
    )
    def test_a_line_end_is_that_of_the_line_before(self, text: str, at: int, end: str) -> None:
        assert line_end_before(text, at) == end

    @pytest.mark.parametrize(
        ("text", "gap"),
        [("", ""), ("\ufeff", ""), ("a", "\n\n"), ("a\n", "\n"), ("a\n\n", ""), ("a\r\n \r\n", ""), ("\n", "")],
    )
    def test_a_gap_behind_is_what_is_missing_to_a_blank_line(self, text: str, gap: str) -> None:
        assert gap_behind(text, "\n") == gap

    @pytest.mark.parametrize(("text", "gap"), [("", ""), ("a", "\n"), ("\na", ""), (" \r\na", ""), ("  ", "")])
    def test_so_is_one_before(self, text: str, gap: str) -> None:
        assert gap_before(text, "\n") == gap

    @pytest.mark.parametrize(
        ("text", "at", "next_"), [("a\r\nb", 3, 3), ("a\r\nb", 2, 3), ("a\r\nb", 1, 3), ("ab", 1, 2), ("a\rb", 2, 2)]
    )
    def test_the_next_line_is_here_or_behind_the_next_end(self, text: str, at: int, next_: int) -> None:
        assert next_line(text, at) == next_
