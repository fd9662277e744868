"""An edit of an index, tried before it counts: what it makes is read again by the reader itself. Pure.

An index may be as long as 1 MiB, so only what is near an edit is read again: what begins in front of it and behind it,
and the heading above. What a block is does not depend on what stands further away; where it does all the same, the
whole index is read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cache.model import MAX_INDEX
from sync import front_matter
from sync.blocks import Block, BlockKind
from sync.index_change import Change, line_start
from sync.index_leads import Leads
from sync.index_style import Entry
from sync.wiki_links import MAX_DESCRIPTION, Link, Survey, survey, trim
from sync.wiki_titles import TYPES, canonical_type, repeats_path

MAX_READ = MAX_INDEX  # code points that all trials of one edit read
MAX_BEHIND = 64 * 1024  # code points behind an edit that are near

_SEPARATORS = 10  # code points that may part a description from what stands before and behind it
_OLD_LINE_END = re.compile(r"\r(?!\n)")  # the reader takes all that it parts for one line


@dataclass(frozen=True, slots=True)
class _Part:
    """The code points from ``start`` to before ``end`` of an index, which hold the ``blocks`` of these numbers. To be
    read as they are in the whole, they need ``above`` in front: a number of ``leading`` blocks."""

    start: int
    end: int
    blocks: range
    above: str = ""
    leading: int = 0


class Trial:
    """Tries changes of an index with this ``text``, which was ``seen`` as the survey of it, for one ``entry``."""

    def __init__(self, text: str, seen: Survey, entry: Entry, leads: Leads) -> None:
        self._text = text
        self._seen = seen
        self._entry = entry
        self._leads = leads
        self._front = _front(text)
        starts = () if _OLD_LINE_END.search(text) else enumerate(_boundary(text, block) for block in seen.blocks)
        self._boundaries = [(start, number) for number, start in starts if start is not None]
        self._unread = MAX_READ
        self._read_all = False

    def adds(self, change: Change) -> bool:
        """Whether the change lists the entry, in its section, and leaves all other text and links as they are."""
        return any(self._added(*read) for read in self._readings(change))

    def _added(self, before: Survey, after: Survey, at: int) -> bool:
        end = at + len(after.blocks) - len(before.blocks)
        link = before.first[at]
        return (
            len(after.links) == len(before.links) + 1
            and (*after.links[:link], *after.links[link + 1 :]) == before.links
            and _same([*after.blocks[:at], *after.blocks[end:]], before.blocks)
            and sum(block.kind is not BlockKind.HEADING for block in after.blocks[at:end]) == 1
            and self._lists(after.links[link])
        )

    def _lists(self, link: Link) -> bool:
        """Whether a link lists the entry as it should."""
        entry = self._entry
        placed = entry.type not in TYPES or canonical_type(link.section) == entry.type
        return link.page == entry.path and placed and self.shows(link) and self.describes(link)

    def alters(self, change: Change, *, title: bool, description: bool) -> bool:
        """Whether a change of one line gives the first link in it to the page the entry's ``title`` or ``description``
        or both, and leaves all else as it is."""
        return any(self._altered(*read, title=title, description=description) for read in self._readings(change))

    def _altered(self, before: Survey, after: Survey, end: int, *, title: bool, description: bool) -> bool:
        links = range(before.first[end - 1], before.first[end])
        at = next((number for number in links if before.links[number].page == self._entry.path), None)
        if at is None or len(after.links) != len(before.links):
            return False
        old, new = before.links[at], after.links[at]
        return (
            (self.shows(new) if title else new.text == old.text)
            and (self.describes(new) if description else new.description == old.description)
            and (new.page, new.section) == (old.page, old.section)
            and (*before.links[:at], new, *before.links[at + 1 :]) == after.links
            and _same(after.blocks[: end - 1], before.blocks[: end - 1])
            and _same(after.blocks[end:], before.blocks[end:])
        )

    def shows(self, link: Link) -> bool:
        """Whether the page is called by the entry's title where ``link`` lists it."""
        entry = self._entry
        return link.text == entry.title or (entry.titled and repeats_path(link.text, entry.slug))

    def describes(self, link: Link) -> bool:
        """Whether the entry's words describe the page; of many the reader keeps the first, separator included."""
        wanted, found = trim(self._entry.description), link.description
        return found == wanted or (len(found) > MAX_DESCRIPTION - _SEPARATORS and wanted.startswith(found))

    def _readings(self, change: Change) -> Iterator[tuple[Survey, Survey, int]]:
        """What is near a change, before and after it, and the number of the blocks that begin in front of it; then the
        same of all, if what is near was misunderstood, but only for the first such change. Nothing where the change
        makes front matter of what was none, nor once too much was read."""
        near = self._near(change)
        whole = _Part(0, len(self._text), range(len(self._seen.blocks)))
        if _front(change.apply(self._text)) != self._front:
            return
        for part in (near, whole):
            above, below = self._text[part.start : change.start], self._text[change.end : part.end]
            after = self._survey(part, above + change.new + below)
            if after is None:
                return
            before = self._seen.part(part.blocks)
            yield before, after, bisect_left(before.blocks, change.start, key=_start)
            if part == whole or self._is_understood(part, before) or self._read_all:
                return
            self._read_all = True

    def _survey(self, part: _Part, text: str) -> Survey | None:
        """A survey of a part with ``text`` in it, if not too much was read so far."""
        self._unread -= len(part.above) + len(text)
        if self._unread < 0:
            return None
        found = survey(part.above + text, self._leads)
        return found.part(range(part.leading, len(found.blocks)))

    def _is_understood(self, part: _Part, seen: Survey) -> bool:
        """Whether a part is read by itself as in the whole."""
        alone = self._survey(part, self._text[part.start : part.end])
        return alone is not None and alone.links == seen.links and _same(alone.blocks, seen.blocks)

    def _near(self, change: Change) -> _Part:
        """From the last block that begins in front of a change to the end of the first that begins behind it."""
        boundaries, blocks = self._boundaries, self._seen.blocks
        before = bisect_left(boundaries, (change.start, 0)) - 1
        behind = bisect_left(boundaries, (change.end, 0)) + 1
        start, first = boundaries[before] if before >= 0 else (0, 0)
        end = boundaries[behind][0] if behind < len(boundaries) else len(self._text)
        end = min(end, change.end + MAX_BEHIND)
        return _Part(start, end, range(first, bisect_left(blocks, end, key=_start)), *self._above(first))

    def _above(self, number: int) -> tuple[str, int]:
        """What a block stands under: the heading of its section, and in a table the head of that."""
        text, blocks = "", self._seen.blocks
        heading = next((at for at in range(number - 1, -1, -1) if at in self._seen.sections), None)
        if heading is not None:
            text += f"{self._text[blocks[heading].start : blocks[heading].end]}\n\n"
        if number < len(blocks) and blocks[number].kind is BlockKind.ROW:
            head = next(at for at in range(number - 1, -1, -1) if blocks[at].kind is BlockKind.HEAD)
            text += self._text[blocks[head].start : line_start(self._text, blocks[head + 1].start)]
            return text, 1 + (heading is not None)
        return text, int(heading is not None)


def _start(block: Block) -> int:
    return block.start


def _boundary(text: str, block: Block) -> int | None:
    """Where the line begins with which reading can begin anew, if it can with this block."""
    if block.quoted or block.depth > 1 or (block.depth and not block.opens):
        return None
    start = line_start(text, block.start)
    return start if not start or text[start - 1] in "\r\n" else None


def _same(some: Sequence[Block], others: Sequence[Block]) -> bool:
    """Whether blocks are the same wherever they stand."""
    return [block._replace(start=0, end=0) for block in some] == [block._replace(start=0, end=0) for block in others]


def _front(text: str) -> tuple[str, bool]:
    """The front matter, and whether there is any, be it empty."""
    yaml, body = front_matter.split(text)
    return yaml, body > 1
