"""Repositories in every shape that git gives them, read without git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sync.forge.base import Absent, File, Head
from tests.support.git import git, needs_git
from tests.support.local_forge import Asked
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

PAGE = ".wiki/a.md"
FILES = {PAGE: "# A\n", ".wiki/sub/b.md": "# B\n", "STATUS.md": "fine\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


async def assert_reads_like_git(path: Path, asked: Asked | None = None) -> Head:
    """Head, wiki tree and a page, as the git executable tells them."""
    asked = asked or Asked(path)
    head = await asked.head()
    assert head == Head(git(path, "rev-parse", "HEAD"), git(path, "rev-parse", "HEAD:.wiki"))
    listed = git(path, "ls-tree", "-r", "-l", "--full-tree", "HEAD:.wiki").splitlines()
    assert [
        f"{entry.mode:06o} blob {entry.sha} {entry.size:>7}\t{name}" for name, entry in (await asked.wiki()).items()
    ] == listed
    assert (await asked.file(PAGE, ref=head.commit)).data == (git(path, "show", f"HEAD:{PAGE}") + "\n").encode()
    return head


@needs_git
class TestReferences:
    async def test_loose(self, repo: Path) -> None:
        await assert_reads_like_git(repo)
        assert (await Asked(repo).listed()).repo.default_branch == "main"

    async def test_packed(self, repo: Path) -> None:
        git(repo, "branch", "aaa/main")
        git(repo, "tag", "-a", "-m", "x", "v1")
        git(repo, "pack-refs", "--all", "--prune")
        assert not (repo / ".git/refs/heads/main").exists()
        await assert_reads_like_git(repo)

    async def test_packed_and_loose_the_loose_one_counts(self, repo: Path) -> None:
        git(repo, "pack-refs", "--all")
        commit_files(repo, {PAGE: "# Newer\n"})
        await assert_reads_like_git(repo)

    async def test_packed_where_a_folder_of_that_name_is_left(self, repo: Path) -> None:
        git(repo, "pack-refs", "--all", "--prune")
        (repo / ".git/refs/heads/main").mkdir(parents=True)
        await assert_reads_like_git(repo)

    async def test_of_a_detached_head(self, repo: Path) -> None:
        first = git(repo, "rev-parse", "HEAD")
        commit_files(repo, {PAGE: "# Newer\n"})
        git(repo, "checkout", "-q", "--detach", first)
        head = await assert_reads_like_git(repo)
        assert head.commit == first
        assert (await Asked(repo).listed()).repo.default_branch == "HEAD"

    async def test_of_a_branch_with_slashes_and_other_scripts(self, repo: Path) -> None:
        git(repo, "checkout", "-q", "-b", "feature/größe")
        await assert_reads_like_git(repo)
        assert (await Asked(repo).listed()).repo.default_branch == "feature/größe"

    async def test_through_symbolic_ones(self, repo: Path) -> None:
        git(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
        git(repo, "symbolic-ref", "HEAD", "refs/heads/alias")
        await assert_reads_like_git(repo)

    async def test_of_a_head_without_a_branch_leave_the_working_tree(self, repo: Path) -> None:
        git(repo, "checkout", "-q", "--orphan", "fresh")
        asked = Asked(repo)
        assert (await asked.head()).commit == "0" * 40
        assert (await asked.file(PAGE)).uncommitted

    async def test_of_a_bare_head_without_a_branch_leave_nothing(self, tmp_path: Path) -> None:
        bare = make_repo(tmp_path / "bare", FILES, bare=True)
        (bare / "HEAD").write_text("ref: refs/heads/gone\n")
        asked = Asked(bare)
        assert await asked.forge.head(asked.repo) is None
        assert (await asked.listed()).empty


@needs_git
class TestObjects:
    async def test_packed_with_deltas(self, repo: Path) -> None:
        for number in range(5):
            commit_files(repo, {PAGE: "# A\n" + "the same line again\n" * 500 + f"{number}\n"})
        git(repo, "gc", "-q", "--aggressive")
        assert "chain length" in git(repo, "verify-pack", "-v", *map(str, (repo / ".git/objects/pack").glob("*.idx")))
        await assert_reads_like_git(repo)

    @pytest.mark.parametrize("version", ["1", "2", "2,0x20"])  # the last: offsets beyond 32 bytes take 64 bits
    async def test_packed_with_each_version_of_the_index(self, repo: Path, version: str) -> None:
        for number in range(40):
            commit_files(repo, {f"{number}.txt": f"{number}\n"})
        git(repo, "repack", "-q", "-a", "-d", "-f")
        (pack,) = (repo / ".git/objects/pack").glob("*.pack")
        pack.with_suffix(".idx").unlink()
        git(repo, "index-pack", f"--index-version={version}", str(pack))
        await assert_reads_like_git(repo)
        for number in range(40):
            assert (await Asked(repo).file(f"{number}.txt")).data == f"{number}\n".encode()

    async def test_packed_with_names_of_bases_in_place_of_offsets(self, repo: Path) -> None:
        for number in range(3):
            commit_files(repo, {PAGE: "# A\n" + "the same line again\n" * 500 + f"{number}\n"})
        git(repo, "-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f")
        await assert_reads_like_git(repo)

    async def test_in_several_packs_with_a_common_index(self, repo: Path) -> None:
        for number in range(3):
            commit_files(repo, {f".wiki/{number}.md": f"# {number}\n"})
            git(repo, "repack", "-q", "-d")
        git(repo, "multi-pack-index", "write")
        git(repo, "commit-graph", "write", "--reachable")
        assert len(list((repo / ".git/objects/pack").glob("*.pack"))) == 3
        await assert_reads_like_git(repo)

    async def test_borrowed_from_alternates_of_alternates(self, repo: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--shared", str(repo), "second")
        git(tmp_path, "clone", "-q", "--shared", "second", "third")
        assert not list((tmp_path / "third/.git/objects").glob("??"))
        await assert_reads_like_git(tmp_path / "third")

    async def test_borrowed_in_a_circle_end_somewhere(self, repo: Path, tmp_path: Path) -> None:
        other = make_repo(tmp_path / "other", FILES)
        (repo / ".git/objects/info").mkdir(exist_ok=True)
        (other / ".git/objects/info").mkdir(exist_ok=True)
        (repo / ".git/objects/info/alternates").write_text(f"# x\n\n{other}/.git/objects\n/nowhere\n../objects\n")
        (other / ".git/objects/info/alternates").write_text(f"{repo}/.git/objects\n")
        await assert_reads_like_git(repo)
        asked = Asked(repo)
        assert await asked.read("none") == Absent("none")

    @pytest.mark.parametrize("packed", [True, False])
    async def test_with_names_by_sha256(self, tmp_path: Path, *, packed: bool) -> None:
        repo = make_repo(tmp_path / "web", FILES, object_format="sha256")
        if packed:
            git(repo, "gc", "-q")
        head = await assert_reads_like_git(repo)
        assert len(head.commit) == 64
        (repo / PAGE).write_bytes(b"# New\n")
        file = await Asked(repo).file(PAGE)
        assert file.sha == git(repo, "hash-object", PAGE)

    async def test_with_names_by_sha256_borrowed(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "web", FILES, object_format="sha256")
        git(tmp_path, "clone", "-q", "--shared", "web", "second")
        await assert_reads_like_git(tmp_path / "second")

    async def test_of_a_shallow_clone(self, repo: Path, tmp_path: Path) -> None:
        commit_files(repo, {PAGE: "# Newer\n"})
        git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
        await assert_reads_like_git(tmp_path / "shallow")

    async def test_of_a_partial_clone_whose_blobs_are_here(self, repo: Path, tmp_path: Path) -> None:
        git(repo, "config", "uploadpack.allowFilter", "true")
        git(tmp_path, "clone", "-q", "--filter=blob:limit=1m", f"file://{repo}", "partial")
        git(tmp_path / "partial", "config", "core.repositoryFormatVersion", "1")
        git(tmp_path / "partial", "config", "extensions.partialClone", "origin")
        await assert_reads_like_git(tmp_path / "partial")


@needs_git
class TestLayouts:
    async def test_linked_working_tree(self, repo: Path, tmp_path: Path) -> None:
        git(repo, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
        commit_files(tmp_path / "linked", {PAGE: "# Other\n"})
        await assert_reads_like_git(tmp_path / "linked")
        assert (await Asked(tmp_path / "linked").listed()).repo.default_branch == "other"
        assert (await Asked(repo).file(PAGE)).data == b"# A\n"

    async def test_linked_working_tree_of_a_bare_repository(self, tmp_path: Path) -> None:
        bare = make_repo(tmp_path / "bare", FILES, bare=True)
        git(bare, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
        (tmp_path / "linked" / PAGE).write_bytes(b"# Edited\n")
        assert (await Asked(tmp_path / "linked").file(PAGE)).uncommitted

    async def test_linked_working_tree_with_a_configuration_of_its_own(self, repo: Path, tmp_path: Path) -> None:
        git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
        git(repo, "config", "extensions.worktreeConfig", "true")
        git(tmp_path / "linked", "config", "--worktree", "core.autocrlf", "true")
        (tmp_path / "linked" / PAGE).write_bytes(b"# A\r\n")
        (repo / PAGE).write_bytes(b"# A\r\n")
        assert not (await Asked(tmp_path / "linked").file(PAGE)).uncommitted
        assert (await Asked(repo).file(PAGE)).uncommitted

    async def test_submodule(self, repo: Path, tmp_path: Path) -> None:
        outer = make_repo(tmp_path / "outer", {"README.md": "x"})
        git(outer, "submodule", "--quiet", "add", str(repo), "inner")
        assert (outer / "inner/.git").is_file()
        await assert_reads_like_git(outer / "inner")

    async def test_git_folder_elsewhere(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "control"), "web")
        (tmp_path / "web" / PAGE).parent.mkdir()
        (tmp_path / "web" / PAGE).write_bytes(b"# A\n")
        git(tmp_path / "web", "add", ".")
        git(tmp_path / "web", "commit", "-q", "-m", "x")
        await assert_reads_like_git(tmp_path / "web")

    async def test_git_folder_that_is_a_symbolic_link(self, repo: Path, tmp_path: Path) -> None:
        (repo / ".git").rename(tmp_path / "control")
        (repo / ".git").symlink_to(tmp_path / "control")
        await assert_reads_like_git(repo)

    async def test_git_folder_that_says_it_is_bare(self, repo: Path) -> None:
        (repo / PAGE).write_bytes(b"# Edited\n")
        git(repo, "config", "core.bare", "yes")
        assert (await Asked(repo).file(PAGE)).data == b"# A\n"

    async def test_working_tree_that_the_configuration_puts_elsewhere_is_not_believed(
        self, repo: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "elsewhere/.wiki").mkdir(parents=True)
        (tmp_path / "elsewhere" / PAGE).write_bytes(b"secret")
        git(repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
        assert (await Asked(repo).file(PAGE)).data == b"# A\n"


class TestNothingIsRun:
    async def test_nor_included_whatever_a_configuration_names(self, repo: Path, tmp_path: Path) -> None:
        ran = tmp_path / "ran"
        script = tmp_path / "script"
        script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
        script.chmod(0o755)
        included = tmp_path / "included"
        included.write_text("[core]\n\tautocrlf = true\n")
        with (repo / ".git/config").open("a") as config:
            config.write(f"[core]\n\tfsmonitor = {script}\n\tsshCommand = {script}\n\thooksPath = {tmp_path}\n")
            config.write(f'[filter "x"]\n\tclean = {script}\n\tsmudge = {script}\n\tprocess = {script}\n')
            config.write(f"[include]\n\tpath = {included}\n[extensions]\n\tnoop = x\n")
        (repo / ".gitattributes").write_text("* filter=x\n")
        for hook in ("post-checkout", "pre-auto-gc"):
            (repo / ".git/hooks" / hook).write_text(script.read_text())
        (repo / PAGE).write_bytes(b"# A\r\n")
        asked = Asked(repo)
        assert (await asked.head()).uncommitted
        assert await asked.wiki()
        assert (await asked.file(PAGE)).uncommitted
        await asked.listed()
        assert not ran.exists()

    async def test_not_even_git(self, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("a process was started")

        for module, name in ((subprocess, "Popen"), (os, "posix_spawn"), (os, "posix_spawnp"), (os, "system")):
            monkeypatch.setattr(module, name, refuse)
        for name in ("fork", "forkpty", "execv", "execve"):
            monkeypatch.setattr(os, name, refuse)
        asked = Asked(repo)
        await asked.head()
        assert await asked.wiki()
        assert isinstance(await asked.file(PAGE), File)

    async def test_and_nothing_is_written(self, repo: Path) -> None:
        def state() -> dict[str, tuple[int, int]]:
            return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in repo.rglob("*")}

        before = state()
        asked = Asked(repo)
        await asked.listed()
        await asked.wiki()
        await asked.file(PAGE)
        assert state() == before
