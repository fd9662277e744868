"""What a local forge does not write, and the line that says why and what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cache.errors import Denied, Unavailable
from sync.files.opening import folder
from sync.forge.local import writer
from sync.forge.local.refusals import other_spelling
from sync.forge.writing import Change, Edit, Moved
from tests.support.git import git, needs_git
from tests.support.git_files import Submodule, Symlink
from tests.support.local_forge import Asked
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

INDEX, PAGE, NEW = ".wiki/index.md", ".wiki/concepts/a.md", ".wiki/concepts/new.md"
FILES = {INDEX: "# Wiki\n", PAGE: "# A\n", "STATUS.md": "fine\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


async def refusal(asked: Asked, *paths: str, over: str | None = None, branch: str | None = None) -> str:
    edit = Edit("", tuple(Change(path, b"new\n", over) for path in paths), branch=branch)
    with pytest.raises(Denied) as caught:
        await asked.forge.write(asked.repo, edit)
    assert caught.value.host == "local"
    return caught.value.message


def temporaries(folder: Path) -> list[Path]:
    return list(folder.rglob("*.tmp"))


class TestPaths:
    @pytest.mark.parametrize(
        "path", ["STATUS.md", "README.md", "src/.wiki/a.md", "wiki/a.md", ".wiki", ".WIKI/a.md", ""]
    )
    async def test_elsewhere_are_refused(self, asked: Asked, path: str) -> None:
        assert await refusal(asked, NEW, path) == (
            f"{path} is not below .wiki/ or .tasks/, the only folders that are written".strip()
        )

    @pytest.mark.parametrize(
        "path",
        [
            ".wiki/",
            ".wiki//a.md",
            ".wiki/../STATUS.md",
            ".wiki/./a.md",
            ".wiki/a\\b.md",
            ".wiki/\0.md",
            ".wiki/a\nb.md",
            ".wiki/\x1b[2J.md",
            ".wiki/\ud800.md",
            ".wiki/.git/config",
            ".wiki/x/.GIT/hooks/post-commit",
            ".wiki/git~1/config",
            ".wiki/.git /config",
            ".wiki/.g\u200cit/config",
            ".wiki/" + "x/" * 64 + "a.md",
        ],
    )
    async def test_that_are_none_are_refused(self, repo: Path, asked: Asked, path: str) -> None:
        assert (await refusal(asked, NEW, path)).endswith(" cannot be the name of a file — choose another")
        assert not (repo / NEW).exists()

    @pytest.mark.parametrize("name", ["x" * 300, "é" * 200])
    async def test_that_no_file_system_takes_are_refused(self, asked: Asked, name: str) -> None:
        for path in (f".wiki/{name}.md", f".wiki/{name}/a.md"):
            assert await refusal(asked, path) == (
                "a name is too long or not allowed where local/web is — choose another name"
            )


class TestBranches:
    async def test_none_at_all_in_a_bare_repository(self, tmp_path: Path) -> None:
        bare = Asked(make_repo(tmp_path / "web", FILES, bare=True))
        assert await refusal(bare, NEW) == (
            "local/web is a bare repository, which has no working tree — write to a clone of it"
        )

    async def test_another_than_the_default_one(self, repo: Path, asked: Asked) -> None:
        (repo / ".git/HEAD").write_text("ref: refs/heads/topic\n")
        assert await refusal(asked, NEW) == (
            "local/web has topic checked out, not its default branch main — check out main first, or set"
            " init.defaultBranch in the repository's own git configuration"
        )
        assert not (repo / NEW).exists()

    async def test_whose_name_could_drive_a_terminal_is_not_repeated(self, repo: Path, asked: Asked) -> None:
        (repo / ".git/HEAD").write_text("ref: refs/heads/\u202etopic\n")
        assert (await refusal(asked, NEW)).startswith("local/web has \ufffdtopic checked out")

    async def test_a_detached_head(self, repo: Path, asked: Asked) -> None:
        (repo / ".git/HEAD").write_text((repo / ".git/refs/heads/main").read_text())
        assert await refusal(asked, NEW) == ("local/web has no branch checked out, but a commit — check out main first")

    async def test_another_than_was_read(self, asked: Asked) -> None:
        assert await refusal(asked, NEW, branch="topic") == (
            "local/web has main checked out, not topic — write to main"
        )

    async def test_a_new_one(self, asked: Asked) -> None:
        with pytest.raises(Denied, match="where no branches are made"):
            await asked.forge.write(asked.repo, Edit("", (), new_branch="knowledge/x"))

    @needs_git
    async def test_a_linked_working_tree_which_has_another(self, repo: Path) -> None:
        git(repo, "worktree", "add", "-q", "-b", "topic", "../linked")
        assert "has topic checked out" in await refusal(Asked(repo.parent / "linked"), NEW)

    async def test_are_told_before_anything_is_written(self, repo: Path, asked: Asked) -> None:
        edit = Edit("", (Change(NEW, b"new\n", None),))
        await asked.forge.rehearse(asked.repo, edit)
        (repo / ".git/HEAD").write_text("ref: refs/heads/topic\n")
        with pytest.raises(Denied, match="has topic checked out"):
            await asked.forge.rehearse(asked.repo, edit)
        assert not (repo / NEW).exists()


@needs_git
class TestConflicts:
    @pytest.fixture
    def repo(self, tmp_path: Path) -> Path:
        """With a merge in progress that left PAGE in conflict."""
        repo = make_repo(tmp_path / "web", FILES)
        git(repo, "checkout", "-q", "-b", "topic")
        commit_files(repo, {PAGE: "# Theirs\n"})
        git(repo, "checkout", "-q", "main")
        commit_files(repo, {PAGE: "# Ours\n"})
        with pytest.raises(Exception, match="merge"):
            git(repo, "merge", "-q", "topic")
        assert "<<<<<<<" in (repo / PAGE).read_text()
        return repo

    async def test_are_left_to_who_has_them(self, repo: Path, asked: Asked) -> None:
        before = (repo / PAGE).read_bytes()
        line = await refusal(asked, NEW, PAGE, over=await asked.sha(PAGE))
        assert line == f"{PAGE} in local/web has a merge conflict — settle it and git add it first"
        assert ((repo / PAGE).read_bytes(), (repo / NEW).exists()) == (before, False)

    async def test_do_not_keep_other_files_from_being_written(self, repo: Path, asked: Asked) -> None:
        await asked.write({NEW: b"# N\n", INDEX: b"# W\n"})
        assert (repo / NEW).read_bytes() == b"# N\n"

    async def test_are_over_once_they_are_settled(self, repo: Path, asked: Asked) -> None:
        git(repo, "add", PAGE)
        await asked.write({PAGE: b"# Both\n"})


class TestLinks:
    async def test_are_not_replaced(self, repo: Path, asked: Asked, tmp_path: Path) -> None:
        (tmp_path / "secret").write_bytes(b"secret")
        (repo / NEW).symlink_to(tmp_path / "secret")
        assert await refusal(asked, NEW) == (
            f"a symbolic link is in the way of {NEW} in local/web — put a real file or folder in its place"
        )
        assert (repo / NEW).is_symlink()
        assert (tmp_path / "secret").read_bytes() == b"secret"

    @pytest.mark.parametrize("link", [".wiki", ".wiki/concepts"])
    async def test_are_not_followed_on_the_way(self, repo: Path, asked: Asked, tmp_path: Path, link: str) -> None:
        (repo / link).rename(tmp_path / "elsewhere")
        (repo / link).symlink_to(tmp_path / "elsewhere")
        before = sorted((tmp_path / "elsewhere").rglob("*"))
        assert (await refusal(asked, NEW)).startswith(f"a symbolic link is in the way of {NEW}")
        assert sorted((tmp_path / "elsewhere").rglob("*")) == before

    async def test_that_lead_nowhere_are_not_followed_either(self, repo: Path, asked: Asked, tmp_path: Path) -> None:
        (repo / ".tasks").symlink_to(tmp_path / "none")
        assert (await refusal(asked, ".tasks/x.md")).startswith("a symbolic link is in the way")
        assert not (tmp_path / "none").exists()

    async def test_checked_out_as_text_are_links(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {**FILES, NEW: Symlink("a.md")})
        (repo / NEW).unlink()
        (repo / NEW).write_text("a.md")
        assert (await refusal(Asked(repo), NEW)).startswith("a symbolic link is in the way")


class TestOtherRepositories:
    @pytest.mark.parametrize("inner", [".wiki", ".wiki/concepts"])
    async def test_are_not_written(self, repo: Path, asked: Asked, inner: str) -> None:
        make_repo(repo / inner, {"index.md": "# Theirs\n"})
        assert await refusal(asked, NEW) == (
            f"a submodule is in the way of {NEW} in local/web — write to the repository that it is"
        )

    @pytest.mark.parametrize("as_file", [True, False])
    async def test_count_whatever_state_they_are_in(self, repo: Path, asked: Asked, *, as_file: bool) -> None:
        git_path = repo / ".wiki/concepts/.git"
        git_path.write_text("gitdir: ../gone\n") if as_file else git_path.mkdir()
        assert (await refusal(asked, NEW)).startswith("a submodule is in the way")

    @needs_git
    async def test_that_are_not_checked_out_are_not_filled(self, repo: Path, tmp_path: Path) -> None:
        inner = make_repo(tmp_path / "inner", {"index.md": "# Theirs\n"})
        outer = make_repo(tmp_path / "outer", {"README.md": "x"})
        git(outer, "submodule", "-q", "add", str(inner), ".wiki")
        git(outer, "commit", "-q", "-m", "Add the wiki")
        git(tmp_path, "clone", "-q", str(outer), "clone")
        assert list((tmp_path / "clone/.wiki").iterdir()) == []
        assert await refusal(Asked(tmp_path / "clone"), INDEX) == (
            f"{INDEX} in local/clone belongs to a submodule — write to the repository that it belongs to"
        )

    async def test_that_only_a_commit_knows_are_not_filled(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", {"README.md": "x", ".wiki": Submodule("1" * 40)})
        (repo / ".git/index").unlink()
        assert (await refusal(Asked(repo), INDEX)).startswith("a submodule is in the way")


class TestOtherThings:
    async def test_folders_are_not_replaced(self, repo: Path, asked: Asked) -> None:
        (repo / NEW).mkdir()
        assert await refusal(asked, NEW) == f"a directory is in the way of {NEW} in local/web — choose another name"

    async def test_files_are_no_folders(self, repo: Path, asked: Asked) -> None:
        path = f"{PAGE}/b.md"
        assert await refusal(asked, path) == f"a file is in the way of {path} in local/web — choose another name"

    async def test_special_files_are_left_alone(self, repo: Path, asked: Asked) -> None:
        os.mkfifo(repo / NEW)
        with pytest.raises(Moved):
            await asked.write({NEW: b"x"})
        assert (repo / NEW).is_fifo()
        assert temporaries(repo) == []


class TestSpelling:
    """File systems may take two spellings for one: a file is found by either, a folder would be listed by the other."""

    @pytest.mark.parametrize(
        ("name", "names", "other"),
        [
            ("concepts", ["Concepts", "entities"], "Concepts"),
            ("concepts", ["concepts", "Concepts"], None),
            ("caf\u00e9", ["CAF\u00c9"], "CAF\u00c9"),
            ("caf\u00e9", ["cafe\u0301"], None),
            ("concepts", [], None),
        ],
    )
    async def test_of_folders_is_told_from_another(self, name: str, names: list[str], other: str | None) -> None:
        assert other_spelling(name, names) == other

    async def test_of_a_folder_must_be_its_own(self, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "listdir", lambda _: ["Concepts", "index.md"])
        assert await refusal(asked, NEW) == (
            f"the folder concepts on the way to {NEW} is called Concepts in local/web — call it so"
        )

    async def test_of_a_file_that_is_there_makes_it_one_that_exists(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As if A.md and a.md were one: the name is free when it is looked at, and taken when it is given."""
        link = os.link

        def folding(source: str, name: str, **options: int) -> None:
            link(source, name.lower(), **options)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "link", folding)
        with pytest.raises(Moved):
            await asked.write({".wiki/concepts/A.md": b"x"})
        assert (repo / PAGE).read_bytes() == b"# A\n"


class TestOtherWriters:
    async def test_are_waited_for_but_not_for_ever(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writer, "LOCK_WAIT", 0.02)
        with (
            folder(str(repo)) as root,
            writer._right_to_write("local/web", root),
            pytest.raises(Unavailable, match="is being written by another process — try again"),
        ):
            await asked.write({NEW: b"x"})
        await asked.write({NEW: b"x"})

    async def test_must_be_able_to_tell_each_other(self, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
        def without(descriptor: int, operation: int) -> None:
            raise OSError(9, "Bad file descriptor")

        monkeypatch.setattr("fcntl.flock", without)
        with pytest.raises(Unavailable, match="its file system has no locks"):
            await asked.write({NEW: b"x"})
