"""Set one member in a JSON text, comments and trailing commas allowed, and keep every other character. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.decoder import JSONDecoder
from typing import Any, Final

_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_FIRST_INDENT: Final = re.compile(r"\{[ \t\r]*\n(?:[ \t\r]*\n)*([ \t]+)\S")


class Malformed(ValueError):
    """The text is not the JSON object it should be; the message says where."""


@dataclass(frozen=True, slots=True)
class _Object:
    """Where an object's members and its closing brace are."""

    members: Mapping[str, tuple[int, int]]  # each value's span
    close: int

    @property
    def end_of_last(self) -> int | None:
        return max((end for _, end in self.members.values()), default=None)


def parse(text: str, *, comments: bool) -> dict[str, Any]:
    """The object that ``text`` holds. Raises :class:`Malformed`."""
    try:
        found = json.loads(_plain(text) if comments else text)
    except (ValueError, RecursionError) as error:
        place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Malformed(f"not JSON{place}") from None
    if not isinstance(found, dict):
        raise Malformed("not a JSON object")
    return found


def put(text: str, path: Sequence[str], value: object) -> str:
    """``text``, an object that :func:`parse` reads, with the member at ``path`` set to ``value``.

    Objects on the way that are missing are made. Raises :class:`Malformed` where something else is in the way.
    """
    plain = _plain(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = found[1] if (found := _FIRST_INDENT.match(plain, _skip(plain, 0))) else "  "
    start = _skip(plain, 0)
    for depth, name in enumerate(path, 1):
        if plain[start : start + 1] != "{":
            raise Malformed(f"{'.'.join(path[: depth - 1]) or 'the text'} is not an object")
        scope = _scan(plain, start)
        if name in scope.members and depth < len(path):
            start = scope.members[name][0]
            continue
        for missing in reversed(path[depth:]):
            value = {missing: value}
        written = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", newline + indent * depth)
        if name in scope.members:
            begin, end = scope.members[name]
            return text[:begin] + written + text[end:]
        member = newline + indent * depth + f"{json.dumps(name, ensure_ascii=False)}: {written}"
        return _append(text, scope, member, newline + indent * (depth - 1))
    raise Malformed("no path")


def _append(text: str, scope: _Object, member: str, before_close: str) -> str:
    """``member`` after the last one of ``scope`` and the comments that follow that."""
    tail = text[: scope.close].rstrip()
    last = scope.end_of_last
    if last is not None and "," not in _plain_comments(tail[last:]):
        tail = tail[:last] + "," + tail[last:]
    rest = text[len(text[: scope.close].rstrip()) :]
    return tail + member + (rest if "\n" in rest[: rest.index("}")] else before_close + rest.lstrip())


def _plain_comments(text: str) -> str:
    return _COMMENT.sub(_blank_comment, text)


def _plain(text: str) -> str:
    """``text`` as plain JSON of the same length: comments and trailing commas become spaces."""
    return _TRAILING_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", _plain_comments(text))


def _blank_comment(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _scan(plain: str, start: int) -> _Object:
    """The members of the object at ``start`` in valid JSON. Of two with one name the last counts, as for parsers."""
    decoder = JSONDecoder()
    members: dict[str, tuple[int, int]] = {}
    at = _skip(plain, start + 1)
    while plain[at] != "}":
        name, at = decoder.raw_decode(plain, at)
        begin = _skip(plain, _skip(plain, at) + 1)
        _, end = decoder.raw_decode(plain, begin)
        members[name] = (begin, end)
        at = _skip(plain, end)
        if plain[at] == ",":
            at = _skip(plain, at + 1)
    return _Object(members, at)
