"""JSON from somebody else, taken apart with every type checked. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from sync.forge.gitea.calls import is_text

Record = Mapping[str, object]

MAX_INTEGER = 2**63 - 1  # what a database, and the forge itself, can hold

_OBJECT_NAME = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Malformed(ValueError):
    """Not the shape that the API describes; the message is what is off."""


def parse(body: bytes) -> object:
    """The JSON text in ``body`` (RFC 8259), which is UTF-8. Of two equal keys the last one counts."""
    try:
        value: object = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # a number of more than 4,300 digits is a ValueError too
        raise Malformed("HTML" if body.lstrip()[:1] == b"<" else "damaged JSON") from None
    return value


def a_list(value: object) -> Sequence[object]:
    """A list; ``null`` is how Go writes an empty one."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Malformed("no list")
    return value


def an_object(value: object) -> Record:
    if not isinstance(value, dict):
        raise Malformed("no object")
    return value


def text(record: Record, key: str, default: str | None = None) -> str:
    """A string of whole characters: half a surrogate pair could be stored nowhere."""
    value = record.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not is_text(value):
        raise Malformed(f"no {key}")
    return value


def count(record: Record, key: str, default: int | None = None) -> int:
    """A whole number, not negative."""
    value = record.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_INTEGER:
        raise Malformed(f"no {key}")
    return value


def flag(record: Record, key: str, *, default: bool = False) -> bool:
    """A truth value; what is missing is ``default``."""
    value = record.get(key, default)
    if not isinstance(value, bool):
        raise Malformed(f"no {key}")
    return value


def sha(record: Record, key: str = "sha") -> str:
    """A git object name in hexadecimal."""
    value = text(record, key)
    if not is_sha(value):
        raise Malformed(f"no {key}")
    return value


def is_sha(word: str) -> bool:
    """Whether ``word`` is the name of an object in a SHA-1 or SHA-256 repository."""
    return _OBJECT_NAME.fullmatch(word) is not None


def web_url(record: Record, key: str = "html_url") -> str:
    """The address of a page for people."""
    value = text(record, key)
    if not is_web_url(value):
        raise Malformed(f"no {key}")
    return value


def is_web_url(word: str) -> bool:
    """Whether a browser can be sent to ``word``."""
    return word.startswith(("https://", "http://")) and word.isprintable()


def moment(record: Record, key: str) -> float:
    """A time, in seconds since the UTC epoch."""
    value = seconds(text(record, key))
    if value is None:
        raise Malformed(f"no {key}")
    return value


def seconds(stamp: str) -> float | None:
    """RFC 3339 text as seconds since the UTC epoch."""
    try:
        moment = datetime.fromisoformat(stamp)
        return moment.timestamp() if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def printable(text: str, limit: int) -> str:
    """The first ``limit`` characters of somebody else's words, none of which does anything to a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:limit]
