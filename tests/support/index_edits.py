"""Edits of the root index of a small wiki."""

from __future__ import annotations

from sync.index_edit import edit_index
from sync.index_style import Entry
from tests.support.wikis import tree_of

KNOWN = ("concepts/a.md", "concepts/b.md", "entities/b.md", "guides/deploy.md", "parts/index.md", "index.md")
NEW = Entry("concepts/new.md", "concepts", "New page", "what it says", titled=True)
LINE = "[New page](concepts/new.md) — what it says"


def edited(index: str | None, entry: Entry = NEW, *, path: str = "index.md", in_sub_index: bool = False) -> str:
    tree = tree_of(dict.fromkeys(KNOWN, ""))
    data = None if index is None else index.encode()
    return edit_index(data, entry, tree, path, in_sub_index=in_sub_index).decode()


def added(index: str, entry: Entry = NEW) -> str:
    """What an edit adds."""
    new = edited(index, entry)
    start = next((at for at, (old, made) in enumerate(zip(index, new, strict=False)) if old != made), len(index))
    end = start + len(new) - len(index)
    assert new[:start] + new[end:] == index
    return new[start:end]
