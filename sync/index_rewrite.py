"""The line of an index that lists a page already, with another title or description. Pure.

Only a list item that begins with its link, or a table's row, is rewritten: prose that mentions a page is its author's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sync.blocks import Block
from sync.index_change import Change
from sync.index_style import Entry, Example, bar, cells, description_at, words


@dataclass(frozen=True, slots=True)
class Line:
    """The line that begins at ``start`` and lists a page as ``example`` shows; in a table, which has this ``head``."""

    start: int
    example: Example
    head: Block | None
    separator: str

    def rewrite(self, entry: Entry, *, title: bool, description: bool) -> Iterator[Change]:
        """Ways to give it the entry's ``title`` or ``description`` or both, the best first; none where there is no
        place for it."""
        for thorough in (False, True):
            edits = [self._title(entry, thorough=thorough)] if title else []
            if description:
                edits += self._description(entry, thorough=thorough)
            if len(edits) == title + description:
                yield self._joined(sorted(edits))

    def _title(self, entry: Entry, *, thorough: bool) -> Change:
        """In place of the link's words, or as such where a wikilink has none."""
        in_cell = self.head is not None
        title = words(entry.title, thorough=thorough, in_cell=in_cell)
        match = self.example.match
        for group in ("text", "shown"):
            if match[group] is not None:
                return Change(*match.span(group), title)
        end = match.end("wiki")
        return Change(end, end, bar(in_cell=in_cell) + title)

    def _description(self, entry: Entry, *, thorough: bool) -> Iterator[Change]:
        if self.head is not None:
            yield from self._cell(self.head, words(entry.description, thorough=thorough, in_cell=True))
            return
        line, end = self.example.line, self.example.end
        new = words(entry.description, thorough=thorough)
        if not line[end:].strip():
            yield Change(end, end, self.separator + new)
        elif (parted := self.example.separator) is not None:
            yield Change(parted.end(), len(line.rstrip()), new)

    def _cell(self, head: Block, new: str) -> Iterator[Change]:
        """In place of what the cell holds that describes the page."""
        line, spans = self.example.line, cells(self.example.line)
        link_at = next(at for at, (_, end) in enumerate(spans) if self.example.match.start() < end)
        at = description_at(head, link_at)
        if at != link_at and at < len(spans):
            start, end = spans[at]
            old = line[start:end].strip()
            begin = line.index(old, start)
            yield Change(begin, begin + len(old), new) if old else Change(start, end, f" {new} ")

    def _joined(self, edits: list[Change]) -> Change:
        """One change of the whole text for those of the line, which are in order."""
        line = self.example.line
        at = edits[0].start
        new = ""
        for edit in edits:
            new += line[at : edit.start] + edit.new
            at = edit.end
        return Change(self.start + edits[0].start, self.start + at, new)
