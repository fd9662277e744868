"""Git objects of one repository: loose, in packs, and in the stores it borrows from (``info/alternates``).

Loose objects are read here rather than by dulwich, which has no bound but a global one and needs five times as long;
packs are dulwich's (``packs``). Every object's content is checked against its name.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from dulwich.object_format import ObjectFormat

from sync.files.opening import Irregular, Oversized, open_folder, open_regular, read_regular
from sync.forge.local.layout import Damaged
from sync.forge.local.packs import PackFile

COMMIT, TREE, BLOB, TAG = 1, 2, 3, 4
KINDS: Final = {b"commit": COMMIT, b"tree": TREE, b"blob": BLOB, b"tag": TAG}
KIND_NAMES: Final = {number: name for name, number in KINDS.items()}

MAX_ALTERNATES: Final = 64  # stores that one repository may borrow from
MAX_DEPTH: Final = 5  # stores that borrow from stores (git's own bound)
MAX_SIZE: Final = 1 << 62  # bytes that an object may announce; no disk holds as many
_NAME: Final = re.compile("[0-9a-f]+")
_CHUNK: Final = 64 * 1024  # compressed bytes of a loose object read at once
_LOOSE_HEADER: Final = 32  # bytes that hold "commit <size>" and its NUL


@dataclass(frozen=True, slots=True)
class _Found:
    """An object's ``kind`` and ``size``; ``data`` is ``None`` where only these were asked or it is too large."""

    kind: int
    size: int
    data: bytes | None


class Objects:
    """The objects that the repository with the open common folder ``common`` can reach. Close it after use."""

    def __init__(self, common: int, object_format: ObjectFormat) -> None:
        self.object_format = object_format
        self._open = ExitStack()
        self._main = self._open_store("objects", at=common)
        self._borrowed: list[_Store] | None = None

    def close(self) -> None:
        self._open.close()

    def size(self, name: str) -> int:
        """The size in bytes of the object ``name``. Raises :class:`Damaged`."""
        return self._find(name, None).size

    def read(self, name: str, kind: int, *, limit: int) -> bytes:
        """The content of the object ``name``, which must be of ``kind``.

        Raises :class:`Damaged`, and ``Oversized`` when it has more than ``limit`` bytes."""
        found = self._find(name, limit)
        if found.kind != kind:
            raise Damaged(f"its object {name} is not a {KIND_NAMES[kind].decode()}")
        if found.data is None:
            raise Oversized(found.size)
        if self.hash(kind, found.data) != name:
            raise Damaged(f"its object {name} is damaged")
        return found.data

    def hash(self, kind: int, data: bytes) -> str:
        """The name git gives to an object."""
        digest = self.object_format.new_hash()
        digest.update(b"%s %d\0" % (KIND_NAMES[kind], len(data)))
        digest.update(data)
        return digest.hexdigest()

    def _find(self, name: str, limit: int | None) -> _Found:
        if not _NAME.fullmatch(name) or len(name) != self.object_format.hex_length:
            raise Damaged("it has a malformed object name")
        unreadable = False
        for _ in range(2):
            for store in self._stores():
                found, damaged = None, False
                try:
                    found = store.find(name, limit)
                    damaged = found is not None and not 0 <= found.size <= MAX_SIZE
                except FileNotFoundError:
                    continue  # a pack went between its listing and its opening
                except (OSError, Oversized):
                    raise
                except Exception:  # dulwich and zlib tell damage by any type
                    damaged = True
                if damaged:  # raised out here: that exception's frames would keep the pack from being closed
                    raise Damaged(f"its object {name} is damaged")
                if found is not None:
                    return found
                unreadable = unreadable or store.has_damaged_pack
            for store in self._stores():
                store.forget_packs()  # a repack may have moved it meanwhile
        raise Damaged("its pack index is damaged" if unreadable else f"its object {name} is missing")

    def _stores(self) -> Iterator[_Store]:
        yield self._main
        if self._borrowed is None:
            self._borrowed = self._open_alternates()
        yield from self._borrowed

    def _open_store(self, name: str, *, at: int) -> _Store:
        store = _Store(open_folder(name, at=at, follow=True), self.object_format)
        self._open.callback(store.close)
        return store

    def _open_alternates(self) -> list[_Store]:
        """Breadth first, each once; one that is gone is passed over, as git does."""
        seen = {self._main.identity}
        opened: list[_Store] = []
        level = [self._main]
        for _ in range(MAX_DEPTH):
            following = []
            named = [(path, store) for store in level for path in store.alternates()]
            for path, lender in named[: MAX_ALTERNATES - len(opened)]:
                try:
                    borrowed = self._open_store(path, at=lender.descriptor)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                if borrowed.identity not in seen:
                    seen.add(borrowed.identity)
                    following.append(borrowed)
            opened += following
            level = following
        return opened


