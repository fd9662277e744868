"""YAML front matter: where it ends, and the few of its fields that are read. Pure."""

from __future__ import annotations

import re

MAX_FRONT_MATTER = 64 * 1024  # code points that are searched for fields
MAX_FIELD = 1024  # code points of a field, with its continuation lines, that are read
MAX_VALUE = 300  # code points of a value that are kept
MAX_TAGS = 100  # of a document

_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_KEY = re.compile(r"[\"']?\w[^:\n]*:(?:\s|\Z)|\{")
_FIELD = re.compile(r"^[\"']?(title|type)[\"']?[ \t]*:(?![^\s])(.*(?:\r?\n(?:[ \t]+.*|(?=\r?\n)))*)", re.MULTILINE)
_TAGS = re.compile(
    r"^[\"']?tags[\"']?[ \t]*:(?![^\s])(.*(?:\r?\n(?:[ \t]+.*|-(?:[ \t].*)?$|(?=\r?\n)))*)",
    re.MULTILINE | re.IGNORECASE,
)
_PLAIN_LIST = re.compile(r"\[(?:[\w /.+-]*,)*[\w /.+-]*\]")
_PLAIN = re.compile(r"\w(?:(?!:\s|:\Z| #).)*")
_NULL = frozenset({"", "~", "null", "Null", "NULL"})


def split(text: str) -> tuple[str, int]:
    """The YAML that ``text`` begins with, and the offset of its body, which is behind a byte order mark at least.

    What stands between two rules is YAML only if a key comes first in it, or nothing at all is in it."""
    body = 1 if text.startswith("\ufeff") else 0
    opening = _OPENING.match(text)
    closing = None if opening is None else _CLOSING.search(text, opening.end())
    if opening is None or closing is None:
        return "", body
    yaml = text[opening.end() : closing.start()]
    return (yaml, closing.end()) if _is_yaml(yaml) else ("", body)


def _is_yaml(text: str) -> bool:
    written = [line.strip() for line in text[:MAX_FRONT_MATTER].splitlines() if not line.isspace() and line]
    first = next((line for line in written if not line.startswith("#")), "")
    return not written or _KEY.match(first) is not None


def fields(yaml: str) -> dict[str, str]:
    """``title`` and ``type`` at the top level, as far as they are text, each on one line.

    Only the two fields are parsed, so that whatever else the YAML holds costs nothing and breaks nothing."""
    last = {match[1]: match for match in _FIELD.finditer(yaml, 0, MAX_FRONT_MATTER)}
    values = {key: _value(match[0][:MAX_FIELD], match[2][:MAX_FIELD].strip()) for key, match in last.items()}
    lines = {key: " ".join(value.split())[:MAX_VALUE] for key, value in values.items()}
    return {key: line for key, line in lines.items() if line not in _NULL}


def _value(field: str, written: str) -> str:
    """The text of a field, ``""`` if it has another kind of value; its first line as ``written`` if it is no YAML."""
    if _PLAIN.fullmatch(written):
        return written
    if written.startswith(("[", "{")):
        return ""
    try:
        value = _loaded(field)
    except ValueError:
        return written.partition("\n")[0].strip().strip("\"'")
    return value if isinstance(value, str) else ""


def tags(yaml: str) -> tuple[str, ...]:
    """What ``tags`` holds, in order and each once, without a ``#`` in front: a list in either form, or a text with
    commas between. What is no YAML is read as such a text, line by line."""
    found = list(_TAGS.finditer(yaml, 0, MAX_FRONT_MATTER))
    value = _tags(found[-1][0][:MAX_FIELD], found[-1][1][:MAX_FIELD].strip()) if found else ()
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    lines = (" ".join(word.split()).removeprefix("#")[:MAX_VALUE] for word in words if isinstance(word, str))
    return tuple(dict.fromkeys(line for line in lines if line not in _NULL))[:MAX_TAGS]


def _tags(field: str, written: str) -> object:
    if _PLAIN_LIST.fullmatch(written):
        return written[1:-1].split(",")
    if _PLAIN.fullmatch(written):
        return written
    try:
        return _loaded(field)
    except ValueError:
        return [word.strip("-[]\"' \t\r") for word in written.replace(",", "\n").split("\n")]


def _loaded(field: str) -> object:
    """The value of the one key in ``field``: text, a list or a mapping. Raises ``ValueError`` for what is no YAML."""
    import yaml  # noqa: PLC0415 - start-up time: few pages need it

    try:
        loaded = yaml.load(field, Loader=yaml.BaseLoader)  # noqa: S506 - it makes text, lists and mappings only
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError from error
    return next(iter(loaded.values()), None) if isinstance(loaded, dict) else None


def quoted(text: str) -> str:
    """A double-quoted scalar (YAML 1.2.2, section 7.3.1) on one line."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
