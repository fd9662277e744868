"""Repositories that cost their maker little and a reader without bounds much: each read ends, and soon."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path

import pytest
from dulwich.object_format import SHA1

from cache.errors import Unavailable
from sync.forge.base import TooBig
from sync.forge.local import packs
from sync.forge.local.index import not_checked_out
from tests.support.local_forge import Asked
from tests.support.raw_git import PackWriter, add_commit, add_loose, add_tree, loose, replacement, whole_copy
from tests.support.repos import make_repo

pytestmark = pytest.mark.anyio

FILE, FOLDER = b"100644", b"40000"
MEBIBYTE = 1024 * 1024
TEXT = b"# A\n"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", {}, bare=True)


@contextmanager
def few_descriptors(number: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


class TestSizes:
    @pytest.mark.parametrize("size", [10**22, -5, 1 << 63])
    async def test_that_no_object_can_have_are_damage(self, bare: Path, size: int) -> None:
        page = add_loose(bare, b"blob", b"x", announced=size)
        add_commit(bare, (FOLDER, b".wiki", add_tree(bare, (FILE, b"a.md", page))))
        with pytest.raises(Unavailable, match="is damaged"):
            await Asked(bare).wiki()

    async def test_in_packs_are_damage_too(self, bare: Path) -> None:
        pack = PackWriter()
        pack.add_blob(TEXT)
        start = pack.offsets[next(iter(pack.offsets))]
        pack.data[start : start + 1] = b"\xb4" + b"\xff" * 12 + b"\x01"  # a blob whose size has 88 bits
        pack.write(bare)
        add_commit(bare, (FOLDER, b".wiki", add_tree(bare, (FILE, b"a.md", next(iter(pack.offsets)).hex()))))
        with pytest.raises(Unavailable, match="is damaged"):
            await Asked(bare).wiki()


class TestDeltas:
    @staticmethod
    def chain(bare: Path, deltas: int, size: int) -> None:
        """A page that is made by so many deltas upon each other, each of ``size`` bytes, the last a small text."""
        pack = PackWriter()
        at = pack.add_blob(bytes(size))
        for number in range(deltas - 1):
            at = pack.add_delta(at, whole_copy(size), b"delta %d" % number)
        pack.add_delta(at, replacement(size, TEXT), b"blob %d\0" % len(TEXT) + TEXT)
        pack.write(bare)
        page = sha1(b"blob %d\0" % len(TEXT) + TEXT, usedforsecurity=False).hexdigest()
        add_commit(bare, (FOLDER, b".wiki", add_tree(bare, (FILE, b"a.md", page))))

    async def test_in_usual_numbers_are_read(self, bare: Path) -> None:
        self.chain(bare, 50, MEBIBYTE)
        assert (await Asked(bare).file(".wiki/a.md")).data == TEXT

    async def test_that_copy_gigabytes_for_a_small_page_make_it_too_large(self, bare: Path) -> None:
        self.chain(bare, 200, 4 * MEBIBYTE)
        assert (await Asked(bare).wiki())["a.md"].size == len(TEXT)
        assert await Asked(bare).read(".wiki/a.md") == TooBig(".wiki/a.md", 1048576)

    async def test_upon_each_other_without_end_are_damage(self, bare: Path) -> None:
        self.chain(bare, packs.MAX_CHAIN + 1, 20)
        with pytest.raises(Unavailable, match="is damaged"):
            await Asked(bare).wiki()

    async def test_that_many_pages_share_are_looked_at_once(self, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pack = PackWriter()
        at = pack.add_blob(TEXT)
        for number in range(100):
            at = pack.add_delta(at, whole_copy(len(TEXT)), b"delta %d" % number)
        pages = [
            pack.add_delta(at, replacement(len(TEXT), b"%d" % number), b"page %d" % number) for number in range(50)
        ]
        pack.write(bare)
        names = {offset: name.hex() for name, offset in pack.offsets.items()}
        tree = add_tree(bare, *((FILE, b"%d.md" % page, names[page]) for page in pages))
        add_commit(bare, (FOLDER, b".wiki", tree))
        reads = 0
        real = os.pread

        def counted(descriptor: int, size: int, at: int) -> bytes:
            nonlocal reads
            reads += 1
            return real(descriptor, size, at)

        monkeypatch.setattr(os, "pread", counted)
        assert len(await Asked(bare).wiki()) == 50
        assert reads < 2000  # 5,000 deltas lie on the ways to all pages, 150 are different


class TestPaths:
    async def test_that_together_would_fill_the_memory_are_too_many(self, bare: Path) -> None:
        page = add_loose(bare, b"blob", TEXT)
        tree = add_tree(bare, *((FILE, b"%05d.md" % number, page) for number in range(20_000)))
        for _ in range(8):
            tree = add_tree(bare, (FOLDER, b"d" * 250, tree))
        add_commit(bare, (FOLDER, b".wiki", tree))
        with pytest.raises(Unavailable, match="too many files"):
            await Asked(bare).wiki()

    async def test_that_go_deep_on_disk_need_few_descriptors(self, tmp_path: Path) -> None:
        folder = tmp_path / "/".join("d" * 200)
        make_repo(folder / "web", {".wiki/" + "/".join("e" * 60) + "/a.md": TEXT})
        with few_descriptors(100):
            asked = Asked(folder / "web")
            asked.forge = Asked(tmp_path / "x").forge
            asked.repo = type(asked.repo)(asked.repo.key, "local/" + "/".join("d" * 200) + "/web", "main")
            assert list(await asked.wiki()) == ["/".join("e" * 60) + "/a.md"]
            assert (await asked.file(".wiki/" + "/".join("e" * 60) + "/a.md")).data == TEXT


class TestIndexFiles:
    """git's index, of which each entry may take the beginning of its path from the one before (version 4)."""

    @staticmethod
    def index(*entries: tuple[int, bytes]) -> bytes:
        """Entries with extended flags: how much of the path before is cut off, and what comes in its place."""
        fixed = bytes(40) + bytes(20) + b"\x40\0" + b"\x40\0"  # extended, and with the skip-worktree bit
        return (
            b"DIRC\0\0\0\4"
            + len(entries).to_bytes(4, "big")
            + b"".join(fixed + bytes([cut]) + added + b"\0" for cut, added in entries)
        )

    def test_tell_what_was_never_checked_out(self) -> None:
        skips = not_checked_out(self.index((0, b".wiki/a"), (1, b"b/")), SHA1)
        assert [skips(path) for path in (".wiki/a", ".wiki/b/c", ".wiki/b/c/d", ".wiki/b", ".wiki/bc")] == [
            True, True, True, False, False,
        ]  # fmt: skip

    def test_whose_paths_grow_without_end_are_damage(self) -> None:
        with pytest.raises(ValueError, match="without end"):
            not_checked_out(self.index(*((0, b"x" * 100) for _ in range(100))), SHA1)

    def test_with_many_skipped_folders_are_asked_quickly(self) -> None:
        """Each answer takes as long as the path has parts, however many folders are skipped."""
        skips = not_checked_out(
            self.index(*((6 if number else 0, b"%05d/" % number) for number in range(20_000))), SHA1
        )
        assert sum(skips(f"{number:05}/a") for number in range(0, 40_000, 2)) == 10_000


