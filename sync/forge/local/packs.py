"""One pack of a repository, read by dulwich within bounds.

dulwich inflates an object whole before it can tell its size, so sizes are read from the entry headers first
(gitformat-pack: "object entries", "deltified representation"); what is too large is never inflated.
"""

from __future__ import annotations

import os
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Final

from dulwich.object_format import ObjectFormat
from dulwich.objects import RawObjectID
from dulwich.pack import OFS_DELTA, REF_DELTA, Pack, PackData, PackIndex

from sync.files.opening import Oversized, open_regular
from sync.forge.local.layout import Damaged
from sync.forge.local.pack_index import open_index

MAX_INFLATED: Final = 64 * 1024 * 1024  # bytes of any object that has to be inflated on the way to the one wanted
MAX_CHAIN: Final = 4095  # deltas upon deltas; git writes no longer chains (pack.depth)
MAX_WORK: Final = 512 * 1024 * 1024  # bytes that are inflated and copied for one object: 50 deltas of the largest page

_ENTRY: Final = 64  # bytes that hold any entry header: size, and offset or name of the base
_DELTA: Final = 512  # compressed bytes that surely inflate to the two sizes a delta starts with


@dataclass(frozen=True, slots=True)
class Header:
    """An object's ``kind`` (git's number: 1 commit, 2 tree, 3 blob, 4 tag) and ``size`` in bytes. ``chain`` counts the
    deltas that lead to it, ``largest`` is the size of the largest object or delta on the way, ``work`` that of all."""

    kind: int
    size: int
    chain: int
    largest: int
    work: int

    def after(self, delta: int, size: int) -> Header:
        """The header of what a ``delta`` of so many bytes makes of this object, ``size`` bytes."""
        return Header(self.kind, size, self.chain + 1, max(self.largest, delta, size), self.work + delta + size)


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    size: int  # of what is compressed: the object, or the delta
    base: int | None  # offset of a delta's base
    data: int  # offset of the compressed bytes


class PackFile:
    """The pack ``name`` (without suffix) in the open folder ``at``; its files are opened when first needed."""

    def __init__(self, name: str, *, at: int, object_format: ObjectFormat) -> None:
        self._name = name
        self._at = at
        self._format = object_format
        self._open = ExitStack()
        self._index: PackIndex | None = None
        self._pack: Pack | None = None
        self._descriptor = -1
        self._headers: dict[int, Header] = {}

    def close(self) -> None:
        self._open.close()

    def offset(self, raw: bytes) -> int | None:
        """Where the object with the binary name ``raw`` starts, if it is here."""
        index = self._load_index()
        try:
            return index.object_offset(RawObjectID(raw))
        except KeyError:
            return None

    def header(self, offset: int) -> Header:
        """What the object at ``offset`` is, from entry headers alone. Each is read once: many deltas share a base."""
        self._load_data()
        deltas: list[tuple[int, _Entry]] = []
        while (header := self._headers.get(offset)) is None:
            entry = self._entry(offset)
            if entry.base is None:
                header = self._headers[offset] = Header(entry.kind, entry.size, 0, entry.size, entry.size)
                break
            deltas.append((offset, entry))
            if len(deltas) > MAX_CHAIN:
                break
            offset = entry.base
        if header is None or header.chain + len(deltas) > MAX_CHAIN:
            raise Damaged("it has a delta chain without end")
        for at, entry in reversed(deltas):
            header = self._headers[at] = header.after(entry.size, self._result_size(entry))
        return header

    def read(self, offset: int, header: Header) -> bytes:
        """The object at ``offset``, which has that ``header``."""
        if header.largest > MAX_INFLATED or header.work > MAX_WORK:
            raise Oversized(header.work)
        pack = self._load_data()
        _, found = pack.resolve_object(offset, *pack.data.get_object_at(offset))
        if isinstance(found, tuple):
            raise Damaged("it has a delta without its base")
        return found if isinstance(found, bytes) else b"".join(found)

    def _load_index(self) -> PackIndex:
        if self._index is None:
            name = self._name + ".idx"
            file = self._file(name)
            try:
                index = open_index(name, file, self._format)
            except BaseException:
                file.close()  # before what is half made of an index complains that it is open
                raise
            self._open.callback(index.close)
            self._index = index
        return self._index

    def _load_data(self) -> Pack:
        if self._pack is None:
            name = self._name + ".pack"
            file = self._file(name)
            self._descriptor = file.fileno()
            pack = Pack.from_lazy_objects(lambda: PackData(name, self._format, file=file), self._load_index)
            self._open.callback(pack.close)
            self._pack = pack
        return self._pack

    def _file(self, name: str) -> IO[bytes]:
        return self._open.enter_context(os.fdopen(open_regular(name, at=self._at), "rb", buffering=0))

    def _entry(self, offset: int) -> _Entry:
        raw = os.pread(self._descriptor, _ENTRY, offset)
        if not raw:
            raise Damaged("it has a pack entry beyond the end")
        kind, size = raw[0] >> 4 & 7, raw[0] & 15
        at, shift = 1, 4
        while raw[at - 1] & 0x80:
            size |= (raw[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
        if kind == OFS_DELTA:
            distance = raw[at] & 0x7F
            while raw[at] & 0x80:
                at += 1
                distance = (distance + 1) << 7 | raw[at] & 0x7F
            base, at = offset - distance, at + 1
            if not 0 < base < offset:
                raise Damaged("it has a delta with a base before the start")
            return _Entry(kind, size, base, offset + at)
        if kind == REF_DELTA:
            end = at + self._format.oid_length
            named = self.offset(raw[at:end])
            if named is None:
                raise Damaged("it has a delta without its base")
            return _Entry(kind, size, named, offset + end)
        return _Entry(kind, size, None, offset + at)

    def _result_size(self, entry: _Entry) -> int:
        """The size of what a delta makes: the second of the two numbers it starts with."""
        delta = zlib.decompressobj().decompress(os.pread(self._descriptor, _DELTA, entry.data), 32)
        at = 0
        while delta[at] & 0x80:
            at += 1
        at += 1
        size = shift = 0
        while True:
            size |= (delta[at] & 0x7F) << shift
            if not delta[at] & 0x80:
                return size
            at, shift = at + 1, shift + 7
