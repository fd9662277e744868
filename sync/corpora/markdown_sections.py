"""A Markdown text in sections: what stands under each heading, by CommonMark. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sync.markdown import blocks


class Part(NamedTuple):
    """A heading, its ``level`` (1–6; 0 for what comes before the first) and its own text, up to the next heading."""

    level: int
    heading: str
    text: str


def parts(text: str, body: int) -> Iterator[Part]:
    """The parts of ``text`` from the offset ``body`` on. Headings in lists, quotes and code are none."""
    level, heading, start = 0, "", body
    for block in blocks(text, body):
        if block.level:
            yield Part(level, heading, text[start : block.start])
            level, heading, start = block.level, block.text, block.end
    yield Part(level, heading, text[start:])
