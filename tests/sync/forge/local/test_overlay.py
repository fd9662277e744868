"""A working tree laid over its commit: what reads see, and what counts as uncommitted."""

from __future__ import annotations

import os
from hashlib import sha1
from pathlib import Path

import pytest

from cache.model import MAX_PAGE, TreeEntry
from sync.forge.base import Absent, Answer, File, Refused, TooBig
from tests.support.git import git, needs_git
from tests.support.local_forge import Asked, forge_of
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

PAGE = ".wiki/concepts/a.md"
FILES = {".wiki/index.md": "# Wiki\n", PAGE: "# A\n", "STATUS.md": "fine\n", "src/main.py": "print()\n"}


def blob(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


class TestCleanWorkingTree:
    async def test_has_the_names_that_git_gives(self, repo: Path) -> None:
        asked = Asked(repo)
        head = await asked.head()
        assert head.commit == (repo / ".git/refs/heads/main").read_text().strip()
        assert not head.uncommitted
        bare = Asked(make_repo(repo.parent / "bare", FILES, bare=True))
        assert head.wiki_tree == (await bare.head()).wiki_tree
        assert await asked.wiki() == await bare.wiki()
        assert await asked.wiki() == {
            "index.md": TreeEntry("index.md", 0o100644, blob(b"# Wiki\n"), 7),
            "concepts/a.md": TreeEntry("concepts/a.md", 0o100644, blob(b"# A\n"), 4),
        }

    async def test_serves_committed_files(self, repo: Path) -> None:
        assert await Asked(repo).read(PAGE) == File(PAGE, blob(b"# A\n"), b"# A\n")

    async def test_stays_clean_when_only_times_and_modes_change(self, repo: Path) -> None:
        (repo / PAGE).touch()
        (repo / PAGE).chmod(0o755)
        assert not (await Asked(repo).head()).uncommitted
        assert (await Asked(repo).wiki())["concepts/a.md"].mode == 0o100644


class TestEdits:
    async def test_are_served_and_marked(self, repo: Path) -> None:
        (repo / PAGE).write_bytes(b"# New\n")
        asked = Asked(repo)
        assert await asked.read(PAGE) == File(PAGE, blob(b"# New\n"), b"# New\n", uncommitted=True)
        assert (await asked.wiki())["concepts/a.md"] == TreeEntry(
            "concepts/a.md", 0o100644, blob(b"# New\n"), 6, uncommitted=True
        )
        assert (await asked.head()).uncommitted

    async def test_change_the_name_of_the_wiki_and_undoing_them_changes_it_back(self, repo: Path) -> None:
        asked = Asked(repo)
        before = await asked.head()
        (repo / PAGE).write_bytes(b"# New\n")
        edited = await asked.head()
        (repo / PAGE).write_bytes(b"# Newer\n")
        again = await asked.head()
        (repo / PAGE).write_bytes(b"# A\n")
        assert len({before.wiki_tree, edited.wiki_tree, again.wiki_tree}) == 3
        assert await asked.head() == before

    async def test_are_served_at_a_commit_too_since_they_are_part_of_that_snapshot(self, repo: Path) -> None:
        commit = (await Asked(repo).head()).commit
        (repo / PAGE).write_bytes(b"# New\n")
        assert (await Asked(repo).file(PAGE, ref=commit)).data == b"# New\n"

    async def test_outside_the_overlaid_paths_are_not_seen(self, repo: Path) -> None:
        (repo / "src/main.py").write_bytes(b"broken")
        assert (await Asked(repo).file("src/main.py")).data == b"print()\n"
        assert not (await Asked(repo).head()).uncommitted

    @pytest.mark.parametrize("path", ["STATUS.md", ".tasks/STATUS.md", ".tasks/2026-01-01-x.md"])
    async def test_of_status_and_task_files_are_seen(self, repo: Path, path: str) -> None:
        (repo / path).parent.mkdir(exist_ok=True)
        (repo / path).write_bytes(b"edited\n")
        file = await Asked(repo).file(path)
        assert (file.data, file.uncommitted) == (b"edited\n", True)

    async def test_of_a_status_file_alone_make_the_head_uncommitted_but_leave_the_wiki_alone(self, repo: Path) -> None:
        before = await Asked(repo).head()
        (repo / "STATUS.md").write_bytes(b"edited\n")
        head = await Asked(repo).head()
        assert (head.uncommitted, head.wiki_tree) == (True, before.wiki_tree)

    async def test_between_head_and_wiki_do_not_mix_two_snapshots(self, repo: Path) -> None:
        asked = Asked(repo)
        head = await asked.head()
        (repo / PAGE).write_bytes(b"# New\n")
        entries = await asked.forge.wiki_tree(asked.repo, head)
        assert [entry.uncommitted for entry in entries] == [False, False]


class TestAddedAndDeletedFiles:
    async def test_untracked_and_ignored_ones_are_pages(self, repo: Path) -> None:
        (repo / ".gitignore").write_text(".wiki/\n")
        (repo / ".wiki/notes").mkdir()
        (repo / ".wiki/notes/new.md").write_bytes(b"# N\n")
        entry = (await Asked(repo).wiki())["notes/new.md"]
        assert entry == TreeEntry("notes/new.md", 0o100644, blob(b"# N\n"), 4, uncommitted=True)

    async def test_a_deleted_one_is_gone(self, repo: Path) -> None:
        (repo / PAGE).unlink()
        asked = Asked(repo)
        assert list(await asked.wiki()) == ["index.md"]
        assert await asked.read(PAGE) == Absent(PAGE)
        assert (await asked.head()).uncommitted

    async def test_a_deleted_status_is_gone(self, repo: Path) -> None:
        (repo / "STATUS.md").unlink()
        assert await Asked(repo).read("STATUS.md") == Absent("STATUS.md")
        assert (await Asked(repo).head()).uncommitted

    async def test_a_deleted_wiki_is_gone(self, repo: Path) -> None:
        (repo / PAGE).unlink()
        (repo / ".wiki/index.md").unlink()
        head = await Asked(repo).head()
        assert (head.wiki_tree, head.uncommitted) == (None, True)
        assert await Asked(repo).wiki() == {}

    async def test_a_wiki_that_was_never_committed_is_read(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {"README.md": "x"})
        assert (await Asked(repo).head()).wiki_tree is None
        (repo / ".wiki").mkdir()
        assert (await Asked(repo).head()).wiki_tree is None
        (repo / ".wiki/index.md").write_bytes(b"# W\n")
        assert (await Asked(repo).head()).wiki_tree is not None
        assert list(await Asked(repo).wiki()) == ["index.md"]

    async def test_names_that_are_not_utf8_are_left_out(self, repo: Path) -> None:
        (repo / os.fsdecode(b".wiki/\xff.md")).write_bytes(b"x")
        assert list(await Asked(repo).wiki()) == ["concepts/a.md", "index.md"]

    async def test_a_folder_in_place_of_a_file_is_refused(self, repo: Path) -> None:
        (repo / PAGE).unlink()
        (repo / PAGE).mkdir()
        assert await Asked(repo).read(PAGE) == Refused(PAGE, "a directory")
        assert list(await Asked(repo).wiki()) == ["index.md"]


class TestLineEnds:
    @pytest.mark.parametrize(
        ("place", "text"),
        [
            (".git/config", "[core]\n\tautocrlf = true\n"),
            (".git/config", "[core]\n\tautocrlf = INPUT\n"),
            (".gitattributes", "# comment\n*.md text\n"),
            (".gitattributes", "* text=auto\n"),
            (".wiki/.gitattributes", "*.md diff=md eol=crlf\n"),
            (".git/info/attributes", "*.md eol=lf\n"),
        ],
    )
    async def test_are_no_edit_where_the_repository_converts_them(self, repo: Path, place: str, text: str) -> None:
        (repo / place).parent.mkdir(exist_ok=True)
        (repo / place).write_text(text)
        commit_files(repo, {".wiki/.gitattributes": text} if place == ".wiki/.gitattributes" else {"x": "y"})
        before = await Asked(repo).head()
        (repo / PAGE).write_bytes(b"# A\r\n")
        asked = Asked(repo)
        assert await asked.head() == before
        assert await asked.read(PAGE) == File(PAGE, blob(b"# A\n"), b"# A\n")
        assert (await asked.wiki())["concepts/a.md"] == TreeEntry("concepts/a.md", 0o100644, blob(b"# A\n"), 4)

    @pytest.mark.parametrize("text", ["", "*.md -text\n", "#* text\n", "text\n", "*.png binary\n"])
    async def test_are_an_edit_elsewhere(self, repo: Path, text: str) -> None:
        (repo / ".gitattributes").write_text(text)
        (repo / PAGE).write_bytes(b"# A\r\n")
        assert await Asked(repo).read(PAGE) == File(PAGE, blob(b"# A\r\n"), b"# A\r\n", uncommitted=True)

    async def test_do_not_hide_another_edit(self, repo: Path) -> None:
        (repo / ".gitattributes").write_text("* text=auto\n")
        (repo / PAGE).write_bytes(b"# B\r\n")
        assert (await Asked(repo).file(PAGE)).uncommitted

    async def test_of_attributes_behind_a_link_do_not_count(self, repo: Path, tmp_path: Path) -> None:
        (tmp_path / "attributes").write_text("* text\n")
        (repo / ".gitattributes").symlink_to(tmp_path / "attributes")
        (repo / PAGE).write_bytes(b"# A\r\n")
        assert (await Asked(repo).file(PAGE)).uncommitted

    async def test_committed_as_crlf_are_clean(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {PAGE: b"# A\r\n", ".gitattributes": "* text=auto\n"})
        assert await Asked(repo).read(PAGE) == File(PAGE, blob(b"# A\r\n"), b"# A\r\n")


class TestLargeFiles:
    async def test_are_refused_unread(self, repo: Path) -> None:
        os.truncate(repo / PAGE, 2**40)
        assert await Asked(repo).read(PAGE) == TooBig(PAGE, 1048576)

    async def test_are_listed_with_a_name_that_changes_with_them(self, repo: Path) -> None:
        os.truncate(repo / PAGE, MAX_PAGE + 1)
        one = (await Asked(repo).wiki())["concepts/a.md"]
        os.truncate(repo / PAGE, MAX_PAGE + 2)
        other = (await Asked(repo).wiki())["concepts/a.md"]
        assert (one.size, other.size) == (MAX_PAGE + 1, MAX_PAGE + 2)
        assert one.sha != other.sha
        assert one.uncommitted

    async def test_of_the_committed_size_count_as_committed(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {".wiki/video.mp4": bytes(MAX_PAGE + 1)})
        entry = (await Asked(repo).wiki())["video.mp4"]
        assert entry == TreeEntry("video.mp4", 0o100644, blob(bytes(MAX_PAGE + 1)), MAX_PAGE + 1)
        assert not (await Asked(repo).head()).uncommitted

    async def test_exactly_as_large_as_allowed_are_read(self, repo: Path) -> None:
        assert isinstance(await Asked(repo).read(PAGE, limit=4), File)
        assert await Asked(repo).read(PAGE, limit=3) == TooBig(PAGE, 3)
        bare = make_repo(repo.parent / "bare", FILES, bare=True)
        assert isinstance(await Asked(bare).read(PAGE, limit=4), File)
        assert await Asked(bare).read(PAGE, limit=3) == TooBig(PAGE, 3)


class TestFilesNeverCheckedOut:
    async def test_stay_as_committed_where_nothing_was(self, repo: Path) -> None:
        (repo / ".git/index").unlink()
        (repo / PAGE).unlink()
        assert await Asked(repo).read(PAGE) == File(PAGE, blob(b"# A\n"), b"# A\n")
        assert not (await Asked(repo).head()).uncommitted

    @needs_git
    @pytest.mark.parametrize("sparse_index", [True, False])
    async def test_stay_as_committed_in_a_sparse_checkout(self, repo: Path, *, sparse_index: bool) -> None:
        before = await Asked(repo).head()
        git(repo, "sparse-checkout", "set", "--cone", *(["--sparse-index"] if sparse_index else []), "src")
        assert not (repo / ".wiki").exists()
        asked = Asked(repo)
        assert await asked.head() == before
        assert list(await asked.wiki()) == ["concepts/a.md", "index.md"]
        assert (await asked.file(PAGE)).data == b"# A\n"

    @needs_git
    async def test_stay_as_committed_with_the_skip_worktree_bit(self, repo: Path) -> None:
        git(repo, "update-index", "--skip-worktree", PAGE)
        (repo / PAGE).unlink()
        (repo / ".wiki/index.md").unlink()
        assert list(await Asked(repo).wiki()) == ["concepts/a.md"]

    @needs_git
    async def test_stay_as_committed_after_a_clone_without_checkout(self, repo: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--no-checkout", str(repo), "clone")
        assert list(await Asked(tmp_path / "clone").wiki()) == ["concepts/a.md", "index.md"]

    @needs_git
    async def test_are_told_from_deleted_ones_in_every_version_of_the_index(self, repo: Path) -> None:
        for version in ("2", "3", "4"):
            git(repo, "update-index", "--index-version", version)
            (repo / PAGE).unlink()
            assert await Asked(repo).read(PAGE) == Absent(PAGE)
            git(repo, "checkout", "-q", "--", PAGE)


class TestRepositoriesWithoutCommits:
    async def test_have_no_head(self, tmp_path: Path) -> None:
        for bare in (True, False):
            asked = Asked(make_repo(tmp_path / f"empty-{bare}", {}, bare=bare))
            assert await asked.forge.head(asked.repo) is None
            assert (await asked.listed()).empty
            assert await asked.read(PAGE) == Absent(PAGE)

    async def test_are_read_where_their_working_tree_has_a_wiki(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {})
        (repo / ".wiki").mkdir()
        (repo / ".wiki/index.md").write_bytes(b"# W\n")
        asked = Asked(repo)
        head = await asked.head()
        assert (head.commit, head.uncommitted) == ("0" * 40, True)
        assert not (await asked.listed()).empty
        assert list(await asked.wiki()) == ["index.md"]
        answer: Answer = await asked.file(".wiki/index.md", ref=head.commit)
        assert answer == File(".wiki/index.md", blob(b"# W\n"), b"# W\n", uncommitted=True)
        assert await asked.read("README.md", ref=head.commit) == Absent("README.md")

    async def test_are_read_where_their_working_tree_has_a_status(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {})
        (repo / "STATUS.md").write_bytes(b"new\n")
        assert (await Asked(repo).head()).wiki_tree is None


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            "",
            "/",
            "/etc/passwd",
            ".",
            "..",
            "../web/STATUS.md",
            ".wiki/../STATUS.md",
            ".wiki//index.md",
            ".wiki/./index.md",
            ".wiki/index.md/",
            ".wiki\\index.md",
            ".wiki/index.md\0",
            ".wiki/\ud800.md",
            f".wiki/{chr(0xDCFF)}.md",
            ".git/config",
            ".GIT/config",
            ".wiki/.git/config",
            ".wiki/" + "x" * 300,
            ".wiki/" + "x/" * 5000 + "y",
            ".wiki/index.md/below",
        ],
    )
    @pytest.mark.parametrize("bare", [True, False])
    async def test_that_are_none_are_absent(self, tmp_path: Path, path: str, *, bare: bool) -> None:
        repo = make_repo(tmp_path / "web", FILES, bare=bare)
        assert await Asked(repo).read(path) == Absent(path)

    async def test_come_back_in_the_order_asked(self, repo: Path) -> None:
        asked = Asked(repo)
        answers = await asked.forge.read(asked.repo, ["STATUS.md", "none", PAGE, "src"], limit=100)
        assert [type(answer) for answer in answers] == [File, Absent, File, Refused]

    async def test_of_folders_are_refused(self, repo: Path) -> None:
        for path in ("src", ".wiki", ".wiki/concepts"):
            assert await Asked(repo).read(path) == Refused(path, "a directory")


class TestSnapshots:
    async def test_hold_still_for_paths_outside_the_overlay(self, repo: Path) -> None:
        commit = (await Asked(repo).head()).commit
        commit_files(repo, {"src/main.py": "new\n"})
        assert (await Asked(repo).file("src/main.py", ref=commit)).data == b"print()\n"
        assert (await Asked(repo).file("src/main.py")).data == b"new\n"

    async def test_hold_still_in_bare_repositories(self, tmp_path: Path) -> None:
        bare = make_repo(tmp_path / "web", FILES, bare=True)
        commit = (await Asked(bare).head()).commit
        commit_files(bare, {PAGE: "new\n"})
        assert (await Asked(bare).file(PAGE, ref=commit)).data == b"# A\n"
        assert (await Asked(bare).file(PAGE)).data == b"new\n"

    async def test_of_wikis_are_kept_for_a_moment_only(self, tmp_path: Path) -> None:
        for number in range(20):
            make_repo(tmp_path / f"r{number}", FILES)
        forge = forge_of(tmp_path)
        async for page in forge.listing():
            for project in page.projects:
                await forge.head(project.repo)
        assert len(forge._wikis) <= 8
        await forge.aclose()
        assert not forge._wikis
