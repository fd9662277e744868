"""One page's body."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.errors import InvalidArgument, NotUtf8
from cache.model import PageFacts
from sync.page import MAX_HEADINGS, decode, facts, first_prose, headings, section


class TestDecode:
    def test_gives_the_exact_text(self) -> None:
        assert decode("\ufeff# Ü\r\n\r".encode(), "a.md") == "\ufeff# Ü\r\n\r"

    def test_refuses_a_binary_file_by_name(self) -> None:
        with pytest.raises(InvalidArgument) as caught:
            decode(b"\x89PNG\0\xff", "acme/web/.wiki/a.md")
        assert caught.value.message == "a binary file: acme/web/.wiki/a.md"

    @pytest.mark.parametrize("data", [b"caf\xe9", b"\xed\xa0\x80", "Ü".encode("utf-16"), b"\xc0\xaf"])
    def test_refuses_text_in_another_encoding(self, data: bytes) -> None:
        with pytest.raises(NotUtf8) as caught:
            decode(data, "a.md")
        assert caught.value.path == "a.md"


class TestFacts:
    def test_are_front_matter_title_and_type_and_the_first_level_1_heading(self) -> None:
        text = "---\ntitle: A title\ntags: [x]\ntype: concept\n---\n\n## Two\n\n# The *one* `h`\n\n# Other\n"
        assert facts(text) == PageFacts("A title", "concept", "The one h")

    def test_of_a_body_that_says_nothing_are_none(self) -> None:
        assert (
            facts("text\n\n## Two\n> # quoted\n\n- # listed\n\n```\n# code\n```\n<!--\n# comment\n-->") == PageFacts()
        )

    @pytest.mark.parametrize("text", ["Title\n=====\n", "# Title #\n", "\ufeff# Title\n", "\n" * 90 + "#  Title\r\n"])
    def test_know_every_form_of_a_heading(self, text: str) -> None:
        assert facts(text).heading == "Title"

    @pytest.mark.parametrize(
        ("yaml", "title"),
        [
            ("title: Plain words, with: colon", "Plain words, with: colon"),
            ("title: 'It''s'", "It's"),
            ('title: "Caf\\u00e9"  # comment', "Café"),
            ("title: >-\n  folded\n  words", "folded words"),
            ("title:\n  next line", "next line"),
            ("title: a\ntitle: b", "b"),
            ("'title': quoted key", "quoted key"),
            ("title: 2024", "2024"),
            ("title: yes", "yes"),
            ("title: 2024-01-01", "2024-01-01"),
            ("x:\n  title: nested", None),
            ("title: [a, list]", None),
            ("title: ~", None),
            ("title: null", None),
            ("title:", None),
            ("titles: no", None),
        ],
    )
    def test_read_yaml(self, yaml: str, title: str | None) -> None:
        assert facts(f"---\nid: x\n{yaml}\n---\n").title == title

    @pytest.mark.parametrize(
        "yaml",
        [
            "title: 'Open",
            "title: A title\n\tbad: [",
            "bad: [}\ntitle: Open\n- x: {",
            "a: *gone\ntitle: Open",
            "\0: x\ntitle: Open",
        ],
    )
    def test_of_malformed_yaml_are_read_line_by_line(self, yaml: str) -> None:
        assert facts(f"---\nid: x\n{yaml}\n---\n").title in {"Open", "A title"}

    def test_never_construct_objects(self) -> None:
        assert facts("---\na: 1\ntitle: !!python/object/apply:os.getcwd []\n---\n").title is None

    def test_of_front_matter_that_is_nested_deeply_or_long_are_bounded(self) -> None:
        assert facts("---\ntitle: " + "[" * 100_000 + "\n---\n").title is None
        assert facts("---\ntitle: &a " + "[" * 100_000 + "\n---\n").title is not None
        assert facts("---\nid: x\n" + "k: v\n" * 20_000 + "title: Late\n---\n# H").title is None
        assert len(facts("---\ntitle: " + "x" * 10_000 + "\n---\n").title or "") == 300

    @pytest.mark.parametrize(
        "text", ["---\ntitle: Open\n", "\n---\ntitle: Open\n---\n", "---\n# Real heading\n\ntext\n---\n"]
    )
    def test_do_not_take_everything_between_rules_for_front_matter(self, text: str) -> None:
        assert facts(text).title is None


PAGE = """---
title: Page
---

# Caching

Intro.

## Keys

By hash.

### Size

Small.

## Eviction

Old ones.

### Size

Large.

Setext
------

```
# code
```

