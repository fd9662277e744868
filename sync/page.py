"""One page's body: its text, what it says of itself, its headings and sections. Pure.

Time is linear in the text and memory bounded (see :mod:`sync.markdown`); a page of more than a few KiB is to be read
in a worker thread. Nothing here raises but :func:`decode`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from cache.errors import InvalidArgument, NotUtf8
from cache.model import PageFacts
from cache.search.query import fold
from sync import front_matter
from sync.blocks import Block, BlockKind
from sync.markdown import blocks

MAX_HEADINGS = 10_000  # headings of a page that are known; what follows belongs to the last one
MAX_PROSE = 1_000  # code points of the first prose
MAX_TITLE = 300  # code points of a heading's text
_BEGINNING = 256 * 1024  # code points in which a page's title and first prose are looked for


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside of lists and quotes: its ``level`` (1–6), plain ``text``, and the code point offsets of its
    ``start`` and of the ``end`` of its section, which is the next heading of the same or a higher level."""

    level: int
    text: str
    start: int
    end: int


def decode(data: bytes, path: str) -> str:
    """A page's text, exactly, a byte order mark included.

    Raises ``InvalidArgument`` for a binary file (a NUL byte tells) and ``NotUtf8``; both name ``path``."""
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidArgument(f"a binary file: {path}", argument="slug")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotUtf8(path) from error


def facts(text: str) -> PageFacts:
    """What a body says of its page: front matter ``title`` and ``type``, and the first level-1 heading."""
    yaml, body = front_matter.split(text)
    fields = front_matter.fields(yaml)
    heading = next((block.text[:MAX_TITLE] for block in _beginning(text, body) if block.level == 1), "")
    return PageFacts(fields.get("title"), fields.get("type"), heading or None)


def _beginning(text: str, body: int) -> Iterator[Block]:
    return blocks(text[: body + _BEGINNING], body)


def headings(text: str) -> tuple[Heading, ...]:
    """The headings of a page, in order; front matter, code and comments have none."""
    found = list(islice((block for block in blocks(text, front_matter.split(text)[1]) if block.level), MAX_HEADINGS))
    ends = [len(text)] * len(found)
    open_ones: list[int] = []
    for index, block in enumerate(found):
        while open_ones and found[open_ones[-1]].level >= block.level:
            ends[open_ones.pop()] = block.start
        open_ones.append(index)
    return tuple(
        Heading(block.level, block.text[:MAX_TITLE], block.start, end) for block, end in zip(found, ends, strict=True)
    )


def section(text: str, heading: str) -> str | None:
    """The section of ``heading`` alone, with its heading line; of several, the first.

    Headings are compared as written, then without case, white space and a leading ``#``. ``Parent > Child`` tells
    sections of one name apart. ``None``: there is no such heading."""
    known = headings(text)
    exact = next((each for each in known if each.text == heading), None)
    found = exact or _by_name(known, [_folded(heading)]) or _by_name(known, [_folded(x) for x in heading.split(">")])
    return None if found is None else text[found.start : found.end]


def _folded(heading: str) -> str:
    return fold(heading.strip().lstrip("#")).replace(" ", "")


def _by_name(known: tuple[Heading, ...], chain: list[str]) -> Heading | None:
    """The first heading of the chain's last name with one of each other name above it, in this order."""
    above: list[Heading] = []
    for heading in known:
        while above and above[-1].level >= heading.level:
            above.pop()
        if _folded(heading.text) == chain[-1] != "":
            names = (_folded(each.text) for each in above)
            if all(name in names for name in chain[:-1]):  # an iterator: each is searched behind the one before
                return heading
        above.append(heading)
    return None


def first_prose(text: str) -> str:
    """The first paragraph as plain text, else the first list item; ``""`` where there is neither.

    At most ``MAX_PROSE`` code points, white space folded; front matter, headings, code and tables do not count."""
    in_list = ""
    for block in _beginning(text, front_matter.split(text)[1]):
        prose = block.text[:MAX_PROSE] if block.kind is BlockKind.PARAGRAPH else ""
        if prose and not block.depth:
            return prose
        in_list = in_list or prose
    return in_list
