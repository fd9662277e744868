"""Git data written byte by byte, for repositories that no git would make."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Final

_OFS_DELTA: Final = 6
_MOST_COPIED: Final = 0xFFFFFF  # bytes that one instruction of a delta copies


def loose(repo: Path, name: str) -> Path:
    """Where a repository keeps the loose object ``name``."""
    return _git(repo) / "objects" / name[:2] / name[2:]


def add_loose(repo: Path, kind: bytes, data: bytes, *, announced: int | None = None) -> str:
    """Write an object, whatever it says; its name."""
    text = b"%s %d\0" % (kind, len(data) if announced is None else announced) + data
    name = sha1(text, usedforsecurity=False).hexdigest()
    loose(repo, name).parent.mkdir(exist_ok=True)
    loose(repo, name).write_bytes(zlib.compress(text))
    return name


def add_tree(repo: Path, *entries: tuple[bytes, bytes, str]) -> str:
    """Write a tree of these entries (mode, name, object), in this order; its name."""
    return add_loose(
        repo, b"tree", b"".join(b"%s %s\0" % (mode, name) + bytes.fromhex(sha) for mode, name, sha in entries)
    )


def add_commit(repo: Path, *entries: tuple[bytes, bytes, str], at: int = 1_700_000_000) -> None:
    """Make a commit with these entries the tip of ``main``; ``at`` is its date in seconds since the UTC epoch."""
    root = add_tree(repo, *entries)
    text = f"tree {root}\nauthor A <a@b.test> {at} +0000\ncommitter A <a@b.test> {at} +0000\n\nx\n"
    (_git(repo) / "refs/heads/main").write_text(add_loose(repo, b"commit", text.encode()) + "\n")


@dataclass
class PackWriter:
    """A pack and its index, version 2 (gitformat-pack). What it holds has the names that the caller gives."""

    data: bytearray = field(default_factory=lambda: bytearray(b"PACK\0\0\0\2\0\0\0\0"))
    offsets: dict[bytes, int] = field(default_factory=dict)

    def add_blob(self, data: bytes) -> int:
        """Add a whole blob; where it stands."""
        return self._add(sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest(), 3, b"", data)

    def add_delta(self, base: int, delta: bytes, name: bytes) -> int:
        """Add what ``delta`` makes of the object at ``base``; where it stands."""
        distance = len(self.data) - base
        digits = [distance & 0x7F]
        while distance := distance >> 7:
            distance -= 1
            digits.insert(0, 0x80 | distance & 0x7F)
        return self._add(sha1(name, usedforsecurity=False).digest(), _OFS_DELTA, bytes(digits), delta)

    def write(self, repo: Path, name: str = "pack-1") -> None:
        names = sorted(self.offsets)
        self.data[8:12] = len(names).to_bytes(4, "big")
        pack = bytes(self.data) + sha1(self.data, usedforsecurity=False).digest()
        index = b"\377tOc\0\0\0\2"
        index += b"".join(sum(each[0] <= first for each in names).to_bytes(4, "big") for first in range(256))
        index += b"".join(names) + bytes(4 * len(names))
        index += b"".join(self.offsets[each].to_bytes(4, "big") for each in names) + pack[-20:]
        folder = _git(repo) / "objects/pack"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.pack").write_bytes(pack)
        (folder / f"{name}.idx").write_bytes(index + sha1(index, usedforsecurity=False).digest())

    def _add(self, name: bytes, kind: int, base: bytes, content: bytes) -> int:
        start = self.offsets[name] = len(self.data)
        head, size = kind << 4 | len(content) & 15, len(content) >> 4
        while size:
            self.data.append(head | 0x80)
            head, size = size & 0x7F, size >> 7
        self.data.append(head)
        self.data += base + zlib.compress(content)
        return start


def whole_copy(size: int) -> bytes:
    """A delta that makes the same again of an object of ``size`` bytes."""
    delta = _number(size) * 2
    for start in range(0, size, _MOST_COPIED):
        copied = min(_MOST_COPIED, size - start)
        delta += b"\xff" + start.to_bytes(4, "little") + copied.to_bytes(3, "little")
    return delta


def replacement(size: int, text: bytes) -> bytes:
    """A delta that makes ``text`` (at most 127 bytes) of an object of ``size`` bytes."""
    return _number(size) + _number(len(text)) + bytes([len(text)]) + text


def _number(value: int) -> bytes:
    digits = b""
    while value > 0x7F:
        digits += bytes([value & 0x7F | 0x80])
        value >>= 7
    return digits + bytes([value])


def _git(repo: Path) -> Path:
    return repo / ".git" if (repo / ".git").exists() else repo
