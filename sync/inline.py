"""Plain words as Markdown that shows them. Pure."""

from __future__ import annotations

import re

from cache.errors import InvalidArgument

_MARKUP = re.compile(r"[\\`*\[\]<]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_UNWRITABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def one_line(text: str, argument: str, limit: int) -> str:
    """A caller's words on one line, white space folded.

    Raises ``InvalidArgument`` for more than ``limit`` code points, and for what no line of a text holds: control
    characters, lone surrogates, noncharacters."""
    line = " ".join(text.split())
    if len(line) > limit:
        raise InvalidArgument(f"{argument} must have at most {limit} characters", argument=argument)
    if unwritable := _UNWRITABLE.search(line):
        code = f"U+{ord(unwritable[0]):04X}"
        raise InvalidArgument(f"{argument} holds {code}, which no text can — leave it out", argument=argument)
    return line


def escape(line: str, *, thorough: bool = False) -> str:
    """A line as the inline Markdown of it: what could be markup is escaped, or ``thorough`` all ASCII punctuation."""
    if thorough:
        return _PUNCTUATION.sub(r"\\\g<0>", line)
    escaped = _MARKUP.sub(r"\\\g<0>", line)
    return escaped.replace("~", r"\~") if escaped.count("~") > 1 else escaped
