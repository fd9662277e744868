"""Looking up one reference in the bytes of one reftable (gitformat-reftable, versions 1 and 2). Pure.

dulwich's own reader takes SHA-1 tables of one block only, and its container writes to the repository when opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sync.forge.local.layout import Damaged

_MAGIC: Final = b"REFT"
_HEADER_SIZE: Final = {1: 24, 2: 28}  # bytes, by version
_FOOTER_EXTRA: Final = 44  # bytes of the footer beyond the header that it repeats
_NUMBER: Final = 11  # more bytes than any number of 64 bits has


@dataclass(frozen=True, slots=True)
class Record:
    """What a table says of a reference: the object it names, the reference it points to, or neither (deleted)."""

    name: bytes
    object_name: str | None = None
    target: bytes | None = None


def lookup(table: bytes, name: bytes, *, name_size: int) -> Record | None:
    """What ``table`` says of the reference ``name``; ``None`` where it says nothing. Object names have ``name_size``
    bytes. Raises :class:`Damaged`."""
    try:
        return _lookup(table, name, name_size)
    except (IndexError, KeyError) as error:
        raise Damaged("it has a reftable that is cut short") from error


def _lookup(table: bytes, name: bytes, name_size: int) -> Record | None:
    if table[:4] != _MAGIC:
        raise Damaged("its reftable is none")
    header = _HEADER_SIZE[table[4]]
    block_size = int.from_bytes(table[5:8], "big")
    end = len(table) - header - _FOOTER_EXTRA
    start, candidate = 0, None
    while start < end:
        first = start or header  # the first block begins with the file's header, and counts it
        if table[first : first + 1] != b"r":
            break
        length = int.from_bytes(table[first + 1 : first + 4], "big")
        if length <= first - start + 4:
            raise Damaged("it has a reftable with an empty block")
        block = _Block(table, first + 4, start + length, name_size)
        if block.first_name() > name:
            break
        candidate = block
        start = _next_block(table, start, length, block_size)
    return candidate.find(name) if candidate is not None else None


def _next_block(table: bytes, start: int, length: int, block_size: int) -> int:
    """Blocks are padded with NUL to ``block_size``, unless the table is written unaligned."""
    unaligned = length >= block_size or table[start + length : start + length + 1] != b"\0"
    return start + (length if unaligned else block_size)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of references, sorted by name: records from ``at`` on, then a table of restarts that ends at ``end``."""

    table: bytes
    at: int
    end: int
    name_size: int

    def first_name(self) -> bytes:
        record, _ = self._record(self.at, b"")
        return record.name

    def find(self, name: bytes) -> Record | None:
        restarts = int.from_bytes(self.table[self.end - 2 : self.end], "big")
        at, end, previous = self.at, self.end - 2 - 3 * restarts, b""
        while at < end:
            record, at = self._record(at, previous)
            if record.name >= name:
                return record if record.name == name else None
            previous = record.name
        return None

    def _record(self, at: int, previous: bytes) -> tuple[Record, int]:
        shared, at = self._number(at)
        word, at = self._number(at)
        name = previous[:shared] + self._take(at, word >> 3)
        _, at = self._number(at + (word >> 3))  # by how much it is younger than the table
        match word & 7:
            case 0:  # deleted
                return Record(name), at
            case 1:  # an object
                return Record(name, object_name=self._take(at, self.name_size).hex()), at + self.name_size
            case 2:  # a tag, and the object it stands for
                return Record(name, object_name=self._take(at, self.name_size).hex()), at + 2 * self.name_size
            case 3:  # another reference
                size, at = self._number(at)
                return Record(name, target=self._take(at, size)), at + size
            case _:
                raise Damaged("it has a reftable with an unknown kind of reference")

    def _number(self, at: int) -> tuple[int, int]:
        """A number in the format of pack offsets, and where it ends."""
        value = self.table[at] & 0x7F
        for end in range(at + 1, at + _NUMBER):
            if not self.table[end - 1] & 0x80:
                return value, end
            value = (value + 1) << 7 | self.table[end] & 0x7F
        raise Damaged("it has a reftable with a number without end")

    def _take(self, at: int, size: int) -> bytes:
        taken = self.table[at : at + size]
        if len(taken) != size:
            raise Damaged("it has a reftable that is cut short")
        return taken
