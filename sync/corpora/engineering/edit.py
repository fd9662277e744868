"""What a document becomes by one edit of a section, and how a new one begins. Pure.

An edit puts whole lines into a text, or in place of a section's own body, and keeps every other character. Its lines
end as those before them do. What would change how the rest of the document reads is refused: content that leaves code
or HTML open, or whose headings would take over what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from cache.errors import Conflict, InvalidArgument, shown
from sync import front_matter
from sync.closing import is_closed
from sync.corpora.engineering.document import DEEPEST, TOP, Heading, facts_of, headings
from sync.corpora.engineering.levels import lowered
from sync.corpora.engineering.lines import (
    CONTENT,
    LINE_END,
    content_lines,
    filled,
    gap_before,
    gap_behind,
    is_blank,
    line_end_before,
    line_number,
)
from sync.corpora.engineering.sections import checked, find, line_of
from sync.page import facts

Mode: TypeAlias = Literal["append", "replace"]

_READS_OTHERWISE: Final = f"{CONTENT} would change how the document around it reads"


@dataclass(frozen=True, slots=True)
class Edited:
    """A document's new ``text``; ``created``: the section was not there before."""

    text: str
    created: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """The range, from the start of a line to the start of another, that lines take the place of, and the least level
    that headings in them may have. At ``base``, before it, no block is open, and no heading is between; ``following``
    is the first one behind it."""

    start: int
    end: int
    least: int
    base: int
    following: Heading | None = None


@dataclass(frozen=True, slots=True)
class _Put:
    """A text with lines in it that go from ``start`` to ``end``; what is behind them has ``moved`` so far."""

    text: str
    start: int
    end: int
    moved: int


def update(text: str, heading: str, content: str, mode: Mode) -> Edited:
    """Append ``content`` to the own body of the section under ``heading``, or replace that by it. Where there is no
    such section, one of level 2 is added at the end.

    Raises ``AmbiguousHeading``, ``NotFound``; ``InvalidArgument`` for heading and content; ``Conflict`` where the
    document itself leaves no place for them."""
    wanted, lines = checked(heading, "heading"), content_lines(content)
    known = headings(text)
    section = find(text, known, wanted)
    if section is None:
        base = known[-1].body if known else front_matter.split(text)[1]
        place = _Place(len(text), len(text), TOP + 1, base)
        lines = [line_of(wanted, TOP, "heading"), "", *lines]
    else:
        place = _place(text, known, section, mode)
    if not is_closed(text[: place.start], place.base):
        raise Conflict(
            f"code or a comment is still open at line {line_number(text, place.start)} of the document — close it"
            " there first, which is an edit by hand"
        )
    put = _put(text, place, lines)
    _demand_structure(place, put, own=section is None)
    if front_matter.split(put.text)[0] != front_matter.split(text)[0]:
        raise InvalidArgument(_READS_OTHERWISE, argument=CONTENT)
    return Edited(put.text, section is None)


def file_into(text: str, heading: str, content: str) -> str:
    """``text`` with ``content`` at the end of a section's own body; unchanged where the section holds it already, by
    itself between blank lines. Headings in it become as deep as they must be. Raises what :func:`update` does."""
    known = headings(text)
    section = find(text, known, checked(heading, "heading"))
    if section is None:
        return update(text, heading, lowered(content, TOP + 1), "append").text
    behind = (each.start for each in known if each.start >= section.end and each.level <= section.level)
    whole = text[section.body : next(behind, len(text))]
    if any(_holds(whole, content_lines(lowered(content, least))) for least in range(section.level + 1, DEEPEST + 2)):
        return text
    return update(text, heading, lowered(content, _place(text, known, section, "append").least), "append").text


def _holds(text: str, wanted: list[str]) -> bool:
    lines = ["", *LINE_END.split(text), ""]
    ends = ((at, at + len(wanted)) for at in range(1, len(lines) - len(wanted)))
    return any(lines[at:end] == wanted and is_blank(lines[at - 1]) and is_blank(lines[end]) for at, end in ends)


def compose(title: str, content: str) -> str:
    """A new document: ``content`` under a level-1 heading ``title``, or as it is where it has this title already.

    Raises ``InvalidArgument`` for both."""
    name, text = checked(title, "title"), "\n".join(content_lines(content)) + "\n"
    said = facts(text)
    if said.title is None and said.heading is None:
        start = front_matter.split(text)[1]
        front, body = text[:start] + ("\n" if start else ""), text[start:].lstrip("\n")
        text = front + line_of(name, 1, "title") + "\n" + ("\n" + body if body else "")
    if (own := facts_of(text, "").title) != name:
        raise InvalidArgument(
            f"{CONTENT} has a title of its own, '{shown(own, 100)}' — leave that out, or give it as title",
            argument=CONTENT,
        )
    _demand_closed(text, front_matter.split(text)[1])
    return text


def _place(text: str, known: Sequence[Heading], section: Heading, mode: Mode) -> _Place:
    """Where content goes: in place of the lines of the section's own body, or behind them. Blank lines around them
    stay; those at the end of the document stay in front of what is added there."""
    following = next((each for each in known if each.start >= section.end), None)
    least = section.level + 1
    if following is not None and following.level > section.level:
        least = following.level  # a heading above it would become its parent
    first, last = filled(text, section.body, section.end)
    if mode == "replace":
        return _Place(first, last, least, section.body, following)
    end = section.end if following is None else last
    return _Place(end, end, least, section.body, following)


def _put(text: str, place: _Place, lines: Sequence[str]) -> _Put:
    """``text`` with ``lines`` at ``place`` and a blank line on either side."""
    line_end = line_end_before(text, place.start)
    before, after = text[: place.start], text[place.end :]
    before += gap_behind(before, line_end)
    inserted = line_end.join(lines) + line_end
    made = before + inserted + gap_before(after, line_end) + after
    return _Put(made, len(before), len(before) + len(inserted), len(made) - len(text))


def _demand_structure(place: _Place, put: _Put, *, own: bool) -> None:
    """Raise ``InvalidArgument`` unless the text reads as before but for what was put into it, which begins with a
    heading of ours if ``own``. What is behind the following heading reads as before if that does."""
    _demand_closed(put.text[: put.end], place.base)
    following = place.following
    found = headings(put.text if following is None else put.text[: following.body + put.moved], place.base)
    inside = [each for each in found if put.start + own <= each.start < put.end]
    if high := next((each for each in inside if each.level < place.least), None):
        remedy = f"give it level {place.least} or deeper" if place.least <= DEEPEST else "write bold text instead"
        raise InvalidArgument(
            f"{CONTENT} has the heading '{shown(high.text, 100)}' of level {high.level}, which would end the section"
            f" or take over others — {remedy}",
            argument=CONTENT,
        )
    outside = [(each.level, each.start) for each in found if each not in inside]
    ours = [(TOP, put.start)] if own else []
    if outside != ours + ([] if following is None else [(following.level, following.start + put.moved)]):
        raise InvalidArgument(_READS_OTHERWISE, argument=CONTENT)


def _demand_closed(text: str, start: int) -> None:
    if not is_closed(text, start):
        raise InvalidArgument(f"{CONTENT} leaves code or a comment open — close it at its end", argument=CONTENT)
