"""Who changed a file last."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dulwich.objects import Commit
from dulwich.repo import Repo

from sync.forge.local import history
from sync.forge.writing import LastChange
from tests.support.git import git, needs_git
from tests.support.local_forge import Asked
from tests.support.raw_git import add_loose
from tests.support.repos import FIRST_COMMIT_AT, commit_files, make_repo

pytestmark = pytest.mark.anyio

PAGE, OTHER = ".wiki/concepts/a.md", ".wiki/b.md"
FILES = {PAGE: "# A\n", OTHER: "# B\n"}
AUTHOR = "A U Thor"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


async def last(asked: Asked, path: str = PAGE, *, branch: str | None = None) -> LastChange | None:
    return await asked.forge.last_change(asked.repo, path, branch=branch)


def head(repo: Path) -> str:
    return (repo / ".git/refs/heads/main").read_text().strip()


def root_tree(repo: Path) -> bytes:
    with Repo(repo) as opened:
        tip = opened[opened.head()]
        assert isinstance(tip, Commit)
        return bytes(tip.tree)


class TestCommits:
    async def test_are_told_with_author_and_date(self, repo: Path, asked: Asked) -> None:
        assert await last(asked) == LastChange(head(repo), AUTHOR, FIRST_COMMIT_AT)

    async def test_that_leave_the_file_alone_do_not_count(self, repo: Path, asked: Asked) -> None:
        commit_files(repo, {OTHER: "# C\n"})
        changed = commit_files(repo, {PAGE: "# New\n"}, at=FIRST_COMMIT_AT + 500)
        for number in range(5):
            commit_files(repo, {OTHER: f"# {number}\n"})
        assert await last(asked) == LastChange(changed, AUTHOR, FIRST_COMMIT_AT + 500)

    async def test_count_in_bare_repositories(self, tmp_path: Path) -> None:
        bare = make_repo(tmp_path / "bare", FILES, bare=True)
        commit = commit_files(bare, {PAGE: "# New\n"})
        commit_files(bare, {OTHER: "# New\n"})
        change = await last(Asked(bare))
        assert change is not None
        assert change.commit == commit

    async def test_that_deleted_the_file_count(self, repo: Path, asked: Asked) -> None:
        deleted = commit_files(repo, {PAGE: None})
        commit_files(repo, {OTHER: "# C\n"})
        change = await last(asked)
        assert change is not None
        assert change.commit == deleted

    async def test_are_none_for_what_never_was(self, repo: Path, asked: Asked) -> None:
        commit_files(repo, {OTHER: "# C\n"})
        for path in (".wiki/none.md", ".wiki/none/a.md", f"{PAGE}/x", "", "../x"):
            assert await last(asked, path) is None

    async def test_are_none_in_a_repository_without_any(self, tmp_path: Path) -> None:
        assert await last(Asked(make_repo(tmp_path / "empty", {}))) is None

    @needs_git
    async def test_of_a_merge_are_found_on_the_side_that_brought_the_file(self, repo: Path, asked: Asked) -> None:
        git(repo, "checkout", "-q", "-b", "topic")
        changed = commit_files(repo, {PAGE: "# New\n"})
        git(repo, "checkout", "-q", "main")
        commit_files(repo, {OTHER: "# C\n"})
        git(repo, "merge", "-q", "-m", "Merge", "topic")
        change = await last(asked)
        assert change is not None
        assert change.commit == changed == git(repo, "log", "-1", "--format=%H", "--", PAGE)

    async def test_of_another_branch_are_its_own(self, repo: Path, asked: Asked) -> None:
        first = head(repo)
        (repo / ".git/refs/heads/topic").write_text(f"{first}\n")
        second = commit_files(repo, {PAGE: "# New\n"})
        (repo / PAGE).write_text("# Edited\n")
        changes = [await last(asked, branch=branch) for branch in ("topic", "none")]
        assert changes == [LastChange(first, AUTHOR, FIRST_COMMIT_AT), None]
        (repo / PAGE).write_text("# New\n")
        change = await last(asked, branch="main")
        assert change is not None
        assert change.commit == second

    async def test_have_authors_who_cannot_disturb_a_terminal(self, repo: Path, asked: Asked) -> None:
        text = b"tree %s\nauthor A\x1b[2J\xff <a@b> 77 +0100\n\nx\n"
        name = add_loose(repo, b"commit", text % root_tree(repo))
        (repo / ".git/refs/heads/main").write_text(f"{name}\n")
        assert await last(asked) == LastChange(name, "A\ufffd[2J\ufffd", 77.0)

    async def test_that_are_malformed_are_no_answer(self, repo: Path, asked: Asked) -> None:
        name = add_loose(repo, b"commit", b"tree %s\n\nauthor A <a@b> 77 +0100\n" % root_tree(repo))
        (repo / ".git/refs/heads/main").write_text(f"{name}\n")
        assert await last(asked) is None


class TestUncommittedEdits:
    async def test_are_told_with_their_time_and_nobodys_name(self, repo: Path, asked: Asked) -> None:
        (repo / PAGE).write_bytes(b"# Edited\n")
        os.utime(repo / PAGE, (1, 1_600_000_000.5))
        assert await last(asked) == LastChange("", "", 1_600_000_000.5, uncommitted=True)

    async def test_count_for_files_that_are_new(self, repo: Path, asked: Asked) -> None:
        await asked.write({".wiki/new.md": b"x"})
        change = await last(asked, ".wiki/new.md")
        assert change == LastChange("", "", (repo / ".wiki/new.md").stat().st_mtime, uncommitted=True)

    async def test_of_times_alone_do_not_count(self, repo: Path, asked: Asked) -> None:
        (repo / PAGE).touch()
        assert await last(asked) == LastChange(head(repo), AUTHOR, FIRST_COMMIT_AT)

    async def test_that_delete_a_file_leave_the_commit_that_had_it(self, repo: Path, asked: Asked) -> None:
        (repo / PAGE).unlink()
        assert await last(asked) == LastChange(head(repo), AUTHOR, FIRST_COMMIT_AT)


class TestBounds:
    async def test_of_commits_end_the_walk(self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(5):
            commit_files(repo, {OTHER: f"# {number}\n"})
        monkeypatch.setattr(history, "MAX_COMMITS", 6)
        assert await last(asked) is not None
        monkeypatch.setattr(history, "MAX_COMMITS", 5)
        assert await last(asked) is None

    async def test_of_bytes_end_it_too(self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
        commit_files(repo, {OTHER: "# C\n"})
        monkeypatch.setattr(history, "MAX_READ", 300)
        assert await last(asked) is None

    @needs_git
    async def test_of_a_shallow_clone_are_where_history_starts(self, repo: Path, tmp_path: Path) -> None:
        commit_files(repo, {OTHER: "# C\n"})
        tip = commit_files(repo, {OTHER: "# D\n"})
        git(tmp_path, "clone", "-q", "--depth=1", repo.as_uri(), "shallow")
        change = await last(Asked(tmp_path / "shallow"))
        assert change is not None
        assert change.commit == tip == git(tmp_path / "shallow", "log", "-1", "--format=%H", "--", PAGE)

    async def test_of_what_is_here_are_no_answer(self, repo: Path, asked: Asked) -> None:
        first = head(repo)
        commit_files(repo, {OTHER: "# C\n"})
        (repo / ".git/objects" / first[:2] / first[2:]).unlink()
        assert await last(asked) is None
