"""Paths of documents as callers name them and as files have them. Pure.

A path that could lead elsewhere, on any system, is refused and never mended. What a new document is to be called is
made a file name, which every file system takes.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from cache.errors import InvalidPath, shown
from cache.search.query import normalize
from sync.files.names import MAX_NAME, is_reserved

KNOWLEDGE: Final = "knowledge"
INBOX: Final = "inbox/knowledge-inbox.md"
SUFFIX: Final = ".md"
DEFAULT_AREA: Final = "general"
MAX_PATH: Final = 1_000  # code points, as callers name a document
MAX_DEPTH: Final = 32  # folders and file

_UNREADABLE: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
_FORBIDDEN: Final = re.compile(r"[\\:~]")


def parts_of(path: str, argument: str) -> tuple[str, ...]:
    """The folders and the file of a ``path`` that a caller gave as ``argument``. Raises ``InvalidPath``."""
    fault = fault_in(path)
    if fault is not None:
        raise InvalidPath(f"{argument}: {fault}", argument=argument)
    return tuple(path.split("/"))


def fault_in(path: str) -> str | None:
    """Why no document can have this ``path``, with the remedy; ``None`` if one can."""
    parts = path.split("/")
    if not path:
        return "it is empty — name a document, such as api/limits"
    if len(path) > MAX_PATH or len(parts) > MAX_DEPTH:
        return f"it has more than {MAX_PATH} characters or {MAX_DEPTH} parts — name a document by its path"
    if path.startswith("/"):
        return f"it is absolute — write a path below {KNOWLEDGE}/"
    return next(filter(None, map(fault_in_name, parts)), None)


@lru_cache(maxsize=65_536)
def fault_in_name(name: str) -> str | None:
    """Why no folder or file on the way to a document can have this ``name``; ``None`` if one can."""
    if not name:
        return "a folder or file in it has no name — write one / between names"
    if found := _UNREADABLE.search(name):
        return f"it holds U+{ord(found[0]):04X}, which no file's name should — leave it out"
    if found := _FORBIDDEN.search(name):
        return f"it holds {found[0]} — write a path below {KNOWLEDGE}/, with / between folders"
    if name.startswith("."):
        return f"{shown(name, 40)} begins with a dot — write a path below {KNOWLEDGE}/"
    if name != name.strip() or name.endswith("."):
        return f"“{shown(name, 40)}” begins or ends with a space, or ends with a dot — leave that out"
    return f"{shown(name, 40)} is a reserved name on some systems — choose another" if is_reserved(name) else None


def is_document(path: str) -> bool:
    """Whether a file at ``path``, from the root, is a document: Markdown below ``knowledge/`` that can be named."""
    return path.startswith(f"{KNOWLEDGE}/") and is_markdown(path) and fault_in(path) is None


def is_markdown(path: str) -> bool:
    """Whether a file is Markdown by its name."""
    return path[-len(SUFFIX) :].lower() == SUFFIX


def without_suffix(path: str) -> str:
    """``path`` without ``.md``, in whatever case."""
    return path[: -len(SUFFIX)] if is_markdown(path) else path


def stem(path: str) -> str:
    """The name of the file at ``path`` without ``.md``."""
    return without_suffix(path.rpartition("/")[2])


def new_path(topic: str, argument: str = "topic") -> str:
    """Where a new document called ``topic`` goes, from the root. Raises ``InvalidPath``."""
    parts = parts_of(topic, argument)
    if parts[0] == KNOWLEDGE and len(parts) > 1:
        parts = parts[1:]
    *folders, name = parts
    if not without_suffix(name):
        raise InvalidPath(f"{argument}: {SUFFIX} has no name in front of it", argument=argument)
    names = [file_name(part, argument) for part in (*folders, without_suffix(name))]
    path = "/".join((KNOWLEDGE, *([DEFAULT_AREA] if len(names) == 1 else []), *names)) + SUFFIX
    if max(len(part.encode()) for part in path.split("/")) > MAX_NAME or len(path) > MAX_PATH:
        raise InvalidPath(f"{argument}: a name in it is too long for a file — choose a shorter one", argument=argument)
    return path


def file_name(name: str, argument: str) -> str:
    """``name`` as a file's: NFKC, lower case, a dash for each run of anything but letters and digits of any script with
    their marks, ``_`` and ``.``; none at its ends.

    Raises ``InvalidPath`` where nothing is left, or a name that is reserved on some system."""
    kept: list[str] = []
    for char in normalize("NFKC", normalize("NFKC", name).lower()):
        is_mark = unicodedata.category(char) in {"Mn", "Mc"} and kept and kept[-1] not in "-_."
        if char.isalnum() or char in "_." or is_mark:
            kept.append(char)
        elif kept and kept[-1] != "-":
            kept.append("-")
    made = "".join(kept).strip("-.")
    if not any(char.isalnum() for char in made):
        raise InvalidPath(
            f"{argument}: {shown(name, 40)} has no letter and no digit — choose a name", argument=argument
        )
    if is_reserved(made):
        raise InvalidPath(f"{argument}: {made} is a reserved name on some systems — choose another", argument=argument)
    return made
