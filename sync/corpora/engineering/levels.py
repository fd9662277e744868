"""Headings at other levels. Pure."""

from __future__ import annotations

import re
from typing import Final

from sync.corpora.engineering.document import DEEPEST, headings
from sync.corpora.engineering.lines import LINE_END
from sync.corpora.engineering.sections import written

_MARKS: Final = re.compile(r"#{1,6}(?=[ \t\r\n]|\Z)")
_CLOSING_MARKS: Final = re.compile(r"(?<![^ ])(#+)\Z")  # what would be taken for the end of a heading's marks


def lowered(content: str, least: int) -> str:
    """``content`` with its headings at ``least`` that level, all by the same step as far as there are such levels."""
    found = headings(content, 0)
    step = least - min((each.level for each in found), default=least)
    if step <= 0:
        return content
    for each in reversed(found):
        lines = content[each.start : each.body]
        level = min(each.level + step, DEEPEST)
        content = content[: each.start] + _at_level(lines, level) + content[each.body :]
    return content


def _at_level(lines: str, level: int) -> str:
    """The heading in these ``lines`` at another level; an underlined one becomes one with ``#``."""
    marks = "#" * level
    indent = len(lines) - len(lines.lstrip(" "))
    if found := _MARKS.match(lines, indent):
        return lines[:indent] + marks + lines[found.end() :]
    text = _CLOSING_MARKS.sub(r"\\\1", written(lines))
    end = LINE_END.search(lines, len(lines.rstrip("\r\n")))
    return f"{marks} {text}{'' if end is None else end[0]}"
