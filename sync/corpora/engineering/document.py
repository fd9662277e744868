"""A document's text: its title and tags, and its headings with the exact ranges of what is theirs. Pure.

Headings are those of CommonMark at the top level: ATX or setext, not in code, comments, lists, quotes or front matter.
Ranges are code point offsets from line to line, which in text decoded from UTF-8 makes them exact to the byte.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from cache.model import PageFacts
from sync import front_matter
from sync.corpora.engineering.lines import line_start, next_line
from sync.corpora.engineering.paths import stem
from sync.markdown import blocks
from sync.page import facts

TOP: Final = 2  # the level from which on headings make sections
DEEPEST: Final = 6

BEGINNING: Final = 2_000  # code points in which most documents have said their title


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of ``level`` 1 to 6 with its plain ``text``, and that of the headings ``above`` it, outermost first.

    It stands in the lines from ``start`` to ``body``; its own body, without what further headings head, goes on to
    ``end``."""

    level: int
    text: str
    above: tuple[str, ...]
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What a document says of itself."""

    title: str
    tags: tuple[str, ...]


def etag(data: bytes) -> str:
    """What changes whenever a file's bytes do."""
    return hashlib.sha256(data).hexdigest()[:32]


def facts_of(text: str, path: str) -> Facts:
    """The title is that of the front matter, else the first level-1 heading, else the file's name."""
    said = _said(text)
    tags = front_matter.tags(front_matter.split(text)[0])
    return Facts(said.title or said.heading or stem(path), tags)


def _said(text: str) -> PageFacts:
    """What the first lines say, if they do: to read all of them takes longer than all else that a call does."""
    cut = text.rfind("\n", 0, front_matter.split(text)[1] + BEGINNING) + 1
    said = facts(text[:cut])
    is_final = said.title or (said.heading and "[" not in said.heading)  # what a link is, may be said at the end
    return said if is_final else facts(text)


def headings(text: str, start: int | None = None) -> tuple[Heading, ...]:
    """All headings in order. ``start`` is where the Markdown begins, behind the front matter if it is not given."""
    begin = front_matter.split(text)[1] if start is None else start
    found = [block for block in blocks(text, begin) if block.level]
    starts = [max(begin, line_start(text, block.start)) for block in found]
    ends = [*starts, len(text)][1:]
    above: list[tuple[int, str]] = []
    made = []
    for block, first, end in zip(found, starts, ends, strict=True):
        while above and above[-1][0] >= block.level:
            above.pop()
        body = min(next_line(text, block.end), end)
        names = tuple(name for _, name in above)
        made.append(Heading(block.level, block.text, names, first, body, end))
        above.append((block.level, block.text))
    return tuple(made)
