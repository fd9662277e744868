"""Which section a caller means by a heading, and how a new heading is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import AmbiguousHeading, InvalidArgument, NotFound
from sync.corpora.engineering.document import headings
from sync.corpora.engineering.sections import checked, find, line_of, written
from sync.markdown import blocks

TEXT = """# Run

## Dev

### Setup

## Prod

### Setup

## `make` *all*

## A > B

## Setup of hosts

## cases

## CASES

## Only > Case

Two
lines
-----
"""


def line(wanted: str, text: str = TEXT) -> str | None:
    """The first line of the section that ``wanted`` means."""
    found = find(text, headings(text), wanted)
    return None if found is None else text[found.start : found.body].splitlines()[0]


class TestFind:
    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            ("Dev", "## Dev"),
            ("dev", "## Dev"),
            ("make all", "## `make` *all*"),
            ("`make` *all*", "## `make` *all*"),
            ("A > B", "## A > B"),
            ("Prod > Setup", "### Setup"),
            ("run > prod>setup", "### Setup"),
            ("Run > Dev", "## Dev"),
            ("cases", "## cases"),
            ("CASES", "## CASES"),
            ("Two lines", "Two"),
            ("Run", None),
            ("> Setup", None),
            ("None > Setup", None),
            ("Prod >", None),
            ("nothing", None),
        ],
    )
    def test_exact_before_folded_before_parents(self, wanted: str, expected: str | None) -> None:
        assert line(wanted) == expected

    @pytest.mark.parametrize(
        ("wanted", "places"),
        [
            ("Setup", ("line 5 under 'Dev'", "line 9 under 'Prod'")),
            ("Run > Setup", ("line 5 under 'Dev'", "line 9 under 'Prod'")),
            ("Cases", ("line 17 under 'Run'", "line 19 under 'Run'")),
        ],
    )
    def test_several_are_named_with_their_lines(self, wanted: str, places: tuple[str, ...]) -> None:
        with pytest.raises(AmbiguousHeading) as refused:
            line(wanted)
        assert refused.value.places == places

    @pytest.mark.parametrize("wanted", ["Prod > Dev", "Prod > New", "run > new", "Prod > Setup > Deep"])
    def test_one_that_is_not_below_its_parents_is_not_made_up(self, wanted: str) -> None:
        with pytest.raises(NotFound, match="name a new section alone"):
            line(wanted)

    def test_sections_without_anything_above_have_a_line(self) -> None:
        with pytest.raises(AmbiguousHeading) as refused:
            line("A", "## A\r\n\r\n## A\r\n")
        assert refused.value.places == ("line 1", "line 3")


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("## A  \n", "A"), ("## A ##\r\n", "A"), ("  ##\tA #\n", "A"), ("## #\n", ""), ("## C#", "C#"), ("##\n", ""),
        ("A\n b\n---\n", "A b"), ("## `a` \\# b\n", "`a` \\# b"), ("## # x ##\n", "# x"),
    ],
)  # fmt: skip
def test_a_heading_s_text_is_known_as_it_is_written(lines: str, text: str) -> None:
    assert written(lines) == text


class TestNewHeadings:
    @pytest.mark.parametrize(
        "heading", ["A", "C#", "a #", "1. x", "- x", "*a*", "<b>", "[x]", "![x](y)", "a\\", "&amp;", "``", "- - -"]
    )
    def test_read_as_what_was_asked_for(self, heading: str) -> None:
        (block,) = blocks(line_of(heading, 2, "heading"))
        assert (block.level, block.text) == (2, heading)

    @given(st.text(min_size=1, max_size=15), st.integers(1, 6))
    def test_of_any_words_are_refused_or_do(self, words: str, level: int) -> None:
        try:
            heading = checked(words, "heading")
            made = line_of(heading, level, "heading")
        except InvalidArgument:
            return
        (block,) = blocks(made)
        assert (block.level, block.text) == (level, heading)

    @pytest.mark.parametrize("heading", ["## A", "# ", "###### x"])
    def test_with_hashes_are_refused_with_the_remedy(self, heading: str) -> None:
        with pytest.raises(InvalidArgument, match="write it without #"):
            line_of(heading, 2, "heading")

    @pytest.mark.parametrize("heading", ["", "  ", "a\nb", "a\rb", "a\x00b", "x" * 1001])
    def test_are_one_line_of_words(self, heading: str) -> None:
        with pytest.raises(InvalidArgument):
            checked(heading, "heading")
