"""Which section of a document a caller means by a heading. Pure.

A section is a heading of level 2 or deeper with its own body. A heading is compared as readers see it and as it is
written; then without case and Unicode form; and only where neither fits anything as ``Parent > Heading``, in which the
parents may be any of those above it, in their order. Where several sections fit, all are named and none is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from cache.errors import AmbiguousHeading, InvalidArgument, NotFound, shown
from sync.corpora.engineering.document import TOP, Heading
from sync.corpora.engineering.lines import LINE_END, line_number
from sync.inline import escape, one_line
from sync.markdown import blocks
from sync.wiki_paths import fold_path

MAX_HEADING: Final = 1_000  # code points
MAX_PLACES: Final = 20  # that an error names

_HASHES: Final = re.compile(r"#{1,6}(?:[ \t]|\Z)")

_Same = Callable[[str], str]


def checked(heading: str, argument: str) -> str:
    """What a caller gave as ``argument`` for a heading, on one line. Raises ``InvalidArgument`` for what is none."""
    bare = heading.strip()
    if LINE_END.search(bare):
        raise InvalidArgument(f"{argument} must be one line", argument=argument)
    line = one_line(bare, argument, MAX_HEADING)
    if not line:
        raise InvalidArgument(f"{argument} must not be empty", argument=argument)
    return line


def find(text: str, headings: Sequence[Heading], wanted: str) -> Heading | None:
    """The section that ``wanted``, by :func:`checked`, means; ``None`` where nothing fits.

    Raises ``AmbiguousHeading``; ``NotFound`` for a section that is not below the parents which are there."""
    own = [heading for heading in headings if heading.level >= TOP]
    for same in (str, fold_path):
        fitting = [each for each in own if _names(text, each, same) & {same(wanted)}]
        if fitting:
            return _only(text, wanted, fitting)
    *parents, last = (part.strip() for part in wanted.split(">"))
    for same in (str, fold_path) if parents and last else ():
        fitting = [each for each in own if _names(text, each, same) & {same(last)} and _is_below(each, parents, same)]
        if fitting:
            return _only(text, wanted, fitting)
    if last and any(_names(text, each, fold_path) & set(map(fold_path, parents)) for each in headings):
        raise NotFound(f"no section '{shown(last, 100)}' under '{shown(parents[-1], 100)}' — name a new section alone")
    return None


def _names(text: str, heading: Heading, same: _Same) -> set[str]:
    return {same(heading.text), same(written(text[heading.start : heading.body]))}


def _is_below(heading: Heading, parents: Sequence[str], same: _Same) -> bool:
    above = iter(list(map(same, heading.above)))
    return all(same(parent) in above for parent in parents)  # an iterator: each is searched behind the one before


def _only(text: str, wanted: str, fitting: Sequence[Heading]) -> Heading:
    if len(fitting) == 1:
        return fitting[0]
    places = []
    for heading in fitting[:MAX_PLACES]:
        under = f" under '{shown(heading.above[-1], 100)}'" if heading.above else ""
        places.append(f"line {line_number(text, heading.start)}{under}")
    if len(fitting) > MAX_PLACES:
        places.append(f"and {len(fitting) - MAX_PLACES} more")
    raise AmbiguousHeading(shown(wanted), tuple(places))


def written(lines: str) -> str:
    """The text of the heading in these ``lines`` as it stands there, markup included."""
    first, *rest = LINE_END.split(lines.strip())
    if rest:
        *broken, last = (first, *rest[:-1])
        return " ".join(" ".join([*map(_without_break, broken), last]).split())
    content = first.lstrip("#").strip()
    bare = content.rstrip("#")
    return " ".join((bare if not bare or bare.endswith((" ", "\t")) else content).split())


def _without_break(line: str) -> str:
    """A line without the backslash that breaks it (CommonMark 0.31, section 6.7), which says nothing within one."""
    marks = len(line) - len(line.rstrip("\\"))
    return line[:-1] if marks % 2 else line


def line_of(heading: str, level: int, argument: str) -> str:
    """The line, without its end, of a heading that reads ``heading``. Raises ``InvalidArgument`` where none can."""
    if _HASHES.match(heading):
        bare = heading.lstrip("#").strip()
        raise InvalidArgument(f"{argument}: write it without #, as '{shown(bare, 100)}'", argument=argument)
    for thorough in (False, True):
        line = f"{'#' * level} {escape(heading, thorough=thorough)}"
        if [(block.level, block.text) for block in blocks(line)] == [(level, heading)]:
            return line
    raise InvalidArgument(f"{argument} cannot be written in Markdown — choose another", argument=argument)
