"""What HEAD means: from the files of a repository to a branch and a commit.

dulwich's containers are not used: the one for files takes a reference that may not be read for one that does not
exist, and reads all packed references to find one; the one for reftables writes when it is opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dulwich.refs import Ref, check_ref_format, is_per_worktree_ref

from sync.files.opening import Irregular, Oversized, read_regular
from sync.forge.local.layout import Damaged
from sync.forge.local.reftable import Record, lookup

MAX_HOPS: Final = 5  # symbolic references that point to each other (git's own bound)
MAX_LOOSE: Final = 4096  # bytes of a file that holds one reference
MAX_PACKED: Final = 64 * 1024 * 1024  # bytes of packed-refs, or of one reftable
MAX_TABLES: Final = 1024  # reftables of one repository

_HEAD: Final = b"HEAD"
_SYMBOLIC: Final = b"ref:"
_OBJECT_NAME: Final = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


@dataclass(frozen=True, slots=True)
class Tip:
    """Where HEAD points: to a ``branch`` (``None``: detached) and a ``commit`` (``None``: the branch is unborn)."""

    branch: str | None
    commit: str | None


@dataclass(frozen=True, slots=True)
class RefFolders:
    """The open folders that hold references: ``control``, this working tree's own, and ``common``, those it shares
    with other working trees of the repository (the same folder where there are none)."""

    control: int
    common: int

    def of(self, name: bytes) -> int:
        return self.control if is_per_worktree_ref(name) else self.common


def resolve_head(folders: RefFolders, *, reftable: bool, name_size: int) -> Tip:
    """Follow HEAD. Object names have ``name_size`` bytes. Raises :class:`Damaged` and ``OSError``."""

    name = _HEAD
    for _ in range(MAX_HOPS):
        record = read_ref(folders, name, reftable=reftable, name_size=name_size)
        if record is None and name == _HEAD:
            raise Damaged("its HEAD is missing")
        if record is None or record.target is None:
            commit = record.object_name if record is not None else None
            if commit is not None and len(commit) != 2 * name_size:
                raise Damaged(f"its {_shown(name)} is malformed")
            return Tip(None if name == _HEAD else _shown(name).removeprefix("refs/heads/"), commit)
        name = record.target
        if not check_ref_format(Ref(name)):
            raise Damaged("its HEAD is malformed")
    raise Damaged("its HEAD points in a circle")


def read_ref(folders: RefFolders, name: bytes, *, reftable: bool, name_size: int) -> Record | None:
    """The reference ``name``, not followed; ``None`` if there is none. Raises :class:`Damaged` and ``OSError``."""
    return _read_table(folders, name, name_size) if reftable else _read_file(folders, name)


def _read_file(folders: RefFolders, name: bytes) -> Record | None:
    folder = folders.of(name)
    try:
        text = read_regular(os.fsdecode(name), at=folder, limit=MAX_LOOSE).strip()
    except (FileNotFoundError, NotADirectoryError, Irregular):  # a folder may stand where a packed one was
        return None if name == _HEAD else _read_packed(folders.common, name)
    except Oversized:
        raise Damaged(f"its {_shown(name)} is malformed") from None
    if text.startswith(_SYMBOLIC):
        return Record(name, target=text[len(_SYMBOLIC) :].strip())
    if not _OBJECT_NAME.match(text):
        raise Damaged(f"its {_shown(name)} is malformed")
    return Record(name, object_name=text.decode())


def _read_packed(common: int, name: bytes) -> Record | None:
    """Look ``name`` up in ``packed-refs``: lines of an object name, a space and the reference."""
    try:
        data = read_regular("packed-refs", at=common, limit=MAX_PACKED)
    except (FileNotFoundError, Irregular):
        return None
    at = data.find(b" " + name + b"\n")
    if at < 0:
        return None
    text = data[data.rfind(b"\n", 0, at) + 1 : at]
    if not _OBJECT_NAME.match(text):
        raise Damaged("its packed-refs is malformed")
    return Record(name, object_name=text.decode())


def _read_table(folders: RefFolders, name: bytes, name_size: int) -> Record | None:
    def search() -> Record | None:
        listed = read_regular("reftable/tables.list", at=folder, limit=MAX_TABLES * 64).decode("ascii").split()
        for table in reversed(listed[:MAX_TABLES]):  # the newest is last, and overrules
            if "/" in table or table.startswith("."):
                raise Damaged("its tables.list is malformed")
            data = read_regular(f"reftable/{table}", at=folder, limit=MAX_PACKED)
            record = lookup(data, name, name_size=name_size)
            if record is not None:
                deleted = record.object_name is None and record.target is None
                return None if deleted else record
        return None

    folder = folders.of(name)
    return _again_if_compacted(search)


def _again_if_compacted(search: Callable[[], Record | None]) -> Record | None:
    """Tables that are merged while we read them are gone: the list then names the new one."""
    try:
        try:
            return search()
        except FileNotFoundError:
            return search()
    except (UnicodeDecodeError, FileNotFoundError) as error:
        raise Damaged("its reftable is damaged") from error


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")
