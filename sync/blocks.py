"""A Markdown text's blocks: headings, paragraphs and table rows, each a sequence of text, code and links. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple

PIPE = "\ufdd0"  # stands for the bar of a wikilink inside a table row; a noncharacter, so texts do without it

_BRACKETED_PATH = re.compile(r"\(([^()\s]*[./][^()\s]*)\)")
_INLINE = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image", "TableCell"})
_CONTAINERS = frozenset({"List", "Item", "BlockQuote", "Table", "TableHead", "TableRow"})


class BlockKind(Enum):
    HEADING = auto()
    PARAGRAPH = auto()
    HEAD = auto()  # of a table
    ROW = auto()


class PieceKind(Enum):
    TEXT = auto()
    CODE = auto()
    LINK = auto()
    WIKILINK = auto()


class Piece(NamedTuple):
    r"""A run of one kind inside a block. ``text`` is what a reader sees, plain; in text, ``\n`` is the end of a line.

    ``target`` is a link's as written (entities and backslash escapes resolved, nothing else). Images are left out,
    but for their text inside a link."""

    kind: PieceKind
    text: str
    target: str = ""


class Block(NamedTuple):
    """A heading, a paragraph (or the text of a tight list item), a table's head or row. Code and HTML are left out.

    ``cells`` are those of a table's head or row, otherwise there is one. ``depth`` counts the list items around the
    block, ``opens`` tells that it is the first of the innermost one, ``quoted`` that it stands in a block quote.
    ``level`` (1–6) belongs to headings outside of lists and quotes; elsewhere it is 0.

    ``start`` is the code point offset where the block begins, with the marker of the list item that it opens, if not
    with white space before that (what follows a block in a tight item has that block's). ``end`` is where the list,
    table, quote, paragraph or heading ends that it belongs to and that stands in no other; after a list, where other
    text begins.
    """

    kind: BlockKind
    cells: tuple[tuple[Piece, ...], ...]
    depth: int = 0
    opens: bool = True
    quoted: bool = False
    level: int = 0
    start: int = 0
    end: int = 0

    @property
    def text(self) -> str:
        """What a reader sees, on one line."""
        return plain(piece for cell in self.cells for piece in cell)


def plain(pieces: Iterable[Piece]) -> str:
    """The pieces' text on one line, white space folded."""
    return " ".join("".join([piece.text for piece in pieces]).split())


class BlockBuilder:
    """Makes blocks of a parser's events, whose names are those of CommonMark's elements in pulldown-cmark.

    What opens or closes an element returns the block that thereby ended, if one did. ``start`` and ``end`` are those
    of the next block; who feeds the builder knows them, and sets them once an element was opened."""

    def __init__(self) -> None:
        self.nesting = 0  # open lists, items, quotes, tables and rows
        self.start = 0
        self.end = 0
        self._quotes = 0
        self._items: list[bool] = []  # for each open list item, whether nothing of it was seen yet
        self._cells: list[tuple[Piece, ...]] = []
        self._level = 0  # of an open heading outside of lists and quotes
        self._silent = False  # inside code
        self._images = 0  # that are open
        self._link: tuple[PieceKind, str] | None = None  # kind and target of an open one
        self._pieces: list[Piece] = []
        self._run: list[str] = []  # text since the last piece, or since the open link began

    def mark(self, name: str) -> None:
        """The end of a line, soft or hard, or a rule."""
        if name != "Rule":
            self.text("\n")

    def html(self, tag: str) -> None:
        """A tag inside of text; one that breaks the line parts words."""
        if tag.lower().startswith("<br"):
            self.text(" ")

    def text(self, text: str) -> None:
        if not self._silent and (not self._images or self._link is not None):
            self._run.append(text)

    def code(self, text: str) -> None:
        """A code span."""
        if self._link is not None:
            self._run.append(text)
        elif not self._images:
            self._end_run()
            self._pieces.append(Piece(PieceKind.CODE, text.replace(PIPE, "|")))

    def open_link(self, kind: PieceKind, target: str) -> None:
        self._end_run()
        self._link = (kind, target)

    @property
    def opens_item(self) -> bool:
        """Whether the next block is the first of a list item."""
        return bool(self._items) and self._items[-1]

    def open_heading(self, level: int) -> Block | None:
        ended = self._end_paragraph()
        if not self.nesting:
            self._level = level
        return ended

    def open(self, name: str) -> Block | None:
        """An element begins that is no link and no heading."""
        if name == "Image":
            self._images += 1
        if name in _INLINE:
            return None
        ended = self._end_paragraph()  # the text of a tight list item ends where a block begins in it
        if name == "CodeBlock":
            self._silent = True
        elif name in _CONTAINERS:
            self.nesting += 1
            self._quotes += name == "BlockQuote"
            if name == "Item":
                self._items.append(True)
        return ended

    def close(self, name: str) -> Block | None:
        """The element that was opened last ends."""
        ended = None
        match name:
            case "Link":
                self._close_link()
            case "Image":
                self._images -= 1
            case "TableCell":
                self._cells.append(self._pop())
            case "TableRow" | "TableHead":
                ended = self._block(BlockKind.ROW if name == "TableRow" else BlockKind.HEAD, tuple(self._cells))
                self._cells.clear()
            case "Heading":
                ended = self._block(BlockKind.HEADING, (self._pop(),))
                self._level = 0
            case "CodeBlock":
                self._silent = False
            case _ if name not in _INLINE:
                ended = self._end_paragraph()
        if name in _CONTAINERS:
            self.nesting -= 1
            self._quotes -= name == "BlockQuote"
            if name == "Item":
                self._items.pop()
        return ended

    def _end_paragraph(self) -> Block | None:
        pieces = self._pop()
        return self._block(BlockKind.PARAGRAPH, (pieces,)) if pieces else None

    def _block(self, kind: BlockKind, cells: tuple[tuple[Piece, ...], ...]) -> Block:
        items = self._items
        if not items:
            return Block(kind, cells, 0, True, self._quotes > 0, self._level, self.start, self.end)
        block = Block(kind, cells, len(items), items[-1], self._quotes > 0, 0, self.start, self.end)
        index = len(items)
        while index and items[index - 1]:
            index -= 1
            items[index] = False
        return block

    def _pop(self) -> tuple[Piece, ...]:
        if not self._run and not self._pieces:
            return ()
        self._end_run()
        pieces = tuple(self._pieces)
        self._pieces.clear()
        return pieces

    def _close_link(self) -> None:
        link, self._link = self._link, None
        text = " ".join("".join(self._run).split())
        self._run.clear()
        if link is None or self._images:
            return
        kind, target = link
        if kind is PieceKind.WIKILINK:  # its bar may be the stand-in, or escaped for the sake of a table
            target, _, shown = target.partition(PIPE)
            target, text = target.rstrip("\\"), shown.strip() or text.partition(PIPE)[0]
        self._pieces.append(Piece(kind, text, target))

    def _end_run(self) -> None:
        text = "".join(self._run).replace(PIPE, "|")
        self._run.clear()
        if text.startswith("(") and self._pieces and self._pieces[-1].kind is PieceKind.WIKILINK:
            # Of ``[[title]](path)`` the parser makes a wikilink and text; it is a link.
            path = _BRACKETED_PATH.match(text)
            if path is not None:
                self._pieces[-1] = Piece(PieceKind.LINK, self._pieces[-1].text, path[1])
                text = text[path.end() :]
        if text:
            self._pieces.append(Piece(PieceKind.TEXT, text))
