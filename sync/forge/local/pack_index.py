"""Where a pack has an object, without reading more of its index than that takes.

dulwich reads the whole fan-out table of an index when it opens it, which takes longer than all else in reading a page
of a cloned repository, once for each pack. Its own reader is left for versions of the index that git has not written
by default since 2008.
"""

from __future__ import annotations

import os
from typing import IO, Final

from dulwich.object_format import ObjectFormat
from dulwich.objects import ObjectID, RawObjectID
from dulwich.pack import PackIndex, bisect_find_sha, load_pack_index_file

from sync.forge.local.layout import Damaged

_VERSION_2: Final = b"\377tOc\0\0\0\2"
_FAN_OUT: Final = 8  # offset of the 256 counts of objects whose names start with at most that byte
_NAMES: Final = _FAN_OUT + 4 * 256  # offset of the sorted names
_FAR: Final = 1 << 31  # set in an offset that has its place in the table of 64 bits


def open_index(name: str, file: IO[bytes], object_format: ObjectFormat) -> PackIndex:
    """The index in the open ``file``, which the caller closes after the index. Raises anything where it is damaged."""
    if os.pread(file.fileno(), len(_VERSION_2), 0) == _VERSION_2:
        return _Version2(file.fileno(), object_format)
    return load_pack_index_file(name, file, object_format)


class _Version2(PackIndex):
    """gitformat-pack: "Version 2 pack-*.idx files". Raises :class:`Damaged`."""

    def __init__(self, descriptor: int, object_format: ObjectFormat) -> None:
        self.object_format = object_format
        self._descriptor = descriptor
        self._size = object_format.oid_length
        self._count = self._number(_FAN_OUT + 4 * 255)

    def __len__(self) -> int:
        return self._count

    def object_offset(self, sha: ObjectID | RawObjectID) -> int:
        """Where the object with the binary name ``sha`` starts in the pack. Raises ``KeyError``."""
        first = sha[0]
        low = self._number(_FAN_OUT + 4 * (first - 1)) if first else 0
        high = self._number(_FAN_OUT + 4 * first)
        if not low <= high <= self._count:
            raise Damaged("its pack index is damaged")
        size = self._size
        names = self._read(_NAMES + size * low, size * (high - low))
        found = (
            bisect_find_sha(0, high - low - 1, sha, lambda at: names[size * at : size * (at + 1)]) if names else None
        )
        if found is None:
            raise KeyError(sha)
        offsets = _NAMES + (size + 4) * self._count  # behind the names and their checksums
        offset = self._number(offsets + 4 * (low + found))
        if offset & _FAR:
            far = offsets + 4 * self._count + 8 * (offset - _FAR)
            return int.from_bytes(self._read(far, 8), "big")
        return offset

    def get_pack_checksum(self) -> bytes:
        end = os.fstat(self._descriptor).st_size
        return self._read(end - 2 * self._size, self._size)

    def _number(self, at: int) -> int:
        return int.from_bytes(self._read(at, 4), "big")

    def _read(self, at: int, size: int) -> bytes:
        data = os.pread(self._descriptor, size, at)
        if len(data) != size:
            raise Damaged("its pack index is cut short")
        return data
