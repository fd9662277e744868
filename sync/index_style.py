"""How an index writes its entries: read from a line of it that is an example, and written for a page. Pure.

An example need not be understood in full: what is written in its style is read again before it counts (see
:mod:`sync.index_edit`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from urllib.parse import quote

from sync.blocks import Block, plain
from sync.inline import escape
from sync.wiki_links import Resolve
from sync.wiki_paths import is_index

MAX_EXAMPLE = 4_000  # code points of a line in which an example is looked for
MAX_NUMBER = 999_999_999  # of an ordered list's item (CommonMark 0.31, section 5.2)

_LINK = re.compile(
    r"\[\[(?P<wiki>[^\[\]|\\\n]+)(?:\\?\|(?P<shown>[^\[\]\n]*))?\]\](?!\()"
    r"|\[(?P<text>(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*+)\]"
    r"\((?:<(?P<angle>[^<>\n]*)>|(?P<bare>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*+))"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"
)
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-+*]|(?P<number>[0-9]{1,9})[.)])(?P<gap>[ \t]+)(?P<task>\[[ xX]\][ \t]+)?(?=\S)"
)
_SEPARATOR = re.compile(r"[ \t]*(?:—|–|→|⇒|->|=>|--?|:|·|•)[ \t]*(?=\S)")
_BAR = re.compile(r"\\.|\[\[[^\[\]|\n]+\|[^\[\]\n]*\]\]|(?P<bar>\|)")
_UNSAFE = re.compile(r"[\x00-\x20\"#%&'()*:;<>?\[\\\]^`{|}\x7f]|\s")  # in a link's target
_DESCRIPTIVE = re.compile(r"descri|summary|what|about|purpose|content|note", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What an index is to say of the page at ``path`` (below ``.wiki/``): its ``title`` and ``description`` (``""``:
    nothing), each on one line, in the section of its ``type``. ``titled``: the page itself has that title, so that a
    link need not show it."""

    path: str
    type: str
    title: str
    description: str = ""
    titled: bool = False

    @property
    def slug(self) -> str:
        return self.path.removesuffix(".md")


@dataclass(frozen=True, slots=True)
class LinkStyle:
    """How links are written: as a ``wiki`` link or not, with a ``prefix`` (``./``) and ``.md`` or without, whether a
    wikilink has words of its own (``shown``), and the marks ``around`` it (``**``)."""

    wiki: bool = False
    prefix: str = ""
    extension: bool = True
    shown: bool = True
    around: str = ""

    def write(self, entry: Entry, *, thorough: bool, in_cell: bool = False) -> str:
        target = self.prefix + (entry.path if self.extension else entry.slug)
        title = entry.title if self.around == "`" else words(entry.title, thorough=thorough, in_cell=in_cell)
        if not self.wiki:
            link = f"[{title}]({_UNSAFE.sub(lambda char: quote(char[0], safe=''), target)})"
        elif entry.titled and not self.shown:
            link = f"[[{target}]]"
        else:
            link = f"[[{target}{bar(in_cell=in_cell)}{title}]]"
        return f"{self.around}{link}{self.around[::-1]}"


@dataclass(frozen=True, slots=True)
class ListStyle:
    """How a list's next item is written; ``prefix`` is all in front of its link. In a ``loose`` list a blank line
    parts the items."""

    prefix: str = "- "
    link: LinkStyle = LinkStyle()
    separator: str = " — "
    loose: bool = False

    def plain(self) -> ListStyle:
        """The same with a link as every renderer knows it."""
        return replace(self, link=LinkStyle())

    def write(self, entry: Entry, *, thorough: bool) -> str:
        link = self.link.write(entry, thorough=thorough)
        description = words(entry.description, thorough=thorough)
        return self.prefix + link + (self.separator + description if description else "")


@dataclass(frozen=True, slots=True)
class TableStyle:
    """How a table's next row is written: which of its ``columns`` hold link and description, what is in front of the
    first and behind the last one. A table is never ``loose``."""

    columns: int
    link_at: int
    description_at: int
    link: LinkStyle = LinkStyle()
    padding: str = " "
    first: str = "| "
    last: str = " |"
    loose: bool = field(default=False, init=False)

    def plain(self) -> TableStyle:
        """The same as every renderer knows it."""
        return TableStyle(self.columns, self.link_at, self.description_at)

    def write(self, entry: Entry, *, thorough: bool) -> str:
        cells = [""] * self.columns
        cells[self.description_at] = words(entry.description, thorough=thorough, in_cell=True)
        link = self.link.write(entry, thorough=thorough, in_cell=True)
        if self.description_at == self.link_at and entry.description:
            link += f" — {cells[self.link_at]}"
        cells[self.link_at] = link
        return (self.first + f"{self.padding}|{self.padding}".join(cells) + self.last).rstrip()


Style = ListStyle | TableStyle


