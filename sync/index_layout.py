"""Where an index has room for one more entry, and how it writes those that it has. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from sync import front_matter
from sync.blocks import Block, BlockKind
from sync.index_change import Change, insert, is_blank_line, line_after, line_at, line_start
from sync.index_rewrite import Line
from sync.index_style import Example, LinkStyle, ListStyle, Style, next_prefix, table_style
from sync.inline import escape
from sync.wiki_links import Resolve, Survey
from sync.wiki_titles import TYPES, canonical_type

MAX_EXAMPLES = 50  # links of a list or table that are looked at for an example
MAX_HIDDEN = 64 * 1024  # code points of code or comments at the end of a section behind which an entry may go
MAX_GAP = 200  # code points in front of a list item in which a blank line is looked for

_NUMBER = re.compile(r"[0-9]+(?=[.)])")


@dataclass(frozen=True, slots=True)
class Group:
    """The numbers of the ``blocks`` of a list or table that stands in no other."""

    blocks: range
    is_table: bool


class Layout:
    """An index's ``text``, which was ``seen`` as the survey of it: its sections, lists and tables."""

    def __init__(self, text: str, seen: Survey, resolve: Resolve) -> None:
        self._text = text
        self._seen = seen
        self._resolve = resolve
        self._body = front_matter.split(text)[1]

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing behind front matter."""
        return not self._text[self._body :].strip()

    @property
    def whole(self) -> range:
        """The numbers of all blocks."""
        return range(len(self._seen.blocks))

    def section(self, type_: str) -> range | None:
        """The blocks of a type's section, from its heading to before the next heading, whatever the level of that. Of
        several sections the first that lists something, else the last."""
        found = [blocks for name, blocks in self._sections() if canonical_type(name) == type_]
        listing = (blocks for blocks in found if self._links(blocks[1:]))
        return next(listing, found[-1] if found else None)

    def _sections(self) -> Iterator[tuple[str, range]]:
        headings = list(self._seen.sections)
        for heading, end in zip(headings, [*headings, len(self._seen.blocks)][1:], strict=True):
            yield self._seen.sections[heading], range(heading, end)

    def _links(self, blocks: range) -> range:
        """The numbers of the links in these blocks."""
        first = self._seen.first
        return range(first[blocks.start], first[blocks.stop])

    def group(self, section: range) -> Group | None:
        """The list or table that a section's next entry belongs to: the last with an entry, else a list at its end."""
        groups = list(self._groups(section[1:]))
        listing = (group for group in reversed(groups) if self._links(group.blocks))
        at_end = (group for group in groups[-1:] if group.blocks.stop == section.stop and not group.is_table)
        return next(listing, next(at_end, None))

    def _groups(self, blocks: range) -> Iterator[Group]:
        for _, numbers in groupby(blocks, key=lambda number: self._seen.blocks[number].end):
            run = list(numbers)
            block = self._seen.blocks[run[0]]
            is_table = block.kind is BlockKind.HEAD and not block.depth
            if (is_table or block.depth) and not block.quoted:
                yield Group(range(run[0], run[-1] + 1), is_table)

    def style(self, group: Group) -> Style | None:
        """How the group's next entry is written; ``None`` if that cannot be told."""
        if group.is_table:
            head = self._seen.blocks[group.blocks[0]]
            rows = self._linking_lines(group)
            return next(filter(None, (table_style(head, line, page, self._resolve) for line, page in rows)), None)
        style = self._list_style(group)
        if style is None or self._links(group.blocks):
            return style
        other = self.fresh_style(group.blocks.start)
        return replace(style, link=other.link, separator=other.separator)

    def _list_style(self, group: Group) -> ListStyle | None:
        items = [block for block in self._blocks(group.blocks) if block.depth == 1 and block.opens]
        lines = [self._line(block) for block in items[-2:]]
        prefix = next_prefix(lines[-1], lines[-2] if len(lines) > 1 else None) if lines else None
        if prefix is None:
            return None
        found = (Example.find(line, page, self._resolve) for line, page in self._linking_lines(group))
        examples = list(filter(None, found))
        separators = (each.separator[0] for each in examples if each.leads and each.separator is not None)
        return ListStyle(
            prefix,
            examples[0].link if examples else LinkStyle(),
            next(separators, ListStyle().separator),
            loose=len(items) > 1 and self._is_blank_above(items[-1]),
        )

    def fresh_style(self, number: int) -> ListStyle:
        """How a new list in front of a block is written: as the nearest one above that links to pages, or else below,
        or with links as in a table."""
        groups = [group for group in self._groups(self.whole) if self._links(group.blocks)]
        above = [group for group in reversed(groups) if group.blocks.start < number]
        below = [group for group in groups if group.blocks.start >= number]
        nearest = sorted((*above, *below), key=lambda group: group.is_table)  # stable: lists first
        for style in map(self.style, islice(nearest, 2)):
            if isinstance(style, ListStyle):
                return replace(style, prefix=_NUMBER.sub("1", style.prefix, count=1), loose=False)
            if style is not None:
                return ListStyle(link=style.link)
        return ListStyle()

    def _blocks(self, numbers: range) -> Sequence[Block]:
        return self._seen.blocks[numbers.start : numbers.stop]

    def _linking_lines(self, group: Group) -> Iterator[tuple[str, str]]:
        """The lines of the group's last links, from the end on, each with the page that the link leads to."""
        left = MAX_EXAMPLES
        for number in reversed(group.blocks):
            for link in reversed(self._links(range(number, number + 1))):
                page = self._seen.links[link].page
                left -= 1
                if left < 0:
                    return
                if isinstance(page, str):
                    yield self._line(self._seen.blocks[number]), page

    def line(self, link: int, separator: str) -> Line | None:
        """The line of a link by its number, if it can be rewritten; ``separator`` parts a description that it lacks."""
        number = bisect_right(self._seen.first, link) - 1
        block, page = self._seen.blocks[number], self._seen.links[link].page
        example = Example.find(self._line(block), str(page), self._resolve)
        if example is None or block.quoted:
            return None
        start = line_start(self._text, block.start)
        if block.kind is BlockKind.ROW:
            head = next(each for each in reversed(self._seen.blocks[:number]) if each.kind is BlockKind.HEAD)
            return Line(start, example, head, separator)
        return Line(start, example, None, separator) if block.depth and example.leads else None

    def _line(self, block: Block) -> str:
        """The line in which a block begins."""
        return line_at(self._text, line_start(self._text, block.start))

    def _is_blank_above(self, block: Block) -> bool:
        start = line_start(self._text, block.start)
        lines = self._text[max(start - MAX_GAP, 0) : start].splitlines()
        return bool(lines) and not lines[-1].strip()

    def add_to(self, group: Group, line: str, *, loose: bool) -> Change:
        """A further line at the end of a list or table."""
        at = self._end(self._seen.blocks[group.blocks[0]].end)
        return insert(self._text, at, [line], above=loose, below=False)

    def add_list(self, section: range, line: str) -> Iterator[Change]:
        """A list of one line at the end of a section; where that is inside of code or a comment, in front of it."""
        alone = len(section) == 1 and self._is_tight()
        for at in self._ends(section):
            yield insert(self._text, at, [line], above=not alone, below=True)

    def add_section(self, type_: str, line: str) -> Iterator[Change]:
        """A section with one line at the end of the index; where that is inside of code or a comment, before that."""
        gap = [] if self._is_tight() else [""]
        for heading in (self._heading(type_), [f"## {escape(type_.capitalize())}"]):
            for at in self._ends(self.whole):
                yield insert(self._text, at, [*heading, *gap, line], above=True, below=True)

    def fill(self, type_: str, line: str) -> Change:
        """A whole index in the place of a blank one, with one line in the section of its type."""
        lines = ["# Wiki"]
        for name in TYPES if type_ in TYPES else (*TYPES, type_):
            lines += ["", f"## {name.capitalize()}", *(("", line) if name == type_ else ())]
        return insert(self._text, self._body, lines, above=True, below=True)

    def _ends(self, blocks: range) -> Iterator[int]:
        """Where blocks end with all that follows up to the next one, or with what of it can be seen."""
        everything = self._seen.blocks
        stop = (
            line_start(self._text, everything[blocks.stop].start) if blocks.stop < len(everything) else len(self._text)
        )
        visible = everything[blocks.stop - 1].end if blocks.stop else self._body
        if stop - visible <= MAX_HIDDEN:
            yield self._end(stop)
        yield self._end(visible)

    def _end(self, at: int) -> int:
        return line_after(self._text, at, self._body)

    def _is_tight(self) -> bool:
        """Whether what a type's section holds follows its heading without a blank line."""
        headings = (blocks for name, blocks in self._sections() if canonical_type(name) in TYPES and len(blocks) > 1)
        heading = next(headings, None)
        return heading is not None and not is_blank_line(self._text, self._seen.blocks[heading[0]].end)

    def _heading(self, type_: str) -> list[str]:
        """The lines of a heading for a type, as the index writes those of other types, the last one first."""
        name = type_.capitalize()
        titles = sum(block.level == 1 for block in self._seen.blocks)
        level, is_underlined = 1 if titles > 1 else 2, False
        examples = [(other, blocks[0]) for other, blocks in self._sections() if canonical_type(other) in TYPES]
        if examples:
            other, number = examples[-1]
            block = self._seen.blocks[number]
            level, is_underlined = block.level, not self._text.startswith("#", block.start)
            name = name.upper() if other.isupper() else name.lower() if other.islower() else name
        if is_underlined:
            return [escape(name), "=-"[level - 1] * len(name)]
        return [f"{'#' * level} {escape(name)}"]
