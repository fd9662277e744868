"""What one index file lists: its links, each with the words that belong to it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from sync import front_matter
from sync.blocks import Block, BlockKind, Piece, PieceKind
from sync.markdown import blocks
from sync.wiki_paths import Miss
from sync.wiki_titles import TYPES, canonical_type

MAX_BLOCKS = 50_000  # paragraphs, headings and rows of one index that are read
MAX_LINKS = 20_000  # links of one index that are read
MAX_TEXT = 300  # code points of a link's text or a heading that are kept
MAX_DESCRIPTION = 500  # code points
_MAX_LABEL = 200  # code points before a link; the nearest are kept

_AROUND = " \t\r\n|—–-:→←⇒=>•·,;"  # what stands between a link and the words that belong to it
_NO_WORDS = re.compile(r"[\W_]*+(?:and|or)?[\W_]*+", re.IGNORECASE)
_CODE_WIKILINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")

Resolve = Callable[[str, bool], str | Miss]  # a target, and whether it is a wikilink's → a page's path


@dataclass(frozen=True, slots=True)
class Link:
    """A link of an index to a ``page`` (its path below ``.wiki/``), or to none that exists or is the only one.

    ``text`` is what it shows, ``section`` the heading it stands under (``""``: none), ``description`` the label
    before it and the words after it: of its line and the next lines, its list item, its table row."""

    page: str | Miss
    text: str
    section: str
    description: str


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class _Reference:
    page: str | Miss
    text: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """A reference with its words; ``words`` grows while the text goes on, and neighbours may share it."""

    reference: _Reference
    heading: _Heading | None
    label: str
    words: list[str]


_Token = str | _Reference


@dataclass(frozen=True, slots=True)
class Survey:
    """An index file as one who edits it sees it: its ``blocks`` and ``links``, in order.

    ``first[n]`` counts the links in front of block ``n``; there is one more of it than of blocks. ``sections`` are
    the names of the sections that headings open, by the headings' numbers among the blocks."""

    blocks: tuple[Block, ...]
    links: tuple[Link, ...]
    first: tuple[int, ...]
    sections: Mapping[int, str]

    def part(self, blocks: range) -> Survey:
        """What consecutive ``blocks`` hold, by themselves."""
        first = self.first[blocks.start : blocks.stop + 1]
        return Survey(
            self.blocks[blocks.start : blocks.stop],
            self.links[first[0] : first[-1]],
            tuple(each - first[0] for each in first),
            {at - blocks.start: self.sections[at] for at in blocks if at in self.sections},
        )

    @property
    def complete(self) -> bool:
        """Whether one more heading with one more link would still be read."""
        return len(self.links) < MAX_LINKS and len(self.blocks) + 1 < MAX_BLOCKS


def read_links(text: str, resolve: Resolve) -> list[Link]:
    """The links of an index, in order. What ``resolve`` finds ``ELSEWHERE`` is text like any other, and so is a
    wikilink in a code span and a plain path in a table cell for which it finds no page."""
    index = _Index(resolve)
    for _ in index.read(text):
        pass
    return index.links()


def survey(text: str, resolve: Resolve) -> Survey:
    """An index file with its links as ``read_links`` gives them."""
    index = _Index(resolve)
    found: list[Block] = []
    first = [0]
    for block in index.read(text):
        found.append(block)
        first.append(len(index.entries))
    sections = {at: index.section(block) for at, block in enumerate(found) if block.level}
    return Survey(tuple(found), tuple(index.links()), tuple(first), sections)


class _Index:
    """Collects an index's entries, block by block."""

    def __init__(self, resolve: Resolve) -> None:
        self.entries: list[_Entry] = []
        self._resolve = resolve
        self._headings: list[_Heading] = []  # those around the next block
        self._titles = 0  # level-1 headings so far
        self._items: list[tuple[int, list[str]]] = []  # depth and words of the list items that are open
        self._waiting: list[str] | None = None  # the words of a link that stands alone, for the next paragraph

    def read(self, text: str) -> Iterator[Block]:
        """Add the blocks of ``text``, as many as are read of an index, each when it is asked for."""
        for block in islice(blocks(text, front_matter.split(text)[1]), MAX_BLOCKS):
            self._add(block)
            yield block
            if len(self.entries) >= MAX_LINKS:
                break

    def _add(self, block: Block) -> None:
        while self._headings and block.level and self._headings[-1].level >= block.level:
            self._headings.pop()
        entries: list[_Entry] = []
        if block.kind is BlockKind.ROW or any(
            piece.kind is not PieceKind.TEXT for cell in block.cells for piece in cell
        ):
            entries = _entries(_lines(block, self._resolve), self._headings[-1] if self._headings else None)
        self._connect(block, entries)
        self.entries += entries
        if block.level:
            self._titles += block.level == 1
            self._headings.append(_heading(block))

    def _connect(self, block: Block, entries: list[_Entry]) -> None:
        """Give a block without links to the entry that it goes on; remember which one the next block may go on."""
        while self._items and self._items[-1][0] >= block.depth + (not block.opens):
            self._items.pop()
        waiting, self._waiting = self._waiting, None
        if entries:
            last = entries[-1]
            if block.depth:
                self._items.append((block.depth, last.words))
            elif block.kind in {BlockKind.PARAGRAPH, BlockKind.HEADING} and not _description(last):
                self._waiting = last.words
        elif block.kind is BlockKind.PARAGRAPH and (waiting is not None or self._items):
            _go_on(self._items[-1][1] if waiting is None else waiting, block.text)

    def links(self) -> list[Link]:
        return [
            Link(entry.reference.page, entry.reference.text, self._section(entry.heading), _description(entry))
            for entry in self.entries
        ]

    def section(self, block: Block) -> str:
        """The name of the section that a heading opens."""
        return self._section(_heading(block))

    def _section(self, heading: _Heading | None) -> str:
        """A heading's text. That of the whole index, which the only one of level 1 is, makes no section, unless it
        names a type."""
        if heading is None or (heading.level == self._titles == 1 and canonical_type(heading.text) not in TYPES):
            return ""
        return heading.text