@dataclass(frozen=True, slots=True)
class Example:
    """A line of an index with its first link that leads to ``page``."""

    line: str
    page: str
    match: re.Match[str]

    @classmethod
    def find(cls, line: str, page: str, resolve: Resolve) -> Example | None:
        """The example in ``line``, if it holds such a link, written in a usual way."""
        for match in _LINK.finditer(line[:MAX_EXAMPLE]):
            if resolve(_target(match), match["wiki"] is not None) == page:
                return cls(line, page, match)
        return None

    @property
    def around(self) -> str:
        """The marks of emphasis or code in front of the link, if they are behind it too."""
        front = self.line[: self.match.start()]
        marks = "`" if front.endswith("`") else front[len(front.rstrip("*_")) :]
        return marks if self.line.startswith(marks[::-1], self.match.end()) else ""

    @property
    def end(self) -> int:
        """Where in the line the link ends with what is around it."""
        return self.match.end() + len(self.around)

    @property
    def link(self) -> LinkStyle:
        """How the link is written. One to a folder is no example of leaving ``.md`` out, nor one by a page's mere name
        of leaving words out."""
        target = _target(self.match).partition("#")[0]
        wiki = self.match["wiki"] is not None
        return LinkStyle(
            wiki,
            prefix=next((each for each in ("./", ".wiki/", "../.wiki/") if target.startswith(each)), ""),
            extension=target.endswith(".md") or (is_index(self.page) and not wiki),
            shown=self.match["shown"] is not None or "/" not in target,
            around=self.around,
        )

    @property
    def leads(self) -> bool:
        """Whether nothing but a list item's marker stands in front of the link."""
        item = _ITEM.match(self.line)
        return item is not None and item.end() == self.match.start() - len(self.around)

    @property
    def separator(self) -> re.Match[str] | None:
        """What parts the link from words behind it."""
        return _SEPARATOR.match(self.line, self.end)


def _target(match: re.Match[str]) -> str:
    return next(target for target in match.group("wiki", "angle", "bare") if target is not None)


def words(line: str, *, thorough: bool, in_cell: bool = False) -> str:
    """Plain words as Markdown, a bar in a table's cell escaped for the table's sake (GFM 0.29, section 4.10)."""
    escaped = escape(line, thorough=thorough)
    return escaped.replace("|", r"\|") if in_cell and not thorough else escaped


def bar(*, in_cell: bool) -> str:
    """What parts a wikilink's target from its words."""
    return r"\|" if in_cell else "|"


def next_prefix(last: str, before: str | None) -> str | None:
    """What is in front of the item after the one in the line ``last``, which comes after that in ``before``, if there
    is one; ``None`` where ``last`` begins no item. Where two numbers are the same, all are."""
    item = _ITEM.match(last)
    if item is None:
        return None
    task = item["task"] and f"[ ]{item['task'][3:]}"
    marker = last[item.end("indent") : item.start("gap")]
    if item["number"] is not None:
        earlier = None if before is None else _ITEM.match(before)
        same = earlier is not None and earlier["number"] == item["number"]
        marker = f"{min(int(item['number']) + (not same), MAX_NUMBER)}{marker[-1]}"
    return f"{item['indent']}{marker}{item['gap']}{task or ''}"


def cells(line: str) -> list[tuple[int, int]]:
    """Where each cell of a table's row begins and ends, bars excluded."""
    bars = [match.start() for match in _BAR.finditer(line) if match["bar"]]
    bounds = [-1, *bars, len(line)]
    spans = [(start + 1, end) for start, end in pairwise(bounds)]
    if bars and not line[: bars[0]].strip():
        spans = spans[1:]
    if len(spans) > 1 and not line[spans[-1][0] :].strip():
        spans = spans[:-1]
    return spans


def table_style(head: Block, line: str, page: str, resolve: Resolve) -> TableStyle | None:
    """The style of the row in ``line`` that lists ``page``, in the table with this ``head``; ``None`` where its link is
    not found. The description goes where the head says so, else beside the link."""
    line = line[:MAX_EXAMPLE].rstrip()
    spans = cells(line)[: len(head.cells)]
    links = [_cell_link(line[start:end], page, resolve) for start, end in spans]
    link_at = next((at for at, link in enumerate(links) if link is not None), None)
    if link_at is None:
        return None
    start, end = spans[link_at]
    padding = "" if "|" in line and line[start:end] == line[start:end].strip() else " "
    return TableStyle(
        len(head.cells),
        link_at,
        description_at(head, link_at),
        links[link_at] or LinkStyle(),
        padding,
        first=line[: len(line) - len(line.lstrip())] + (f"|{padding}" if line.lstrip().startswith("|") else ""),
        last=f"{padding}|" if line.endswith("|") else "",
    )


def _cell_link(cell: str, page: str, resolve: Resolve) -> LinkStyle | None:
    """The style of a cell's link to ``page``; a plain path is one too."""
    example = Example.find(cell, page, resolve)
    if example is not None:
        return example.link
    return LinkStyle() if resolve(cell.strip(" \t`"), False) == page else None


def description_at(head: Block, link_at: int) -> int:
    """The column of a table that describes what the one at ``link_at`` links to; the same where there is no other."""
    columns = [at for at in range(len(head.cells)) if at != link_at]
    named = (at for at in columns if _DESCRIPTIVE.search(plain(head.cells[at])))
    beside = (at for at in (link_at + 1, link_at - 1) if at in columns)
    return next(named, next(beside, link_at))
