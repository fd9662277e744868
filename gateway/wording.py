"""Words of clients in our messages: what they may have meant, and how to repeat them safely."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

READ_ONLY: Final = "this gateway is read-only — start it without --read-only, and unset [gateway] read_only"

_SHOWN: Final = 40  # characters of a client's word that a message repeats

# Controls, line and paragraph separators, surrogates, and the marks that turn the direction of text
_UNPRINTABLE: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")

_LINE: Final = re.compile(r"(?:[^\t\n\r]|\r(?!\n))+")


def near(word: str, known: Iterable[str]) -> str | None:
    """The name in ``known`` that ``word`` may have meant. A long ``word`` is like nothing: to compare it is slow."""
    return next(iter(difflib.get_close_matches(word, known, n=1)), None) if len(word) <= 2 * _SHOWN else None


def shown(word: str) -> str:
    """``word`` in quotation marks: shortened, and without anything unprintable."""
    short = word if len(word) <= _SHOWN else word[:_SHOWN] + "…"
    return f"'{printable(short)}'"


def printable(text: str) -> str:
    """``text`` on one line, with U+FFFD for each control character, line separator and lone surrogate."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def printable_lines(text: str) -> str:
    """``text`` as a terminal may have it: other people's words must not drive it. Line ends and tabs stay."""
    return _LINE.sub(lambda found: printable(found[0]), text)


def counted(number: int, thing: str) -> str:
    """``number`` of them: ``1 page``, ``2 pages``."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def is_unicode(text: str) -> bool:
    """Whether ``text`` can be encoded: it holds no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_unicode(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate."""
    return text if is_unicode(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
