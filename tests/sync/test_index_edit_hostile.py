"""A long index of whatever shape is edited, and read no more than that takes."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cache.errors import Conflict
from sync.index_edit import edit_index
from sync.index_style import Entry
from sync.wiki_index import decode_index
from tests.support.wikis import listed, tree_of

NEW = Entry("concepts/new.md", "concepts", "New page", "what it says", titled=True)
OLD = Entry("b.md", "other", "Other title", "what it says", titled=True)
LONG = 256 * 1024  # code points

LISTED = {
    "a long list": "## Concepts\n\n" + "- [b](b.md) — x\n" * 1_500,
    "a long table": "## Concepts\n\n|a|b|\n|-|-|\n" + "|[b](b.md)|x|\n" * 1_500,
    "a list of loose items": "## Concepts\n\n" + "1. [b](b.md)\n\n" * 1_500,
    "code that never ends": "## Concepts\n\n- [b](b.md)\n\n```\n" + "a\n" * (LONG // 2 - 20),
    "a comment that never ends": "<!--" + "a" * (LONG - 10),
    "brackets": "[" * LONG,
    "wikilinks that never end": "[[a|" * (LONG // 4),
    "quotes in quotes": ">" * (LONG // 4) + "a\n",
    "lists in lists": "- " * (LONG // 8) + "a\n",
    "bars": "## Concepts\n\n|a|b|\n|-|-|\n|[b](b.md)" + "|" * (LONG - 50),
    "marks": "## Concepts\n\n" + f"- {'*' * 3_900}[b](b.md)\n" * 60,
    "blank lines": "\n" * LONG,
    "old line ends": "## Concepts\r\r" + "- [b](b.md) — x\r" * 500,
    "headings": "# Concepts\n" * 1_000,
}


@pytest.mark.parametrize("name", LISTED)
def test_a_page_is_listed_in(name: str) -> None:
    data = LISTED[name].encode()
    new = edit_index(data, NEW, tree_of({"index.md": "", "b.md": ""}), "index.md")
    start = next((at for at, (old, made) in enumerate(zip(data, new, strict=False)) if old != made), len(data))
    assert new[:start] + new[start + len(new) - len(data) :] == data
    assert "concepts/new" in listed(decode_index(new), "b.md", "concepts/new.md")


@pytest.mark.parametrize("name", LISTED)
def test_a_listed_page_is_changed_or_left_in(name: str) -> None:
    data = LISTED[name].encode()
    with suppress(Conflict):
        new = edit_index(data, OLD, tree_of({"index.md": "", "b.md": ""}), "index.md")
        assert "b" in listed(decode_index(new), "b.md")