class _Store:
    """One ``objects`` folder."""

    def __init__(self, descriptor: int, object_format: ObjectFormat) -> None:
        self.descriptor = descriptor
        self.has_damaged_pack = False
        self._format = object_format
        self._packs: list[PackFile] | None = None
        self._pack_folder: int | None = None

    @property
    def identity(self) -> tuple[int, int]:
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def close(self) -> None:
        self.forget_packs()
        os.close(self.descriptor)

    def forget_packs(self) -> None:
        for pack in self._packs or ():
            pack.close()
        if self._pack_folder is not None:
            os.close(self._pack_folder)
        self._packs = self._pack_folder = None

    def find(self, name: str, limit: int | None) -> _Found | None:
        return self._loose(name, limit) or self._packed(name, limit)

    def alternates(self) -> list[str]:
        """The stores this one borrows from, relative to it or absolute."""
        try:
            lines = read_regular("info/alternates", at=self.descriptor, limit=_CHUNK).split(b"\n")
        except (FileNotFoundError, NotADirectoryError, Irregular, Oversized):
            return []
        return [os.fsdecode(line) for line in lines if line and not line.startswith(b"#") and b"\0" not in line]

    def _loose(self, name: str, limit: int | None) -> _Found | None:
        try:
            descriptor = open_regular(f"{name[:2]}/{name[2:]}", at=self.descriptor)
        except FileNotFoundError:
            return None
        try:
            return _inflate_loose(descriptor, limit)
        finally:
            os.close(descriptor)

    def _packed(self, name: str, limit: int | None) -> _Found | None:
        raw = bytes.fromhex(name)
        if self._packs is None:
            self._packs = self._list_packs()
        for pack in tuple(self._packs):
            try:
                offset = pack.offset(raw)
            except OSError:
                raise
            except Exception:  # dulwich tells a damaged index by any of a dozen types; another pack may have it
                self.has_damaged_pack = True
                self._packs.remove(pack)
                pack.close()
                continue
            if offset is not None:
                header = pack.header(offset)
                wanted = limit is not None and header.size <= limit
                return _Found(header.kind, header.size, pack.read(offset, header) if wanted else None)
        return None

    def _list_packs(self) -> list[PackFile]:
        """The newest first: what is asked for is most often the latest commit."""
        try:
            self._pack_folder = open_folder("pack", at=self.descriptor, follow=True)
        except FileNotFoundError:
            return []
        with os.scandir(self._pack_folder) as entries:
            files = {entry.name: entry for entry in entries}
            indexed = [name for name in files if name.endswith(".idx") and name[:-4] + ".pack" in files]
            indexed.sort(key=lambda name: (-files[name].stat().st_mtime_ns, name))
        return [PackFile(name[:-4], at=self._pack_folder, object_format=self._format) for name in indexed]


def _inflate_loose(descriptor: int, limit: int | None) -> _Found:
    """Read "<type> <size>", NUL, content (gitformat-loose), never more of it than its header announces."""
    inflater = zlib.decompressobj()
    start = inflater.decompress(os.read(descriptor, _CHUNK), _LOOSE_HEADER)
    header, _, data = start.partition(b"\0")
    word, _, digits = header.partition(b" ")
    kind, size = KINDS[word], int(digits)
    if limit is None or size > limit:
        return _Found(kind, size, None)
    parts = [data]
    left = size - len(data)
    while not inflater.eof:
        compressed = inflater.unconsumed_tail or os.read(descriptor, _CHUNK)
        parts.append(inflater.decompress(compressed, left + 1))
        left -= len(parts[-1])
        if left < 0 or not compressed:
            break
    if left:
        raise Damaged("it has an object that is not as long as announced")
    return _Found(kind, size, b"".join(parts))
