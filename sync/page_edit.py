"""What a page is to hold: a caller's title and body, with what an existing page keeps. Pure.

The body is the caller's and stays as it is, but for three things: a byte order mark in front of it is left out, its
line ends are those of the page that it replaces where that has only one kind, and the last line is ended.

The title is what the index will show. The page says it too, by a level-1 heading in front, if it has no title of its
own: neither ``title`` in its front matter nor such a heading. One that it has is left alone, also where it differs:
the index outranks it (tool contract, "A page is …").

Front matter of an existing page is kept byte for byte, unless the body brings its own; so is its byte order mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cache.errors import InvalidArgument, TooLarge
from cache.model import PageFacts
from sync import front_matter
from sync.inline import escape
from sync.page import decode, facts

MAX_BODY = 1024 * 1024  # bytes of UTF-8

_BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n|\n")


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's whole new content, and what it says of itself."""

    data: bytes
    facts: PageFacts

    @property
    def title(self) -> str | None:
        """What the page is called where the index gives it no title."""
        return self.facts.title or self.facts.heading


def compose_page(title: str, body: str, existing: bytes | None, path: str) -> PageText:
    """The page with this ``title`` (on one line) and ``body``, in place of the ``existing`` one if there is one.

    Raises ``TooLarge`` and ``InvalidArgument`` for a body that no page can hold; ``NotUtf8`` and ``InvalidArgument``
    for an existing page that is no text, naming it by ``path``."""
    _check_body(body)
    old = "" if existing is None else decode(existing, path)
    text = _with_line_ends(body.lstrip(_BOM), old)
    line_end = _line_end(text, _line_end(old))
    if not text.endswith(("\n", "\r")):
        text += line_end
    return _titled(title, _kept(old, text, line_end) + text, line_end)


def _check_body(body: str) -> None:
    if len(body) > MAX_BODY:
        raise TooLarge("body", MAX_BODY)
    try:
        size = len(body.encode())
    except UnicodeEncodeError as error:
        code = f"U+{ord(body[error.start]):04X}"
        raise InvalidArgument(f"body holds a lone surrogate, {code} — leave it out", argument="body") from error
    if size > MAX_BODY:
        raise TooLarge("body", MAX_BODY)
    if "\0" in body:
        raise InvalidArgument("body holds NUL, as only binary files do — leave it out", argument="body")
    if not body.lstrip(_BOM).strip():
        raise InvalidArgument("body is empty — write what the page is to say", argument="body")


def _line_end(text: str, default: str = "\n") -> str:
    """The first line end of a text."""
    found = _LINE_END.search(text)
    return default if found is None else found[0]


def _with_line_ends(text: str, old: str) -> str:
    """``text`` with the line ends of ``old``, where all of those are of one kind."""
    kinds = set(_LINE_END.findall(old))
    return _LINE_END.sub(kinds.pop(), text) if len(kinds) == 1 else text


def _kept(old: str, text: str, line_end: str) -> str:
    """What a page keeps in front of its new text: front matter, if that has none, and a byte order mark."""
    brings_own = front_matter.split(text)[1] > 0
    kept = (_BOM if old.startswith(_BOM) else "") if brings_own else old[: front_matter.split(old)[1]]
    return kept if kept in {"", _BOM} or kept.endswith("\n") else kept + line_end


def _titled(title: str, text: str, line_end: str) -> PageText:
    """The page with a heading in front if it has no title."""
    found = facts(text)
    if found.title is None and found.heading is None:
        start = front_matter.split(text)[1]
        body = text[start:].lstrip("\r\n")
        front = text[: len(text) - len(body)]
        for thorough in (False, True):
            heading = f"# {escape(title, thorough=thorough)}{line_end}"
            titled = front + heading + (line_end + body if body else "")
            found = facts(titled)
            if found.heading == title:
                break
        text = titled
    return PageText(text.encode(), found)
