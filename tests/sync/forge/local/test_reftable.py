"""Reftables: one that JGit wrote, and what the format allows beyond it."""

from __future__ import annotations

import zlib
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import Unavailable
from sync.forge.local.layout import Damaged
from sync.forge.local.reftable import Record, lookup
from tests.support.git import git, needs_git
from tests.support.local_forge import Asked
from tests.support.repos import commit_files, make_repo

# Written by JGit 6.10: HEAD -> refs/heads/main, refs/heads/b00000-, refs/heads/gone (deleted), refs/heads/main, and
# refs/tags/v1 with what it stands for.
BY_JGIT = b64decode(
    "UkVGVAEAEAAAAAAAAAAABwAAAAAAAAAHcgAAwQAjSEVBRAAPcmVmcy9oZWFkcy9tYWluAIARcmVmcy9oZWFkcy9iMDAwMDAt"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAABCyBnb25lAAshbWFpbgAAAAAAAAAAAAAAAAAAAAAAAAAQAABicmVmcy90YWdzL3YxAAAA"
    "AAAAAAAAAAAAAAAAAAAAABOJAAAAAAAAAAAAAAAAAAAAAAAAE4oAABwAADMAAH8AA1JFRlQBABAAAAAAAAAAAAcAAAAAAAAA"
    "BwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+b3Bn"
)

Target = str | bytes | None  # an object's name, another reference, or deleted


def number(value: int) -> bytes:
    """A varint in the format of pack offsets."""
    out = bytes([value & 0x7F])
    while value := value >> 7:
        value -= 1
        out = bytes([0x80 | value & 0x7F]) + out
    return out


def table(refs: Mapping[bytes, Target], *, block_size: int = 4096, padded: bool = True, version: int = 1) -> bytes:
    """A reftable with blocks of at most ``block_size`` bytes."""
    header = b"REFT" + bytes([version]) + (block_size if padded else 0).to_bytes(3, "big") + bytes(16)
    header += b"s256" if version == 2 else b""
    out = header
    start, records, previous = 0, b"", b""

    def flush() -> None:
        nonlocal out, start, records, previous
        restarts = (len(out) - start + 4).to_bytes(3, "big") + (1).to_bytes(2, "big")
        length = len(out) - start + 4 + len(records) + len(restarts)
        out += b"r" + length.to_bytes(3, "big") + records + restarts
        if padded:
            out += bytes(start + block_size - len(out))
        start, records, previous = len(out), b"", b""

    for name in sorted(refs):
        record = _record(name, refs[name], previous)
        if len(out) - start + 4 + len(records) + len(record) + 5 > block_size:
            flush()
            record = _record(name, refs[name], b"")
        records += record
        previous = name
    flush()
    footer = header + bytes(40)
    return out + footer + zlib.crc32(footer).to_bytes(4, "big")


def _record(name: bytes, target: Target, previous: bytes) -> bytes:
    shared = 0
    while shared < min(len(name), len(previous)) and name[shared] == previous[shared]:
        shared += 1
    match target:
        case str():
            kind, value = 1, bytes.fromhex(target)
        case bytes():
            kind, value = 3, number(len(target)) + target
        case _:
            kind, value = 0, b""
    suffix = name[shared:]
    return number(shared) + number(len(suffix) << 3 | kind) + suffix + number(1) + value


class TestTableOfJGit:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            (b"HEAD", Record(b"HEAD", target=b"refs/heads/main")),
            (b"refs/heads/b00000-", Record(b"refs/heads/b00000-", object_name=f"{1:040x}")),
            (b"refs/heads/gone", Record(b"refs/heads/gone")),
            (b"refs/heads/main", Record(b"refs/heads/main", object_name=f"{4096:040x}")),
            (b"refs/tags/v1", Record(b"refs/tags/v1", object_name=f"{5001:040x}")),
            (b"A", None),
            (b"refs/heads/mai", None),
            (b"refs/zzz", None),
        ],
    )
    def test_is_understood(self, name: bytes, expected: Record | None) -> None:
        assert lookup(BY_JGIT, name, name_size=20) == expected


