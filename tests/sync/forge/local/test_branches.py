"""Which branch of a local repository is its default one, and where a branch is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cache.errors import Denied
from sync.forge.writing import Change, Edit
from tests.support.git import git, needs_git
from tests.support.local_forge import Asked
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

FILES = {".wiki/index.md": "# Wiki\n"}


async def default_of(repo: Path) -> str:
    """As a refusal names it while another branch is checked out."""
    (repo / ".git/HEAD").write_text("ref: refs/heads/other\n")
    return await checked_out(repo)


async def checked_out(repo: Path) -> str:
    """The default branch where it is checked out, else what a refusal names."""
    asked = Asked(repo)
    try:
        await asked.forge.write(asked.repo, Edit("", (Change(".wiki/x.md", b"x", None),)))
    except Denied as denied:
        return denied.message.partition("default branch ")[2].partition(" ")[0]
    return (await asked.listed()).repo.default_branch


class TestDefault:
    async def test_is_what_a_clone_was_cloned_from(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", FILES)
        (repo / ".git/refs/remotes/origin").mkdir(parents=True)
        (repo / ".git/refs/remotes/origin/HEAD").write_text("ref: refs/remotes/origin/release/2.x\n")
        assert await default_of(repo) == "release/2.x"

    @needs_git
    async def test_is_that_of_a_real_clone(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "web", FILES, branch="trunk")
        git(tmp_path, "clone", "-q", "web", "clone")
        assert await checked_out(tmp_path / "clone") == "trunk"
        git(tmp_path / "clone", "checkout", "-q", "-b", "main")
        assert await checked_out(tmp_path / "clone") == "trunk"

    async def test_is_what_the_repository_itself_says_before_all(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", FILES)
        (repo / ".git/refs/remotes/origin").mkdir(parents=True)
        (repo / ".git/refs/remotes/origin/HEAD").write_text("ref: refs/remotes/origin/main\n")
        with (repo / ".git/config").open("a") as config:
            config.write("[init]\n\tdefaultBranch = Trunk\n")
        assert await default_of(repo) == "Trunk"

    @pytest.mark.parametrize("branch", ["main", "master"])
    async def test_is_main_or_master_where_nothing_else_is_known(self, tmp_path: Path, branch: str) -> None:
        assert await default_of(make_repo(tmp_path / "web", FILES, branch=branch)) == branch

    async def test_is_main_where_there_are_both(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", FILES, branch="master")
        (repo / ".git/refs/heads/main").write_text((repo / ".git/refs/heads/master").read_text())
        assert await checked_out(repo) == "main"

    async def test_is_the_one_that_is_checked_out_where_there_is_neither(self, tmp_path: Path) -> None:
        assert await checked_out(make_repo(tmp_path / "web", FILES, branch="trunk")) == "trunk"
        assert await checked_out(make_repo(tmp_path / "empty", {}, branch="trunk")) == "trunk"

    async def test_is_told_of_packed_references_too(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", FILES)
        commit = (repo / ".git/refs/heads/main").read_text().strip()
        (repo / ".git/refs/heads/main").unlink()
        (repo / ".git/packed-refs").write_text(
            f"# pack-refs with: peeled fully-peeled sorted\n{commit} refs/heads/main\n"
        )
        assert await default_of(repo) == "main"

    async def test_of_a_malformed_origin_is_not_believed(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", FILES)
        (repo / ".git/refs/remotes/origin").mkdir(parents=True)
        (repo / ".git/refs/remotes/origin/HEAD").write_text("ref: refs/heads/elsewhere\n")
        assert await default_of(repo) == "main"


class TestHead:
    async def test_of_a_branch_is_its_commit(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", FILES)
        asked = Asked(repo)
        assert await asked.forge.branch_head(asked.repo, "main") == (await asked.head()).commit
        before = (await asked.head()).commit
        (repo / ".git/refs/heads/knowledge").mkdir()
        (repo / ".git/refs/heads/knowledge/x").write_text(f"{before}\n")
        commit_files(repo, {"x": "y"})
        assert await asked.forge.branch_head(asked.repo, "knowledge/x") == before

    @pytest.mark.parametrize("branch", ["none", "", "../../HEAD", "a b", "x\0", "\ud800"])
    async def test_of_none_is_none(self, tmp_path: Path, branch: str) -> None:
        asked = Asked(make_repo(tmp_path / "web", FILES))
        assert await asked.forge.branch_head(asked.repo, branch) is None
