"""CommonMark with tables and wikilinks: text in, blocks of text and links out. The only importer of pyromark.

pyromark takes linear time but for a few hostile shapes, needs some 90 bytes of memory for each byte of others, and
holds the interpreter's lock while it parses the inside of one paragraph (measured: 92 ms for 1 MiB). So a text is read
in windows: one ends with the last line that fits, and the next begins where its last top-level block did, so that each
block is seen whole. Time then grows with the number of windows, memory and the longest stall of other threads are
those of one (``benchmarks/wiki_index.py`` shows it), and who needs the beginning only pays for the beginning only.

Everything here may run in a worker thread and raises nothing for any text, lone surrogates included.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from pyromark import Options, events_with_range

from sync.blocks import PIPE, Block, BlockBuilder, PieceKind

if TYPE_CHECKING:
    from pyromark.event import BrokenLink, Range, _Tag, _TagEnd

WINDOW = 64 * 1024  # code points that are parsed at a time
LONGEST = 4 * WINDOW  # code points of a list, table or quote that are read as one block; the rest, as further ones
MAX_NESTING = 32  # container markers (``>``, ``-``, ``1.``) on one line; more are read as a dot
MAX_INDENT = 128  # white space and ``>`` before a line; more are read as a dot
MAX_EMBEDS = 200  # ``![[`` in one window; they nest, and each costs as much as all that it holds
MAX_TITLE = 50  # lines of a link title, which takes their square; what opens a longer one is a typographic quote

_OPTIONS = Options.ENABLE_TABLES | Options.ENABLE_WIKILINKS | Options.ENABLE_TASKLISTS | Options.ENABLE_STRIKETHROUGH

# Code points up to which a top-level block may make its window grow. A paragraph or heading is cut anywhere; code and
# HTML, whose end alone tells where text begins again, are read whole: they cost little.
_LIMITS = {
    "Paragraph": 0, "Heading": 0, "List": LONGEST, "Table": LONGEST, "BlockQuote": LONGEST,
    "CodeBlock": sys.maxsize, "HtmlBlock": sys.maxsize,
}  # fmt: skip

_STARTS = frozenset({"Heading", "Item", "TableHead", "TableRow"})  # a paragraph is one too, unless it opens an item

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARKERS = re.compile(rf"^(?:[ \t]*(?:>|[-+*](?=[ \t])|[0-9]{{1,9}}[.)](?=[ \t]))){{{MAX_NESTING + 1},}}", re.MULTILINE)
_INDENT = re.compile(rf"^[ \t>]{{{MAX_INDENT + 1},}}", re.MULTILINE)
_TITLES = (  # an opening quote, which is no word's apostrophe, with all that it could make the title of a link
    (re.compile(r"(?<=[\s>])\"(?:[^\"\\]+|\\.)*+", re.DOTALL), "“"),
    (re.compile(r"(?<=[\s>])'(?:[^'\\]+|\\.)*+", re.DOTALL), "‘"),
    (re.compile(r"(?<=[\s>])\((?:[^()\\]+|\\.)*+", re.DOTALL), "（"),
)
_LONE_RETURN = re.compile(r"\r(?!\n)")
_LINE_END = re.compile(r"[\n\r]")
_LINE_WITH_BAR = re.compile(r"^.*\[\[[^\[\]|\n]+(?<!\\)\|[^\[\]\n]*\]\].*$", re.MULTILINE)
_BAR = re.compile(r"(\[\[[^\[\]|\n]+)(?<!\\)\|([^\[\]\n]*\]\])")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]{1,200})\]:[ \t]*(?:<([^<>\n]{1,1000})>|(\S{1,1000}))", re.MULTILINE)


def blocks(text: str, start: int = 0) -> Iterator[Block]:
    """The blocks of ``text`` from the offset ``start`` on, in order, each made when it is asked for."""
    if "\r" in text:
        text = _LONE_RETURN.sub("\n", text)  # pyromark takes all that follows indented code with such an end for code
    definitions = _definitions(text, start) if len(text) - start > WINDOW else {}
    size = WINDOW
    while start < len(text):
        part = _Part(text, start, size, definitions)
        yield from part
        if part.unfinished:
            size *= 2
        else:
            start, size = part.end, WINDOW


def _cut(text: str, start: int, size: int) -> int:
    """Where a window of at most ``size`` code points ends: after a line, or inside one that is longer."""
    end = start + size
    if end >= len(text):
        return len(text)
    line_end = max(text.rfind("\n", start, end), text.rfind("\r", start, end - 1))
    return end if line_end < 0 else line_end + 1


def _definitions(text: str, start: int) -> Mapping[str, str]:
    """The targets of link reference definitions by label, for windows that do not hold them. Those inside code and
    comments are among them, which only matters to a link that is written for one."""
    found: dict[str, str] = {}
    while start < len(text):
        end = _cut(text, start, WINDOW)
        for match in _DEFINITION.finditer(text, start, end):
            found.setdefault(_label(match[1]), match[2] or match[3])
        start = end
    return found


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _resolver(definitions: Mapping[str, str]) -> Callable[[BrokenLink], tuple[str, str] | None] | None:
    def resolve(link: BrokenLink) -> tuple[str, str] | None:
        target = definitions.get(_label(link["reference"]))
        return None if target is None else (target, "")

    return resolve if definitions else None


def _tame(text: str, start: int, end: int) -> str:
    """A part of ``text`` without what pyromark cannot take or takes too long over; each code point keeps its place."""
    pieces = []
    while start < end:
        stop = min(_cut(text, start, WINDOW), end)
        pieces.append(_tame_piece(text[start:stop]))
        start = stop
    return "".join(pieces)


def _tame_piece(text: str) -> str:
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    text = _INDENT.sub(_dot, _MARKERS.sub(_dot, text))
    if text.count("![[") > MAX_EMBEDS:
        text = text.replace("![[", "!((")
    for title, quote in _TITLES:
        text = title.sub(partial(_keep_short, quote), text)
    return _LINE_WITH_BAR.sub(_keep_bars, text)


def _keep_short(quote: str, title: re.Match[str]) -> str:
    lines = len(_LINE_END.findall(title[0]))
    return title[0] if lines <= MAX_TITLE else quote + title[0][1:]


def _dot(prefix: re.Match[str]) -> str:
    return ".".ljust(len(prefix[0]))


def _keep_bars(line: re.Match[str]) -> str:
    """A line that may be a table row, with its wikilinks' bars kept from ending their cells."""
    kept = _BAR.sub(rf"\1{PIPE}\2", line[0])
    return kept if "|" in kept else line[0]


