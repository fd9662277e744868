"""The local forge as a whole: listings, stamps, threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from cache.errors import InvalidArgument, NotConfigured, NotFound, Unavailable
from cache.model import Listed
from sync.forge.base import Forge, ListingPage
from sync.forge.local import LocalForge
from tests.support.local_forge import Asked, forge_of, named
from tests.support.repos import FIRST_COMMIT_AT, commit_files, make_repo

pytestmark = pytest.mark.anyio

PAGE = ".wiki/a.md"
FILES = {PAGE: "# A\n", "STATUS.md": "fine\n", "src/main.py": "print()\n"}
OLD = 1_500_000_000  # seconds since the UTC epoch


async def pages(forge: LocalForge) -> list[ListingPage]:
    return [page async for page in forge.listing()]


async def listed(forge: LocalForge) -> dict[str, Listed]:
    return {project.repo.name: project for page in await pages(forge) for project in page.projects}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


class TestForge:
    def test_is_one(self, tmp_path: Path) -> None:
        forge: Forge = LocalForge("home", [tmp_path], status_paths=["STATUS.md"])
        assert (forge.name, forge.host) == ("home", "local")

    def test_says_what_is_wrong_with_its_roots_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(NotConfigured):
            forge_of()
        with pytest.raises(InvalidArgument):
            forge_of(tmp_path / "a/x", tmp_path / "b/x")

    @pytest.mark.parametrize("path", ["", "/etc/passwd", "../STATUS.md", ".git/config"])
    def test_takes_no_status_path_that_leaves_the_repository(self, tmp_path: Path, path: str) -> None:
        with pytest.raises(InvalidArgument, match="no path below a repository"):
            LocalForge("home", [tmp_path], status_paths=[path])

    def test_brings_dulwich_only_with_the_first_read(self) -> None:
        code = "import sys, sync.forge.local; print('dulwich' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
        assert done.stdout == "False\n"


class TestListing:
    async def test_comes_in_pages_while_it_walks(self, tmp_path: Path) -> None:
        for number in range(120):
            (tmp_path / f"r{number:03}/.git").mkdir(parents=True)
            (tmp_path / f"r{number:03}/.git/HEAD").touch()
        found = await pages(forge_of(tmp_path))
        assert [len(page.projects) for page in found] == [50, 50, 20]
        names = [project.repo.name for page in found for project in page.projects]
        assert names == [f"local/r{number:03}" for number in range(120)]

    async def test_of_nothing_is_empty(self, tmp_path: Path) -> None:
        assert await pages(forge_of(tmp_path)) == []

    async def test_fails_when_a_root_is_gone(self, tmp_path: Path) -> None:
        with pytest.raises(Unavailable):
            await pages(forge_of(tmp_path / "gone"))

    async def test_tells_a_key_a_branch_and_no_page_for_people(self, repo: Path) -> None:
        (project,) = (await listed(forge_of(repo.parent))).values()
        assert project.repo.key.forge == "home"
        assert project.repo.default_branch == "main"
        assert (project.url, project.archived, project.fork, project.empty) == (None, False, False, False)

    async def test_shows_what_find_shows(self, repo: Path) -> None:
        forge = forge_of(repo.parent)
        assert await listed(forge) == {"local/web": await forge.find("local/web")}

    async def test_leaves_out_what_goes_meanwhile(self, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make_repo(repo.parent / "api", FILES)
        forge = forge_of(repo.parent)
        walk = forge._roots.walk

        def walk_then_lose() -> object:
            found = list(walk())
            (repo / ".git").rename(repo / "git")
            return iter(found)

        monkeypatch.setattr(forge._roots, "walk", walk_then_lose)
        assert list(await listed(forge)) == ["local/api"]

    async def test_lets_the_event_loop_run(self, repo: Path) -> None:
        main = threading.get_ident()
        seen: set[int] = set()
        forge = forge_of(repo.parent)
        look = forge._listed

        def noting(name: str) -> Listed:
            seen.add(threading.get_ident())
            return look(name)

        forge._listed = noting  # type: ignore[method-assign]
        await pages(forge)
        assert seen
        assert main not in seen


class TestStamp:
    async def test_stays_while_nothing_changes(self, repo: Path) -> None:
        assert await Asked(repo).listed() == await Asked(repo).listed()

    @pytest.mark.parametrize("path", [PAGE, "STATUS.md", ".tasks/STATUS.md", ".wiki/new/page.md"])
    async def test_changes_with_each_overlaid_file(self, repo: Path, path: str) -> None:
        before = await Asked(repo).listed()
        (repo / path).parent.mkdir(exist_ok=True, parents=True)
        (repo / path).write_bytes(b"edited")
        assert (await Asked(repo).listed()).stamp != before.stamp

    async def test_changes_when_one_goes(self, repo: Path) -> None:
        before = await Asked(repo).listed()
        (repo / PAGE).unlink()
        assert (await Asked(repo).listed()).stamp != before.stamp

    async def test_changes_when_one_is_replaced_by_another_of_the_same_size_and_time(self, repo: Path) -> None:
        before = await Asked(repo).listed()
        status = (repo / PAGE).stat()
        (repo / "other").write_bytes(b"# B\n")
        os.utime(repo / "other", ns=(status.st_atime_ns, status.st_mtime_ns))
        (repo / "other").replace(repo / PAGE)
        assert (await Asked(repo).listed()).stamp != before.stamp

    async def test_changes_with_a_commit(self, repo: Path) -> None:
        before = await Asked(repo).listed()
        commit_files(repo, {"src/main.py": "new\n"})
        assert (await Asked(repo).listed()).stamp != before.stamp

    async def test_does_not_change_with_other_working_files(self, repo: Path) -> None:
        before = await Asked(repo).listed()
        (repo / "src/main.py").write_bytes(b"edited")
        (repo / ".tasks").mkdir()
        (repo / ".tasks/task.md").write_bytes(b"task")
        assert (await Asked(repo).listed()).stamp == before.stamp

    async def test_of_a_bare_repository_is_its_commit_alone(self, tmp_path: Path) -> None:
        one = make_repo(tmp_path / "one", FILES, bare=True)
        other = make_repo(tmp_path / "other", FILES, bare=True)
        assert (await Asked(one).listed()).stamp == (await Asked(other).listed()).stamp


class TestUpdatedAt:
    async def test_of_a_bare_repository_is_when_its_tip_was_committed(self, tmp_path: Path) -> None:
        bare = make_repo(tmp_path / "web", FILES, bare=True)
        assert (await Asked(bare).listed()).updated_at == FIRST_COMMIT_AT
        commit_files(bare, {PAGE: "x"}, at=OLD)
        assert (await Asked(bare).listed()).updated_at == OLD

    async def test_is_that_of_the_newest_overlaid_file_where_that_is_later(self, repo: Path) -> None:
        for path in (".wiki/a.md", "STATUS.md"):
            os.utime(repo / path, (OLD, OLD))
        assert (await Asked(repo).listed()).updated_at == FIRST_COMMIT_AT
        os.utime(repo / "STATUS.md", (FIRST_COMMIT_AT + 9.5, FIRST_COMMIT_AT + 9.5))
        assert (await Asked(repo).listed()).updated_at == FIRST_COMMIT_AT + 9.5

    async def test_of_nothing_is_unknown(self, tmp_path: Path) -> None:
        assert (await Asked(make_repo(tmp_path / "web", {})).listed()).updated_at is None


class TestFind:
    @pytest.mark.parametrize("name", ["local/none", "web", "local/web/src", "local/../web", ""])
    async def test_of_anything_else_is_not_found(self, repo: Path, name: str) -> None:
        with pytest.raises(NotFound):
            await forge_of(repo.parent).find(name)


class TestThreads:
    async def test_are_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(6):
            make_repo(tmp_path / f"r{number}", FILES)
        forge = LocalForge("home", [tmp_path], status_paths=[], max_in_flight=2)
        visit = forge._visit
        inside: list[str] = []
        most = 0
        lock = threading.Lock()

        def counted(name: str, act: object) -> object:
            nonlocal most
            with lock:
                inside.append(name)
                most = max(most, len(inside))
            try:
                return visit(name, act)  # type: ignore[arg-type]
            finally:
                with lock:
                    inside.remove(name)

        monkeypatch.setattr(forge, "_visit", counted)
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(forge.head, named(f"local/r{number}"))
        assert 1 <= most <= 2

    async def test_that_hang_do_not_hold_a_caller_who_gives_up(
        self, repo: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        forge = forge_of(repo.parent)
        started, release = threading.Event(), threading.Event()

        def hang(*_: object) -> None:
            started.set()
            release.wait(30)

        monkeypatch.setattr(forge, "_visit", hang)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(forge.head, named("local/web"))
                await to_thread.run_sync(started.wait)
                group.cancel_scope.cancel()
        finally:
            release.set()