class TestFormat:
    @pytest.mark.parametrize("padded", [True, False])
    @pytest.mark.parametrize(("version", "size"), [(1, 20), (2, 32)])
    def test_of_many_blocks_is_understood(self, version: int, size: int, *, padded: bool) -> None:
        refs: dict[bytes, Target] = {
            b"refs/heads/%05d-%s" % (i, b"x" * (i % 150)): f"{i:0{2 * size}x}" for i in range(300)
        }
        data = table(refs, block_size=1024, padded=padded, version=version)
        for name, target in refs.items():
            assert lookup(data, name, name_size=size) == Record(name, object_name=str(target))
        for absent in (b"refs/heads/0", b"refs/heads/00010", b"refs/heads/99999", b"refs/heads/00299-z"):
            assert lookup(data, absent, name_size=size) is None

    @pytest.mark.parametrize("data", [b"", b"REFT", b"REFT\x09" + bytes(100), b"rubbish" * 100, BY_JGIT[4:]])
    def test_of_something_else_is_refused(self, data: bytes) -> None:
        with pytest.raises(Damaged):
            lookup(data, b"HEAD", name_size=20)

    @given(st.integers(0, len(BY_JGIT) - 1), st.binary(max_size=12))
    def test_that_is_damaged_raises_nothing_else(self, at: int, noise: bytes) -> None:
        data = BY_JGIT[:at] + noise + BY_JGIT[at + len(noise) :]
        with suppress(Damaged):
            lookup(data, b"refs/heads/main", name_size=20)

    @given(st.integers(0, 2**60))
    def test_numbers_are_read_back(self, value: int) -> None:
        data = table({b"refs/heads/main": b"x" * (value % 3000)}, block_size=8192)
        record = lookup(data, b"refs/heads/main", name_size=20)
        assert record == Record(b"refs/heads/main", target=b"x" * (value % 3000))


def to_reftable(repo: Path, *tables: Mapping[bytes, Target], sha256: bool = False) -> None:
    """Store the references of ``repo`` as git 2.45 and newer do with ``--ref-format=reftable``."""
    control = repo / ".git" if (repo / ".git").exists() else repo
    text = (control / "config").read_text().replace("repositoryformatversion = 0", "repositoryformatversion = 1")
    (control / "config").write_text(text + "[extensions]\n\trefstorage = reftable\n")
    (control / "HEAD").write_text("ref: refs/heads/.invalid\n")
    (control / "refs/heads/main").unlink(missing_ok=True)
    (control / "refs/heads").rmdir()
    (control / "refs/heads").write_text("this repository uses the reftable format\n")
    (control / "reftable").mkdir()
    for number, refs in enumerate(tables):
        (control / f"reftable/{number}.ref").write_bytes(table(refs, version=2 if sha256 else 1))
    (control / "reftable/tables.list").write_text("".join(f"{number}.ref\n" for number in range(len(tables))))


@pytest.mark.anyio
class TestRepositories:
    @pytest.mark.parametrize("object_format", ["sha1", "sha256"])
    async def test_with_reftables_are_read(self, tmp_path: Path, object_format: str) -> None:
        repo = make_repo(tmp_path / "web", {".wiki/a.md": "# A\n"}, object_format=object_format)
        commit = (repo / ".git/refs/heads/main").read_text().strip()
        to_reftable(repo, {b"HEAD": b"refs/heads/main", b"refs/heads/main": commit}, sha256=object_format == "sha256")
        asked = Asked(repo)
        assert (await asked.head()).commit == commit
        assert (await asked.listed()).repo.default_branch == "main"
        assert list(await asked.wiki()) == ["a.md"]

    async def test_take_the_newest_table(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {".wiki/a.md": "# A\n"}, bare=True)
        old = (repo / "refs/heads/main").read_text().strip()
        new = commit_files(repo, {".wiki/b.md": "# B\n"})
        to_reftable(
            repo,
            {b"HEAD": b"refs/heads/old", b"refs/heads/main": old},
            {b"refs/heads/main": new},
            {b"HEAD": b"refs/heads/main"},
        )
        assert (await Asked(repo).head()).commit == new

    async def test_with_a_deleted_branch_are_without_commits(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {".wiki/a.md": "# A\n"}, bare=True)
        commit = (repo / "refs/heads/main").read_text().strip()
        to_reftable(repo, {b"HEAD": b"refs/heads/main", b"refs/heads/main": commit}, {b"refs/heads/main": None})
        assert (await Asked(repo).listed()).empty

    @needs_git
    async def test_with_linked_working_trees_have_a_head_in_each(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {".wiki/a.md": "# A\n"})
        commit = (repo / ".git/refs/heads/main").read_text().strip()
        git(repo, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
        (repo / ".git/refs/heads/other").unlink()
        refs: dict[bytes, Target] = {b"refs/heads/main": commit, b"refs/heads/other": commit}
        to_reftable(repo, {b"HEAD": b"refs/heads/main", **refs})
        own = repo / ".git/worktrees/linked/reftable"
        own.mkdir()
        (own / "1.ref").write_bytes(table({b"HEAD": b"refs/heads/other"}))
        (own / "tables.list").write_text("1.ref\n")
        assert (await Asked(tmp_path / "linked").listed()).repo.default_branch == "other"

    @pytest.mark.parametrize("listed", ["", "../../x.ref\n", "gone.ref\n", "\xff\n", ".\n"])
    async def test_with_a_broken_list_of_tables_are_unavailable(self, tmp_path: Path, listed: str) -> None:
        repo = make_repo(tmp_path / "web", {".wiki/a.md": "# A\n"})
        to_reftable(repo)
        (repo / ".git/reftable/tables.list").write_text(listed, encoding="latin-1")
        with pytest.raises(Unavailable, match=r"^local/web cannot be read: its (HEAD|reftable|tables)"):
            await Asked(repo).head()