> ## quoted
"""


class TestHeadings:
    def test_have_levels_and_plain_text(self) -> None:
        assert [(each.level, each.text) for each in headings(PAGE)] == [
            (1, "Caching"),
            (2, "Keys"),
            (3, "Size"),
            (2, "Eviction"),
            (3, "Size"),
            (2, "Setext"),
        ]

    def test_sections_reach_to_the_next_heading_of_the_same_or_a_higher_level(self) -> None:
        found = {each.text: PAGE[each.start : each.end] for each in headings(PAGE)}
        assert found["Caching"] == PAGE[PAGE.index("# Caching") :]
        assert found["Keys"] == "## Keys\n\nBy hash.\n\n### Size\n\nSmall.\n\n"

    def test_offsets_are_code_points(self) -> None:
        text = "\ufeffäöü — 🐍\r\n\r\n# Eins 🐍\r\n\r\nñ\r\n\r\nZwei\r\n====\r\n"
        first, second = headings(text)
        assert text[first.start : first.end] == "# Eins 🐍\r\n\r\nñ\r\n\r\n"
        assert text[second.start : second.end] == "Zwei\r\n====\r\n"

    def test_are_counted_up_to_a_bound(self) -> None:
        text = "# h\n" * (MAX_HEADINGS + 5)
        found = headings(text)
        assert (len(found), found[-1].end) == (MAX_HEADINGS, len(text))

    def test_are_found_behind_a_megabyte(self) -> None:
        text = "word word word\n\n" * 70_000 + "# Far\n\ntext"
        assert section(text, "Far") == "# Far\n\ntext"

    @given(st.text(alphabet="#=-> \n`ä🐍ab\r\t", max_size=300))
    @settings(deadline=None)
    def test_sections_nest_and_begin_at_their_heading(self, text: str) -> None:
        found = headings(text)
        assert all(each.start < each.end <= len(text) for each in found)
        assert all(a.start < b.start and (b.start >= a.end or b.end <= a.end) for a, b in pairwise(found))


class TestSection:
    def test_is_the_section_alone_with_its_heading(self) -> None:
        assert section(PAGE, "Keys") == "## Keys\n\nBy hash.\n\n### Size\n\nSmall.\n\n"

    @pytest.mark.parametrize("name", ["keys", " KEYS ", "## Keys", "K eys", "Caching > Keys", "caching>keys"])
    def test_is_found_without_case_white_space_and_signs(self, name: str) -> None:
        assert section(PAGE, name) == section(PAGE, "Keys") is not None

    def test_an_exact_name_comes_first(self) -> None:
        text = "# KEYS\n\none\n\n# keys\n\ntwo\n"
        assert section(text, "keys") == "# keys\n\ntwo\n"

    def test_of_several_is_the_first(self) -> None:
        assert section(PAGE, "Size") == "### Size\n\nSmall.\n\n"

    def test_is_told_apart_by_its_parents(self) -> None:
        assert section(PAGE, "Eviction > Size") == "### Size\n\nLarge.\n\n"
        assert section(PAGE, "Caching > Eviction > Size") == "### Size\n\nLarge.\n\n"

    def test_of_a_heading_with_an_angle_bracket_is_found_by_its_text(self) -> None:
        assert section("# a\n\n## b > c\n\nx", "b > c") == "## b > c\n\nx"

    @pytest.mark.parametrize("name", ["Sizes", "", " ", "#", "code", "quoted", "Setext > Size", "Keys > Eviction", ">"])
    def test_is_none_where_no_heading_fits(self, name: str) -> None:
        assert section(PAGE, name) is None


class TestFirstProse:
    def test_is_the_first_paragraph_as_plain_text(self) -> None:
        text = "---\ntitle: x\n---\n# H\n\n![badge](x.svg)\n\nThe **first** [link](x.md),\n`code` &amp; [[a|b]].\n\nB\n"
        assert first_prose(text) == "The first link, code & b."

    def test_skips_code_tables_html_and_lists(self) -> None:
        text = "```\ncode\n```\n\n    code\n\n| a |\n|---|\n| b |\n\n<!-- c -->\n<div>d</div>\n\n- item\n\nProse.\n"
        assert first_prose(text) == "Prose."

    def test_may_be_quoted(self) -> None:
        assert first_prose("# H\n\n> A summary.\n\nText.\n") == "A summary."

    def test_is_the_first_item_where_there_are_only_lists(self) -> None:
        assert first_prose("# H\n\n- one\n- two\n") == "one"

    @pytest.mark.parametrize("text", ["", "# H\n", "---\na: b\n---\n", "```\nx\n```", "\n\n"])
    def test_is_empty_where_there_is_none(self, text: str) -> None:
        assert first_prose(text) == ""

    def test_is_bounded(self) -> None:
        assert len(first_prose("word " * 10_000)) <= 1_000
