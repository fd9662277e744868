"""What a working tree holds that is no page of its own: links, special files, other repositories."""

from __future__ import annotations

import os
import socket
from hashlib import sha1
from pathlib import Path

import pytest

from cache.model import TreeEntry
from sync.files.opening import read_regular
from sync.forge.base import Absent, Refused
from tests.support.git_files import Submodule, Symlink
from tests.support.local_forge import Asked
from tests.support.repos import make_repo

pytestmark = pytest.mark.anyio

PAGE = ".wiki/concepts/a.md"
FILES = {".wiki/index.md": "# Wiki\n", PAGE: "# A\n", "STATUS.md": "fine\n", "src/main.py": "print()\n"}


def blob(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


class TestLinks:
    async def test_are_listed_as_links_and_never_followed(self, repo: Path) -> None:
        (repo / ".wiki/secret.md").symlink_to("/etc/passwd")
        asked = Asked(repo)
        assert (await asked.wiki())["secret.md"] == TreeEntry(
            "secret.md", 0o120000, blob(b"/etc/passwd"), 11, uncommitted=True
        )
        assert await asked.read(".wiki/secret.md") == Refused(".wiki/secret.md", "a symbolic link")

    async def test_that_are_committed_are_clean(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {**FILES, ".wiki/link.md": Symlink("index.md")})
        assert (await Asked(repo).wiki())["link.md"] == TreeEntry("link.md", 0o120000, blob(b"index.md"), 8)
        assert not (await Asked(repo).head()).uncommitted
        assert await Asked(repo).read(".wiki/link.md") == Refused(".wiki/link.md", "a symbolic link")

    async def test_checked_out_as_text_stay_links(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {**FILES, ".wiki/link.md": Symlink("index.md")})
        (repo / ".wiki/link.md").unlink()
        (repo / ".wiki/link.md").write_text("index.md")
        assert (await Asked(repo).wiki())["link.md"].mode == 0o120000
        assert not (await Asked(repo).head()).uncommitted
        assert await Asked(repo).read(".wiki/link.md") == Refused(".wiki/link.md", "a symbolic link")

    async def test_in_place_of_folders_hide_what_is_behind_them(self, repo: Path, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/a.md").write_bytes(b"secret")
        (repo / PAGE).unlink()
        (repo / ".wiki/concepts").rmdir()
        (repo / ".wiki/concepts").symlink_to(tmp_path / "elsewhere")
        asked = Asked(repo)
        assert await asked.read(PAGE) == Refused(PAGE, "a symbolic link")
        wiki = await asked.wiki()
        assert sorted(wiki) == ["concepts", "index.md"]
        assert wiki["concepts"].mode == 0o120000

    async def test_in_place_of_the_wiki_itself_hide_it_all(self, repo: Path, tmp_path: Path) -> None:
        (repo / ".wiki").rename(tmp_path / "elsewhere")
        (repo / ".wiki").symlink_to(tmp_path / "elsewhere")
        asked = Asked(repo)
        assert await asked.wiki() == {}
        assert (await asked.head()).wiki_tree is None
        assert await asked.read(PAGE) == Refused(PAGE, "a symbolic link")

    async def test_put_there_while_a_page_is_read_lead_nowhere(
        self, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/a.md").write_bytes(b"secret")

        def swap_and_read(name: str, *, at: int, limit: int, follow: bool) -> bytes:
            (repo / ".wiki/concepts").rename(repo / ".wiki/moved")
            (repo / ".wiki/concepts").symlink_to(tmp_path / "elsewhere")
            return read_regular(name, at=at, limit=limit, follow=follow)

        monkeypatch.setattr("sync.forge.local.worktree.read_regular", swap_and_read)
        assert (await Asked(repo).file(PAGE)).data == b"# A\n"

    async def test_in_place_of_status_are_refused(self, repo: Path) -> None:
        (repo / "STATUS.md").unlink()
        (repo / "STATUS.md").symlink_to("/etc/passwd")
        assert await Asked(repo).read("STATUS.md") == Refused("STATUS.md", "a symbolic link")
        assert (await Asked(repo).head()).uncommitted


class TestSpecialFiles:
    async def test_fifos_and_sockets_are_neither_opened_nor_listed(self, repo: Path) -> None:
        os.mkfifo(repo / ".wiki/fifo.md")
        (repo / PAGE).unlink()
        os.mkfifo(repo / PAGE)
        with socket.socket(socket.AF_UNIX) as listening:
            here = Path.cwd()
            os.chdir(repo)  # names of sockets are short
            try:
                listening.bind(".wiki/socket.md")
            finally:
                os.chdir(here)
        asked = Asked(repo)
        assert list(await asked.wiki()) == ["index.md"]
        for path in (".wiki/fifo.md", ".wiki/socket.md", PAGE):
            assert await asked.read(path) == Absent(path)


class TestForeignRepositories:
    @pytest.mark.parametrize("as_file", [True, False])
    async def test_inside_the_wiki_are_not_part_of_it(self, repo: Path, *, as_file: bool) -> None:
        inner = make_repo(repo / ".wiki/inner", {"page.md": "# P\n"})
        if as_file:
            (inner / ".git").rename(repo / ".git/modules")
            (inner / ".git").write_text("gitdir: ../../.git/modules\n")
        asked = Asked(repo)
        assert list(await asked.wiki()) == ["concepts/a.md", "index.md"]
        assert await asked.read(".wiki/inner/page.md") == Refused(".wiki/inner/page.md", "a submodule")

    async def test_in_place_of_the_wiki_hide_it(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {"README.md": "x"})
        make_repo(repo / ".wiki", {"index.md": "# W\n"})
        assert await Asked(repo).wiki() == {}
        assert await Asked(repo).read(".wiki/index.md") == Refused(".wiki/index.md", "a submodule")

    async def test_committed_as_submodules_are_refused(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {**FILES, ".wiki/sub": Submodule("1" * 40)}, bare=True)
        assert list(await Asked(repo).wiki()) == ["concepts/a.md", "index.md"]
        for path in (".wiki/sub", ".wiki/sub/page.md"):
            assert await Asked(repo).read(path) == Refused(path, "a submodule")
