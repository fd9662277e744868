"""The front matter of notes as people write it: YAML where it is YAML, else what its lines say. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from sync import front_matter

MAX_NODES = 2_000  # values of one front matter; more are a trick with aliases

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # makes text, lists and mappings only
_KEY = re.compile(r"([A-Za-z_][\w .-]{0,100}?)[ \t]*:(?:[ \t]+(.*)|)$")
_WORD_KEY = re.compile(r"[\"'`{]?[\w-]+[\"'`]?[ \t]*:(?:\s|$)")
_ITEM = re.compile(r"\s*-[ \t]+(.*)$")
_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_IN_BODY = re.compile(
    r"^[>*_\s-]{0,10}(tags|status)[*_ \t]{0,5}:[*_ \t]{0,5}(\S.{0,300})$", re.IGNORECASE | re.MULTILINE
)
_HEAD = 2_000  # code points of a body in which a line may say its tags and status


def split(text: str) -> tuple[str, int]:
    """The YAML that ``text`` begins with, and the offset of its body.

    As for wikis, but that a line of it must have a key of one word: prose between two rules is none. And besides,
    whatever stands between two rules without an empty line and has such a line: one that starts with a backtick is no
    YAML and was meant to be."""
    start = 1 if text.startswith("\ufeff") else 0
    found, body = front_matter.split(text)
    if body > start:
        return (found, body) if not found or _has_key(found) else ("", start)
    opening = _OPENING.match(text)
    closing = None if opening is None else _CLOSING.search(text, opening.end())
    if opening is None or closing is None:
        return "", start
    inside = text[opening.end() : closing.start()]
    meant = _has_key(inside) and all(line.strip() for line in inside.splitlines())
    return (inside, closing.end()) if meant else ("", start)


def _has_key(written: str) -> bool:
    return any(map(_WORD_KEY.match, written.splitlines()))


def fields(written: str) -> dict[str, Any]:
    """What front matter says: text, lists and mappings, that JSON can show. Nothing in it raises."""
    try:
        loaded = yaml.load(written, Loader=_LOADER)  # noqa: S506 see _LOADER
    except (yaml.YAMLError, RecursionError, ValueError):
        return _by_lines(written)
    return loaded if isinstance(loaded, dict) and _is_plain(loaded) else _by_lines(written)


def _is_plain(value: object) -> bool:
    """Whether ``value`` is of a sane size with every alias written out, and all its keys are text."""
    waiting, seen = [value], 0
    while waiting:
        seen += 1
        match waiting.pop():
            case dict() as mapping:
                if not all(isinstance(key, str) for key in mapping):
                    return False
                waiting += mapping.values()
            case list() as items:
                waiting += items
        if seen + len(waiting) > MAX_NODES:
            return False
    return True


def _by_lines(written: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    key = ""
    for line in written.splitlines():
        if match := _KEY.match(line):
            key = match[1]
            found[key] = _unquoted(match[2] or "")
        elif key and (item := _ITEM.match(line)) and (found[key] == "" or isinstance(found[key], list)):
            found[key] = [*(found[key] or []), _unquoted(item[1])]
        elif key and line[:1].isspace() and line.strip() and isinstance(found[key], str):
            found[key] = f"{found[key].lstrip('>|').strip()} {line.strip()}".strip()
    return found


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def text_of(found: Mapping[str, Any], key: str) -> str:
    """A field as one line, whatever the case of its key; empty where there is none."""
    for name, value in found.items():
        if name.lower() == key and isinstance(value, str):
            return " ".join(value.split())
    return ""


def said_in_body(body: str) -> dict[str, str]:
    """Tags and status as a line near the top of a body says them: ``**Status:** draft``."""
    head = body[:_HEAD].partition("\n## ")[0]
    return {match[1].lower(): match[2].strip("*_ \t") for match in reversed(list(_IN_BODY.finditer(head)))}