def _heading(block: Block) -> _Heading:
    return _Heading(block.level, block.text[:MAX_TEXT])


def _go_on(words: list[str], text: str) -> None:
    """Let words go on with a further line, unless there are enough of them."""
    line = " ".join(text.split())[:MAX_DESCRIPTION]
    if line and sum(map(len, words)) < MAX_DESCRIPTION:
        words.append(line)


def _description(entry: _Entry) -> str:
    parts = (entry.label[-_MAX_LABEL:], " ".join(entry.words))
    return " — ".join(part for part in map(trim, parts) if part)[:MAX_DESCRIPTION]


def trim(text: str) -> str:
    """A description as it is read: on one line, without what only parts it from a link."""
    text = " ".join(text.split()).strip(_AROUND)
    return "" if _NO_WORDS.fullmatch(text) else text


def _entries(lines: Iterable[list[_Token]], heading: _Heading | None) -> list[_Entry]:
    """The references of a block. What stands before the first one of a line is the label of all in that line; what
    follows one belongs to it, and to those that only a comma parts from it. A line without any goes on the last."""
    entries: list[_Entry] = []
    lead: list[str] = []
    for line in lines:
        label, pairs = _pairs(line)
        if not pairs:
            if entries:
                _go_on(entries[-1].words, label)
            else:
                lead.append(label)
            continue
        label = " ".join((*lead, label))
        lead.clear()
        words: list[str] = []
        found: list[_Entry] = []
        for reference, after in reversed(pairs):
            if trim(after) or not found:
                words = []
                _go_on(words, after)
            found.append(_Entry(reference, heading, label, words))
        entries += reversed(found)
    return entries


def _pairs(line: list[_Token]) -> tuple[str, list[tuple[_Reference, str]]]:
    """A line's words before its first reference, and each reference with the words up to the next."""
    words: list[list[str]] = [[]]
    references: list[_Reference] = []
    for token in line:
        if isinstance(token, str):
            words[-1].append(token)
        else:
            references.append(token)
            words.append([])
    label, *after = ("".join(parts) for parts in words)
    return label, list(zip(references, after, strict=True))


def _lines(block: Block, resolve: Resolve) -> Iterator[list[_Token]]:
    """A block's lines; a table row is one."""
    if block.kind in {BlockKind.ROW, BlockKind.HEAD}:
        cells = [list(_tokens(cell, resolve)) for cell in block.cells]
        if block.kind is BlockKind.ROW and all(isinstance(token, str) for cell in cells for token in cell):
            _find_paths(cells, resolve)
        yield [token for cell in cells for token in (*cell, " — ")]
        return
    line: list[_Token] = []
    for token in _tokens(block.cells[0], resolve):
        if isinstance(token, str):
            start, *others = token.split("\n")
            line.append(start)
            for other in others:
                yield line
                line = [other]
        else:
            line.append(token)
    yield line


def _tokens(pieces: Iterable[Piece], resolve: Resolve) -> Iterator[_Token]:
    for piece in pieces:
        if piece.kind is PieceKind.TEXT:
            yield piece.text
        elif piece.kind is PieceKind.CODE:
            yield from _code_tokens(piece.text, resolve)
        else:
            wiki = piece.kind is PieceKind.WIKILINK
            page = resolve(piece.target, wiki)
            yield piece.text if page is Miss.ELSEWHERE else _reference(page, piece.text, piece.target)


def _code_tokens(code: str, resolve: Resolve) -> Iterator[_Token]:
    end = 0
    for match in _CODE_WIKILINK.finditer(code):
        page = resolve(match[1], True)
        if isinstance(page, str):
            yield code[end : match.start()]
            yield _reference(page, match[2] or match[1], match[1])
            end = match.end()
    yield code[end:]


def _reference(page: str | Miss, text: str, target: str) -> _Reference:
    """A reference; a wikilink that shows its target does not show the heading in it."""
    shown = text.partition("#")[0] if text == target else text
    return _Reference(page, shown.strip()[:MAX_TEXT])


def _find_paths(cells: list[list[_Token]], resolve: Resolve) -> None:
    """Make references of those cells of a row that hold nothing but the path of a page: one that is written as such,
    or else any word in the first cell."""
    texts = [" ".join("".join(token for token in cell if isinstance(token, str)).split()) for cell in cells]
    written = [at for at, text in enumerate(texts) if text.endswith(".md") or ("/" in text and " " not in text)]
    for at in written or [0]:
        page = resolve(texts[at], False) if texts[at] else Miss.ELSEWHERE
        if isinstance(page, str):
            cells[at] = [_Reference(page, texts[at])]
