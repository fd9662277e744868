"""The lines of a text, whose ends are ``\\n``, ``\\r\\n`` or a lone ``\\r`` (CommonMark 0.31, section 2.1). Pure.

Nothing else ends one: U+2028, vertical tabs and form feeds stand within lines.
"""

from __future__ import annotations

import re
from typing import Final

from cache.errors import InvalidArgument

LINE_END: Final = re.compile(r"\r\n|\n|\r")
BOM: Final = "\ufeff"

CONTENT: Final = "content"  # what callers know by this name


def content_lines(content: str) -> list[str]:
    """The lines of a caller's text without blank ones around them. Raises ``InvalidArgument`` for none."""
    lines = LINE_END.split(content.lstrip(BOM))
    filled = [number for number, line in enumerate(lines) if not is_blank(line)]
    if not filled:
        raise InvalidArgument(f"{CONTENT} is empty — write what is to be kept", argument=CONTENT)
    return lines[filled[0] : filled[-1] + 1]


def is_blank(line: str) -> bool:
    """As CommonMark has it (section 2.1): no other white space counts."""
    return not line.strip(" \t\r\n")


def line_number(text: str, at: int) -> int:
    """The line, from 1 on, in which the offset ``at`` is."""
    return sum(1 for _ in LINE_END.finditer(text, 0, at)) + 1


def line_start(text: str, at: int) -> int:
    """Where the line begins that the offset ``at`` is in."""
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def next_line(text: str, at: int) -> int:
    """Where the line begins that is next from ``at`` on: there, if ``at`` is behind a line's end."""
    if at and text[at - 1] in "\n\r" and text[at - 1 : at + 1] != "\r\n":
        return at
    found = LINE_END.search(text, at)
    return len(text) if found is None else found.end()


def filled(text: str, start: int, end: int) -> tuple[int, int]:
    """The range from the first line that is not blank to the last; where all are, an empty one at ``start``."""
    first, last = end, start
    at = start
    while at < end:
        found = LINE_END.search(text, at, end)
        following = end if found is None else found.end()
        if not is_blank(text[at:following]):
            first, last = min(first, at), following
        at = following
    return (first, last) if first < last else (start, start)


def line_end_before(text: str, at: int) -> str:
    """The last line end before ``at``, else the first one of the text."""
    last = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at))
    found = LINE_END.search(text, last - 1 if text[last - 1 : last + 1] == "\r\n" else max(last, 0))
    return "\n" if found is None else found[0]


def gap_behind(text: str, line_end: str) -> str:
    """What is to be put behind ``text`` so that it ends with a blank line, or is empty."""
    if not text.lstrip(BOM):
        return ""
    ended = text.endswith(("\n", "\r"))
    body = text[:-2] if text.endswith("\r\n") else text[: len(text) - ended]
    last = text[line_start(body, len(body)) :]
    return ("" if ended else line_end) + ("" if is_blank(last) else line_end)


def gap_before(text: str, line_end: str) -> str:
    """What is to be put before ``text`` so that it begins with a blank line, or is empty."""
    return line_end if text and not is_blank(LINE_END.split(text, maxsplit=1)[0]) else ""
