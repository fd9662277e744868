"""Files that get their name in one step: where that is harder, and what is left of those that did not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from cache.errors import KnowledgeError
from sync.forge.writing import Moved
from tests.support.local_forge import Asked
from tests.support.repos import make_repo

pytestmark = pytest.mark.anyio

INDEX, PAGE, NEW = ".wiki/index.md", ".wiki/concepts/a.md", ".wiki/new.md"
FILES = {INDEX: "# Wiki\n", PAGE: "# A\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


def files(repo: Path) -> dict[str, bytes]:
    return {str(path.relative_to(repo)): path.read_bytes() for path in (repo / ".wiki").rglob("*") if path.is_file()}


class TestFileSystemsWithoutLinks:
    @pytest.fixture(autouse=True)
    def no_links(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*args: object, **options: object) -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)

    async def test_are_written_all_the_same(self, repo: Path, asked: Asked) -> None:
        await asked.write({NEW: b"# N\n", INDEX: b"# W\n"})
        assert files(repo) == {NEW: b"# N\n", INDEX: b"# W\n", PAGE: b"# A\n"}

    async def test_keep_what_others_make_meanwhile(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def late(*args: object, **options: object) -> None:
            (repo / NEW).write_bytes(b"theirs")
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")

        edit = await asked.edit({NEW: b"ours"})
        monkeypatch.setattr(os, "link", late)
        with pytest.raises(Moved):
            await asked.forge.write(asked.repo, edit)
        assert files(repo)[NEW] == b"theirs"

    async def test_get_nothing_where_the_last_step_fails(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit = await asked.edit({NEW: b"ours"})

        def fail(*args: object, **options: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "rename", fail)
        with pytest.raises(KnowledgeError):
            await asked.forge.write(asked.repo, edit)
        assert files(repo) == {INDEX: b"# Wiki\n", PAGE: b"# A\n"}


class TestLeftovers:
    async def test_are_removed_from_the_folders_that_are_written(self, repo: Path, asked: Asked) -> None:
        for folder in (".wiki", ".wiki/concepts"):
            (repo / folder / ".gateway-0123456789abcdef.tmp").write_bytes(b"half")
            (repo / folder / ".gateway-0123.tmp").write_bytes(b"mine")
        (repo / ".wiki/.gateway-fedcba9876543210.tmp").mkdir()
        await asked.write({INDEX: b"# W\n"})
        assert sorted(path.name for path in (repo / ".wiki").glob(".gateway*")) == [
            ".gateway-0123.tmp",
            ".gateway-fedcba9876543210.tmp",
        ]
        assert (repo / ".wiki/concepts/.gateway-0123456789abcdef.tmp").exists()


async def test_who_reads_a_file_while_it_is_written_reads_the_old_one_to_its_end(repo: Path, asked: Asked) -> None:
    with (repo / INDEX).open("rb") as reader:
        assert reader.read(2) == b"# "
        await asked.write({INDEX: b"# Changed\n"})
        assert reader.read() == b"Wiki\n"
    assert (repo / INDEX).read_bytes() == b"# Changed\n"
