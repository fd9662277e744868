"""Writing into a working tree: what is on disk then, and what reads see of it."""

from __future__ import annotations

import os
import threading
from hashlib import sha1, sha256
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from cache.errors import Denied
from cache.model import MAX_PAGE
from sync.forge.base import File
from sync.forge.writing import Change, Edit, Moved, Writer, Written
from tests.support.git import git, needs_git
from tests.support.local_forge import Asked, forge_of, named
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

INDEX, PAGE, NEW, TASK = ".wiki/index.md", ".wiki/concepts/a.md", ".wiki/concepts/new.md", ".tasks/2026-01-01-x.md"
FILES = {INDEX: "# Wiki\n", PAGE: "# A\n", "STATUS.md": "fine\n"}


def blob(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def on_disk(repo: Path) -> dict[str, bytes]:
    """All that is in the working tree."""
    files = (path for path in repo.rglob("*") if ".git" not in path.relative_to(repo).parts)
    return {str(path.relative_to(repo)): path.read_bytes() if path.is_file() else b"" for path in files}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


def test_the_local_forge_is_a_writer(tmp_path: Path) -> None:
    writer: Writer = forge_of(tmp_path)
    assert writer


class TestAnEdit:
    async def test_is_on_disk_byte_by_byte_and_nothing_else_is(self, repo: Path, asked: Asked) -> None:
        before = on_disk(repo)
        new, index = b"\xef\xbb\xbf# N\r\nno end", b"# Wiki\n- [N](concepts/new.md)\n"
        await asked.write({NEW: new, INDEX: index})
        assert on_disk(repo) == {**before, NEW: new, INDEX: index}

    async def test_tells_the_names_that_git_gives_and_no_commit(self, asked: Asked) -> None:
        written = await asked.write({NEW: b"# N\n", INDEX: b"# W\n"})
        assert written == Written(None, {NEW: blob(b"# N\n"), INDEX: blob(b"# W\n")})

    async def test_tells_sha256_names_where_the_repository_has_them(self, tmp_path: Path) -> None:
        asked = Asked(make_repo(tmp_path / "api", FILES, object_format="sha256"))
        written = await asked.write({PAGE: b"# N\n"})
        assert written.shas == {PAGE: sha256(b"blob 4\0# N\n").hexdigest()}
        assert written.shas[PAGE] == await asked.sha(PAGE)

    async def test_moves_no_branch(self, repo: Path, asked: Asked) -> None:
        before = (await asked.head()).commit
        await asked.write({NEW: b"# N\n"})
        assert (await asked.head()).commit == before

    @needs_git
    async def test_is_an_ordinary_change_for_git(self, repo: Path, asked: Asked) -> None:
        git(repo, "status")
        index = (repo / ".git/index").read_bytes()
        await asked.write({NEW: b"# N\n", INDEX: b"# W\n"})
        assert (repo / ".git/index").read_bytes() == index
        assert git(repo, "status", "--porcelain").splitlines() == [f" M {INDEX}", f"?? {NEW}"]

    async def test_makes_folders_and_a_wiki_where_there_is_none(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "api", {"README.md": "x"})
        await Asked(repo).write({".wiki/concepts/build/x.md": b"# X\n", INDEX: b"# W\n", TASK: b"do\n"})
        assert (repo / ".wiki/concepts/build/x.md").read_bytes() == b"# X\n"
        assert (repo / TASK).read_bytes() == b"do\n"

    async def test_can_be_the_first_thing_in_a_repository_without_commits(self, tmp_path: Path) -> None:
        asked = Asked(make_repo(tmp_path / "api", {}))
        await asked.write({INDEX: b"# W\n"})
        assert ((await asked.head()).commit, list(await asked.wiki())) == ("0" * 40, ["index.md"])

    async def test_may_be_empty_or_as_large_as_any_page(self, asked: Asked) -> None:
        await asked.write({NEW: b"", PAGE: bytes(MAX_PAGE)})
        assert (await asked.read(PAGE, limit=MAX_PAGE)) == File(PAGE, blob(bytes(MAX_PAGE)), bytes(MAX_PAGE), True)
        assert (await asked.file(NEW)).data == b""

    async def test_of_nothing_writes_nothing(self, repo: Path, asked: Asked) -> None:
        before = on_disk(repo)
        assert await asked.write({}) == Written(None, {})
        assert on_disk(repo) == before

    async def test_may_name_the_branch_that_is_checked_out(self, asked: Asked) -> None:
        edit = Edit("", (Change(NEW, b"x", None),), branch="main")
        assert (await asked.forge.write(asked.repo, edit)).shas == {NEW: blob(b"x")}


class TestPermissions:
    async def test_of_a_file_stay_as_they_are(self, repo: Path, asked: Asked) -> None:
        (repo / PAGE).chmod(0o750)
        await asked.write({PAGE: b"# N\n"})
        assert (repo / PAGE).stat().st_mode & 0o7777 == 0o750

    async def test_of_new_files_and_folders_follow_the_umask(self, repo: Path, asked: Asked) -> None:
        before = os.umask(0o027)
        try:
            await asked.write({".wiki/x/y.md": b"# N\n"})
        finally:
            os.umask(before)
        assert (repo / ".wiki/x/y.md").stat().st_mode & 0o7777 == 0o640
        assert (repo / ".wiki/x").stat().st_mode & 0o7777 == 0o750

    async def test_of_a_private_file_are_never_wider(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (repo / PAGE).chmod(0o600)
        modes = []
        write = os.write

        def looking(descriptor: int, data: bytes) -> int:
            modes.append(os.fstat(descriptor).st_mode & 0o777)
            return write(descriptor, data)

        monkeypatch.setattr(os, "write", looking)
        await asked.write({PAGE: b"# secret\n"})
        assert modes == [0o600]

    async def test_of_hard_links_elsewhere_do_not_let_an_edit_through(self, repo: Path, asked: Asked) -> None:
        (repo / "kept").hardlink_to(repo / PAGE)
        await asked.write({PAGE: b"# N\n"})
        assert (repo / "kept").read_bytes() == b"# A\n"


class TestWhatIsReadAfterwards:
    async def test_is_the_new_file_at_once_and_marked(self, asked: Asked) -> None:
        before = await asked.head()
        await asked.write({NEW: b"# N\n", INDEX: b"# W\n"})
        assert await asked.read(NEW) == File(NEW, blob(b"# N\n"), b"# N\n", uncommitted=True)
        head = await asked.head()
        assert head.uncommitted
        assert head.wiki_tree != before.wiki_tree
        wiki = await asked.wiki()
        assert {path for path, entry in wiki.items() if entry.uncommitted} == {"concepts/new.md", "index.md"}
        assert wiki["concepts/new.md"].sha == blob(b"# N\n")

    async def test_does_not_depend_on_a_wiki_that_was_looked_at_before(self, asked: Asked) -> None:
        old = await asked.head()  # the forge keeps what that saw
        await asked.write({INDEX: b"# W\n"})
        new = await asked.forge.head(asked.repo)
        assert new is not None
        (entry,) = [e for e in await asked.forge.wiki_tree(asked.repo, new) if e.path == "index.md"]
        assert (entry.sha, new == old) == (blob(b"# W\n"), False)

    async def test_has_another_stamp_even_where_size_and_time_are_the_same(self, repo: Path, asked: Asked) -> None:
        before = await asked.listed()
        status = (repo / PAGE).stat()
        await asked.write({PAGE: b"# B\n"})
        os.utime(repo / PAGE, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert (await asked.listed()).stamp != before.stamp

    async def test_is_committed_once_it_is_committed(self, repo: Path, asked: Asked) -> None:
        await asked.write({PAGE: b"# N\n"})
        commit_files(repo, {PAGE: b"# N\n"})
        assert not (await asked.file(PAGE)).uncommitted

    async def test_never_shows_what_is_being_written(self, repo: Path, asked: Asked) -> None:
        before, stamp = await asked.head(), (await asked.listed()).stamp
        (repo / ".wiki/.gateway-0123456789abcdef.tmp").write_bytes(b"half")
        assert (await asked.head(), (await asked.listed()).stamp) == (before, stamp)
        (repo / ".wiki/.gateway-notes.tmp").write_bytes(b"mine")
        assert ".gateway-notes.tmp" in await asked.wiki()


class TestWhatAChangeIsOver:
    async def test_is_what_the_working_tree_has_committed_or_not(self, repo: Path, asked: Asked) -> None:
        (repo / PAGE).write_bytes(b"# Edited\n")
        stale = Edit("", (Change(PAGE, b"# N\n", blob(b"# A\n")),))
        with pytest.raises(Moved) as moved:
            await asked.forge.write(asked.repo, stale)
        assert moved.value.paths == (PAGE,)
        await asked.forge.write(asked.repo, Edit("", (Change(PAGE, b"# N\n", blob(b"# Edited\n")),)))
        assert (repo / PAGE).read_bytes() == b"# N\n"

    @pytest.mark.parametrize(
        "changes",
        [
            (Change(PAGE, b"x", None),),
            (Change(PAGE, b"x", "0" * 40),),
            (Change(PAGE, b"x", ""),),
            (Change(NEW, b"x", blob(b"x")),),
            (Change(".wiki/none/x.md", b"x", blob(b"x")),),
        ],
    )
    async def test_moved_where_it_is_another_one(self, repo: Path, asked: Asked, changes: tuple[Change, ...]) -> None:
        before = on_disk(repo)
        with pytest.raises(Moved) as moved:
            await asked.forge.write(asked.repo, Edit("", changes))
        assert moved.value.paths == (changes[0].path,)
        assert on_disk(repo) == before

    async def test_tells_all_that_moved_and_writes_nothing_for_one_of_them(self, repo: Path, asked: Asked) -> None:
        edit = await asked.edit({NEW: b"# N\n", PAGE: b"# B\n", INDEX: b"# W\n"})
        (repo / NEW).write_bytes(b"theirs")
        (repo / INDEX).unlink()
        before = on_disk(repo)
        with pytest.raises(Moved) as moved:
            await asked.forge.write(asked.repo, edit)
        assert moved.value.paths == (NEW, INDEX)
        assert on_disk(repo) == before

    async def test_moved_where_the_file_is_larger_than_any_that_is_read(self, repo: Path, asked: Asked) -> None:
        edit = await asked.edit({PAGE: b"# N\n"})
        os.truncate(repo / PAGE, MAX_PAGE + 1)
        with pytest.raises(Moved):
            await asked.forge.write(asked.repo, edit)

    async def test_moved_where_one_edit_names_a_file_twice(self, repo: Path, asked: Asked) -> None:
        before = on_disk(repo)
        for sha, path in ((None, NEW), (blob(b"# A\n"), PAGE)):
            with pytest.raises(Moved):
                await asked.forge.write(asked.repo, Edit("", (Change(path, b"1", sha), Change(path, b"2", sha))))
        assert on_disk(repo) == before

    @needs_git
    async def test_may_be_a_commit_whose_file_was_never_checked_out(self, repo: Path, asked: Asked) -> None:
        git(repo, "sparse-checkout", "set", "--cone", "src")
        assert not (repo / ".wiki").exists()
        await asked.write({PAGE: b"# N\n"})
        assert (await asked.file(PAGE)).data == b"# N\n"
        assert (await asked.file(INDEX)).data == b"# Wiki\n"


class TestLineEnds:
    """Bytes are written as given: what converts line ends for git does not for us."""

    @pytest.mark.parametrize("attributes", ["* text=auto eol=crlf\n", "*.md filter=lfs diff=lfs merge=lfs -text\n"])
    async def test_are_written_as_given(self, repo: Path, asked: Asked, attributes: str) -> None:
        commit_files(repo, {".gitattributes": attributes})
        written = await asked.write({NEW: b"a\nb\r\n"})
        assert (repo / NEW).read_bytes() == b"a\nb\r\n"
        assert written.shas == {NEW: blob(b"a\nb\r\n")}

    async def test_of_a_converted_file_count_as_the_committed_ones(self, repo: Path, asked: Asked) -> None:
        """Reads answer what the commit has; a change over that replaces the file as it was checked out."""
        commit_files(repo, {".gitattributes": "* text=auto\n"})
        (repo / PAGE).write_bytes(b"# A\r\n")
        assert await asked.sha(PAGE) == blob(b"# A\n")
        await asked.write({PAGE: b"# A\nmore\n"})
        assert (repo / PAGE).read_bytes() == b"# A\nmore\n"


class TestCallers:
    async def test_that_give_up_wait_until_it_is_known_what_was_done(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit = await asked.edit({NEW: b"# N\n"})
        started, release = threading.Event(), threading.Event()
        fsync = os.fsync

        def slowly(descriptor: int) -> None:
            started.set()
            release.wait(30)
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", slowly)
        async with anyio.create_task_group() as group:
            group.start_soon(asked.forge.write, asked.repo, edit)
            await to_thread.run_sync(started.wait)
            group.cancel_scope.cancel()
            release.set()
        assert (repo / NEW).read_bytes() == b"# N\n"

    async def test_share_the_threads_of_the_forge(self, tmp_path: Path) -> None:
        forge = forge_of(tmp_path)
        for number in range(20):
            make_repo(tmp_path / f"r{number}", FILES)

        async def write(number: int) -> None:
            await forge.write(named(f"local/r{number}"), Edit("", (Change(NEW, b"x", None),)))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(write, number)
        assert all((tmp_path / f"r{number}" / NEW).read_bytes() == b"x" for number in range(20))


class TestWhatNeedsAServer:
    async def test_is_not_there(self, asked: Asked) -> None:
        assert await asked.forge.labels(asked.repo) == {}
        assert await asked.forge.open_pull(asked.repo, "main") is None
        assert list(await asked.forge.recent_issues(asked.repo, since=0)) == []

    async def test_is_refused_with_what_to_do(self, asked: Asked) -> None:
        with pytest.raises(Denied, match="has no issues — set "):
            await asked.forge.demand_issues(asked.repo)
        with pytest.raises(Denied, match="has no issues — set "):
            await asked.forge.file_issue(asked.repo, title="t", body="b", labels=[])
        with pytest.raises(Denied, match="has no pull requests — merge topic there"):
            await asked.forge.propose(asked.repo, "topic", title="t", body="b")