class TestNames:
    """What the tree lists can be read: a page that is listed but never found would be looked for again and again."""

    NAMES = (b"good.md", b"back\\slash.md", b".git", b".GiT", b"")

    async def test_that_cannot_be_asked_for_are_left_out_of_commits(self, bare: Path) -> None:
        page = add_loose(bare, b"blob", TEXT)
        folder = add_tree(bare, (FILE, b"a.md", page))
        tree = add_tree(
            bare, *((FOLDER, name, folder) if b"." in name[:1] else (FILE, name, page) for name in self.NAMES)
        )
        add_commit(bare, (FOLDER, b".wiki", tree))
        assert list(await Asked(bare).wiki()) == ["good.md"]

    async def test_that_cannot_be_asked_for_are_left_out_of_working_trees(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {".wiki/good.md": TEXT})
        (repo / ".wiki/back\\slash.md").write_bytes(TEXT)
        (repo / ".wiki/.GIT").mkdir()
        (repo / ".wiki/.GIT/a.md").write_bytes(TEXT)
        assert list(await Asked(repo).wiki()) == ["good.md"]

    async def test_given_twice_mean_one_file(self, bare: Path) -> None:
        first, second = (add_loose(bare, b"blob", text) for text in (b"# 1\n", b"# 2\n"))
        tree = add_tree(bare, (FILE, b"z.md", first), (FILE, b"a.md", first), (FILE, b"a.md", second))
        add_commit(bare, (FILE, b".wiki", first), (FOLDER, b".wiki", tree))
        assert {path: entry.sha for path, entry in (await Asked(bare).wiki()).items()} == {
            "a.md": second,
            "z.md": first,
        }
        assert (await Asked(bare).file(".wiki/a.md")).sha == second


def test_loose_objects_of_bare_repositories_lie_where_they_are_looked_for(bare: Path) -> None:
    assert loose(bare, "ab" * 20) == bare / "objects/ab" / ("ab" * 19)
