"""Lines put into a text that keeps every other byte, with its own line ends and blank lines around them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK_LINE = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_BOM = "\ufeff"


class Change(NamedTuple):
    """``new`` in place of the code points from ``start`` to before ``end``."""

    start: int
    end: int
    new: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def insert(text: str, at: int, lines: Sequence[str], *, above: bool, below: bool) -> Change:
    """Whole ``lines`` at ``at``, where a line begins or the text ends. ``above`` and ``below`` ask for a blank line
    between them and text that is there. An unfinished last line is ended."""
    end = _line_end(text, at)
    new = "".join(line + end for line in lines)
    begins = not text[:at].lstrip(_BOM)
    if above and not begins:
        new = end + new
    if below and not is_blank_line(text, at):
        new += end
    if not begins and text[at - 1] not in "\r\n":
        new = end + new
    return Change(at, at, new)


def line_start(text: str, at: int) -> int:
    """Where the white space in front of ``at`` begins, which is where its line does if nothing else stands there."""
    while at and text[at - 1] in " \t":
        at -= 1
    return at


def line_after(text: str, end: int, start: int = 0) -> int:
    """Where the next line begins after the last text between ``start`` and ``end``: white space behind that is left
    where it is. ``start`` if there is no text."""
    last = len(text[start:end].rstrip())
    if not last:
        return start
    found = _LINE_END.search(text, start + last)
    return len(text) if found is None else found.end()


def line_at(text: str, start: int) -> str:
    """The line from ``start`` on, without its end."""
    found = _LINE_END.search(text, start)
    return text[start : len(text) if found is None else found.start()]


def is_blank_line(text: str, at: int) -> bool:
    """Whether the line that begins at ``at`` is blank, or the text ends there."""
    return _BLANK_LINE.match(text, at) is not None


def _line_end(text: str, at: int) -> str:
    """The line end in front of ``at``, else the first one of the text."""
    if text.endswith("\r\n", 0, at):
        return "\r\n"
    if text.endswith(("\n", "\r"), 0, at):
        return text[at - 1]
    found = _LINE_END.search(text)
    return "\n" if found is None else found[0]