class _Part:
    """One window; its blocks are made as they are asked for. Then ``end`` is where the next window begins: with the
    last top-level block, since that may go on, or where this window ends if it holds no other one. ``unfinished``
    tells that there is no block, since this one goes on and shall be read in a larger window."""

    def __init__(self, text: str, start: int, size: int, definitions: Mapping[str, str]) -> None:
        self.end = _cut(text, start, size)
        self.unfinished = False
        self._text = text
        self._start = start
        self._size = size
        self._definitions = definitions
        self._window = _tame(text, start, self.end)
        self._offsets = _Offsets(self._window)
        self._ends = _Offsets(self._window)  # for those of top-level blocks, which ascend by themselves
        self._builder = BlockBuilder()

    def __iter__(self) -> Iterator[Block]:
        builder = self._builder
        reach = self._offsets.text_end if self.end < len(self._text) else sys.maxsize
        for event, span in events_with_range(
            self._window, options=_OPTIONS, merge_text=True, broken_link_callback=_resolver(self._definitions)
        ):
            block = None
            if isinstance(event, str):
                builder.mark(event)
            elif "Text" in event:
                builder.text(event["Text"])
            elif "Start" in event:
                tag = event["Start"]
                if not builder.nesting and span["end"] >= reach and self._is_left(_name(tag), span["start"]):
                    break
                block = self._open(tag, span)
            elif "End" in event:
                block = builder.close(_name(event["End"]))
            elif "Code" in event:
                builder.code(event["Code"])
            elif "InlineHtml" in event:
                builder.html(event["InlineHtml"])
            if block is not None:
                yield block

    def _is_left(self, name: str, byte: int) -> bool:
        """Whether the top-level block that begins at ``byte`` and may go on behind the window is left to another."""
        if name not in _LIMITS:
            return False
        line = self._start + self._offsets(byte)
        while line > self._start and self._text[line - 1] in " \t":
            line -= 1
        if line > self._start:
            self.end = line
            return True
        self.unfinished = self._size < _LIMITS[name]
        return self.unfinished

    def _open(self, tag: _Tag, span: Range) -> Block | None:
        """An element begins. Returns the block that thereby ended."""
        builder = self._builder
        name = _name(tag)
        outermost = not builder.nesting and name in _LIMITS
        block = self._open_in(builder, tag)
        if outermost:
            builder.end = self._start + self._ends(span["end"])
        if name in _STARTS or (name == "Paragraph" and not builder.opens_item):
            builder.start = self._start + self._offsets(span["start"])
        return block

    @staticmethod
    def _open_in(builder: BlockBuilder, tag: _Tag) -> Block | None:
        if isinstance(tag, str):
            return builder.open(tag)
        if "Link" in tag:
            link = tag["Link"]
            kind = PieceKind.LINK if isinstance(link["link_type"], str) else PieceKind.WIKILINK
            target = link["dest_url"]
            builder.open_link(kind, f"mailto:{target}" if link["link_type"] == "Email" else target)
            return None
        if "Heading" in tag:
            return builder.open_heading(int(tag["Heading"]["level"][1]))
        return builder.open(_name(tag))


class _Offsets:
    """UTF-8 byte offsets, asked for in ascending order, as code point offsets. ``text_end`` is the byte offset of
    the white space at the end."""

    def __init__(self, text: str) -> None:
        self._data = None if text.isascii() else text.encode()
        self._byte = 0
        self._character = 0
        self.text_end = len(text.rstrip()) if self._data is None else len(self._data.rstrip())

    def __call__(self, byte: int) -> int:
        if self._data is None:
            return byte
        self._character += len(self._data[self._byte : byte].decode())
        self._byte = byte
        return self._character


def _name(tag: _Tag | _TagEnd) -> str:
    return tag if isinstance(tag, str) else next(iter(tag))
