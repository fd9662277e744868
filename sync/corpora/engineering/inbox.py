"""The inbox: what was captured and is not filed yet, as one document with a section for each entry. Pure.

Entries are added at the end and taken out whole; everything else stays as it is. An entry keeps its words, but for its
headings, which become deeper than its own, and code or HTML that it leaves open, which is closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from cache.errors import Conflict
from sync import front_matter
from sync.closing import closing
from sync.corpora.engineering.document import TOP, headings
from sync.corpora.engineering.levels import lowered
from sync.corpora.engineering.lines import LINE_END, content_lines, filled, gap_behind, line_end_before
from sync.corpora.engineering.sections import checked, line_of

TITLE: Final = "Knowledge inbox"
TOPIC: Final = "suggestedTopic"

_STAMP: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?: — (.+))?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A section of the inbox, from ``start`` to ``end``; ``number`` counts from 1. What was captured has a
    ``timestamp``, and a ``topic`` where one was suggested; what somebody wrote by hand has its heading as topic."""

    number: int
    timestamp: str | None
    topic: str | None
    content: str
    start: int
    end: int

    def same_as(self, other: Entry) -> bool:
        """Whether both are one, wherever it stands."""
        return (self.timestamp, self.topic, self.content) == (other.timestamp, other.topic, other.content)


def entries(text: str) -> tuple[Entry, ...]:
    """The entries of an inbox, in order."""
    tops = [each for each in headings(text) if each.level <= TOP]
    ends = [*(each.start for each in tops), len(text)][1:]
    own = [(each, end) for each, end in zip(tops, ends, strict=True) if each.level == TOP]
    found = []
    for number, (heading, end) in enumerate(own, 1):
        stamp = _STAMP.fullmatch(heading.text)
        timestamp, topic = (stamp[1], stamp[2]) if stamp else (None, heading.text or None)
        first, last = filled(text, heading.body, end)
        content = text[first:last].rstrip("\r\n")
        found.append(Entry(number, timestamp, topic, content, heading.start, end))
    return tuple(found)


def with_entry(text: str, content: str, topic: str | None, timestamp: str) -> str:
    """The inbox with one more entry.

    Raises ``InvalidArgument`` for content and topic, ``Conflict`` where the inbox itself leaves no place for them."""
    suffix = f" — {checked(topic, TOPIC)}" if topic and not topic.isspace() else ""
    body = lowered("\n".join(content_lines(content)), TOP + 1)
    lines = [line_of(timestamp + suffix, TOP, TOPIC), "", *LINE_END.split(body)]
    if end := closing(body):
        lines.append(end)
    line_end = line_end_before(text, len(text))
    before = text if text.strip() else f"# {TITLE}{line_end}"
    yaml, start = front_matter.split(before)
    if end := closing(before, start):  # as somebody left it
        before += ("" if before.endswith(("\n", "\r")) else line_end) + end + line_end
    made = before + gap_behind(before, line_end) + line_end.join(lines) + line_end
    if front_matter.split(made)[0] != yaml:
        raise Conflict("the inbox begins with front matter that does not end — end it there, which is an edit by hand")
    return made


def without(text: str, entry: Entry) -> str:
    """The inbox without one of its entries."""
    return text[: entry.start] + text[entry.end :]
