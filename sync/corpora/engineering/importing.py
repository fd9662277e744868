"""A folder of notes copied into the knowledge base: nothing is overwritten, and what is left out is told.

Folders and files keep their names, so that links between notes keep leading somewhere; a name that no document may have
becomes one that it may. What lies at the top goes to ``general/``. A note without a title gets one, in its front
matter, from its file's name; all else in it stays to the byte.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cache.errors import AlreadyExists, Ambiguous, Denied, InvalidArgument, InvalidPath, KnowledgeError
from sync import front_matter
from sync.corpora.engineering import folder, writing
from sync.corpora.engineering.folder import MAX_DOCUMENT
from sync.corpora.engineering.lines import BOM, line_end_before, next_line
from sync.corpora.engineering.paths import (
    DEFAULT_AREA,
    KNOWLEDGE,
    MAX_DEPTH,
    SUFFIX,
    fault_in,
    fault_in_name,
    file_name,
    is_markdown,
    parts_of,
    stem,
    without_suffix,
)
from sync.files.names import MAX_NAME
from sync.files.opening import Irregular, Oversized, open_folder, read_regular
from sync.files.opening import folder as opened
from sync.page import facts
from sync.wiki_paths import fold_path

ARGUMENT: Final = "DIR"

_NAME: Final = "its name"  # in why a note is left out

_SEPARATORS: Final = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class Copied:
    """The note ``source`` (below the folder) is the document at ``path`` now; ``titled``: it got a title."""

    source: str
    path: str
    titled: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """``source`` was not copied: ``why``."""

    source: str
    why: str


def import_folder(
    source: Path, root: Path, *, area: str | None = None, dry_run: bool = False
) -> list[Copied | LeftOut]:
    """Copy the notes below ``source`` into the knowledge folder ``root``, with ``area`` all below that; or, in a dry
    run, tell what would be copied. Killed and run again, it goes on where it stopped.

    Raises ``NotConfigured``, ``InvalidArgument``, ``InvalidPath`` for the area, ``Denied``, ``Unavailable``."""
    top = (KNOWLEDGE, *(parts_of(area, "area") if area else ()))
    if _overlap(source, root):
        raise InvalidArgument("the folder and the knowledge base lie in each other — name another", argument=ARGUMENT)
    try:
        at = open_folder(str(source), follow=True)
    except OSError as error:
        raise Denied(f"cannot read the folder: {error.strerror}") from None
    try:
        with folder.opened(root) as into:
            copying = _Copying(into, top, {fold_path(path): path for path in folder.documents(into)}, dry_run)
            return [copying.copy(each) if isinstance(each, _Note) else each for each in _notes(at, "")]
    finally:
        os.close(at)


def _overlap(source: Path, root: Path) -> bool:
    inner, outer = source.resolve(), (root / KNOWLEDGE).resolve()
    return inner.is_relative_to(outer) or outer.is_relative_to(inner)


def target(source: str, top: Sequence[str]) -> str:
    """Where the note ``source`` goes, in the folder with the parts ``top``. Raises ``InvalidPath``."""
    *folders, name = source.split("/")
    if len(top) == 1 and not folders:
        folders = [DEFAULT_AREA]
    parts = [each if _is_name(each) else file_name(each, _NAME) for each in folders]
    kept = name if _is_name(name) else file_name(without_suffix(name), _NAME) + SUFFIX
    path = "/".join((*top, *parts, kept))
    if fault := fault_in(path):
        raise InvalidPath(fault, argument=ARGUMENT)
    return path


def _is_name(name: str) -> bool:
    return fault_in_name(name) is None and len(name.encode()) <= MAX_NAME


def titled(text: str, name: str) -> str:
    """``text`` with a title made of its file's ``name`` in its front matter, if it has none."""
    said = facts(text)
    if said.title is not None or said.heading is not None:
        return text
    words = " ".join(_SEPARATORS.sub(" ", name).split())
    line = f"title: {front_matter.quoted(words[:1].upper() + words[1:])}"
    end = line_end_before(text, 0)
    start = front_matter.split(text)[1]
    mark = BOM if text.startswith(BOM) else ""
    if start > len(mark):
        first = next_line(text, len(mark))
        made = text[:first] + line + end + text[first:]
    else:
        made = f"{mark}---{end}{line}{end}---{end}{end}{text[start:]}"
    return made if facts(made).title is not None else text


@dataclass(frozen=True, slots=True)
class _Note:
    """A note at ``path`` below the folder, with what is in it."""

    path: str
    data: bytes


def _notes(at: int, prefix: str) -> Iterator[_Note | LeftOut]:
    """What is in the open folder ``at`` and below, by name."""
    with os.scandir(at) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        path = f"{prefix}{entry.name}"
        if entry.name.startswith("."):
            yield LeftOut(path, "hidden")
        elif entry.is_dir(follow_symlinks=False):
            yield from _inside(entry.name, at, path)
        elif entry.is_symlink():
            yield LeftOut(path, "a symbolic link")
        elif not is_markdown(path):
            yield LeftOut(path, f"no {SUFFIX} file")
        else:
            yield _read(entry.name, at, path)


def _inside(name: str, at: int, path: str) -> Iterator[_Note | LeftOut]:
    if path.count("/") >= MAX_DEPTH:
        yield LeftOut(path, "too deep")
        return
    try:
        with opened(name, at=at) as below:
            yield from _notes(below, f"{path}/")
    except OSError as error:
        yield LeftOut(path, error.strerror or "cannot be read")


def _read(name: str, at: int, path: str) -> _Note | LeftOut:
    try:
        data = read_regular(name, at=at, limit=MAX_DOCUMENT, follow=False)
        data.decode()
    except UnicodeDecodeError:
        return LeftOut(path, "not UTF-8 text")
    except Oversized:
        return LeftOut(path, f"larger than {MAX_DOCUMENT} bytes")
    except Irregular:
        return LeftOut(path, "no regular file")
    except OSError as error:
        return LeftOut(path, error.strerror or "cannot be read")
    return _Note(path, data)


class _Copying:
    """An import under way into the open folder ``root``, below ``top``. ``taken`` are the paths of documents by
    what they are compared by."""

    def __init__(self, root: int, top: Sequence[str], taken: dict[str, str], dry_run: bool) -> None:
        self._root = root
        self._top = top
        self._taken = taken
        self._dry_run = dry_run

    def copy(self, note: _Note) -> Copied | LeftOut:
        text = note.data.decode()
        try:
            path = target(note.path, self._top)
            made = titled(text, stem(note.path)).encode()
            done = Copied(note.path, self._put(path, made), made != note.data)
        except AlreadyExists as error:
            same = self._present(error.path) == made
            return LeftOut(note.path, "there already" if same else f"{error.path} is called the same")
        except (InvalidPath, Ambiguous) as error:
            return LeftOut(note.path, error.message)
        return done

    def _put(self, path: str, data: bytes) -> str:
        if there := self._taken.get(fold_path(path)):
            raise AlreadyExists(there, there)
        if not self._dry_run:
            with writing.right_to_write(self._root):
                path = writing.put_new(self._root, path, data)
        self._taken[fold_path(path)] = path
        return path

    def _present(self, path: str) -> bytes | None:
        try:
            return folder.read(self._root, path)
        except KnowledgeError:
            return None
