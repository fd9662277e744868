"""Writers that are killed, that meet others, and that fail half-way: nothing is half, nothing of others is lost."""

from __future__ import annotations

import errno
import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest
from anyio import create_task_group, run_process

from cache.errors import KnowledgeError
from sync.forge.writing import Moved, Unsettled
from tests.support.disturbing import Interference
from tests.support.local_forge import Asked
from tests.support.repos import make_repo

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[4]
INDEX, PAGE, NEW = ".wiki/index.md", ".wiki/concepts/a.md", ".wiki/entities/new.md"
FILES = {INDEX: "# Wiki\n", PAGE: "# A\n", "STATUS.md": "fine\n"}
PAGE_AND_INDEX = {NEW: b"# New\n" * 1000, INDEX: b"# Wiki\n- [New](entities/new.md)\n"}

# Writes the same edit to each repository; the N-th time it is killed at the N-th call that changes the file system.
KILLED = """
import json, sys
from pathlib import Path
import anyio
from sync.forge.local import history, writer
from tests.support.disturbing import die_at, forked
from tests.support.local_forge import Asked

async def write(step, repo):
    asked = Asked(Path(repo))
    edit = await asked.edit({path: text.encode() for path, text in json.loads(sys.argv[1]).items()})
    die_at(step)
    await asked.forge.write(asked.repo, edit)

print(json.dumps(forked(lambda step, repo: anyio.run(write, step, repo), sys.argv[2:])))
"""

ADDING = """
import sys
from pathlib import Path
import anyio
from sync.forge.writing import Change, Edit, Moved
from tests.support.local_forge import Asked

async def add(asked, line):
    while True:
        index = await asked.file(".wiki/index.md")
        page = f".wiki/{line}.md"
        changes = (Change(page, line.encode(), None), Change(index.path, index.data + f"{line}\\n".encode(), index.sha))
        try:
            return await asked.forge.write(asked.repo, Edit("", changes))
        except Moved as moved:
            assert moved.paths == (index.path,), moved.paths

async def main():
    asked = Asked(Path(sys.argv[1]))
    async with anyio.create_task_group() as group:
        for number in range(int(sys.argv[3])):
            group.start_soon(add, asked, f"{sys.argv[2]}-{number}")

anyio.run(main)
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


def files(repo: Path) -> dict[str, bytes]:
    found = (path for top in (".wiki", ".tasks") for path in (repo / top).rglob("*"))
    return {str(path.relative_to(repo)): path.read_bytes() for path in found if path.is_file()}


class TestKilledWriters:
    @pytest.mark.parametrize("edit", [PAGE_AND_INDEX, {PAGE: b"# Newer\n", INDEX: b"# W\n"}])
    async def test_leave_whole_files_and_nothing_in_the_way_of_the_next(
        self, tmp_path: Path, edit: dict[str, bytes]
    ) -> None:
        repos = [make_repo(tmp_path / f"r{step}", FILES) for step in range(14)]
        texts = json.dumps({path: data.decode() for path, data in edit.items()})
        run = await run_process([sys.executable, "-c", KILLED, texts, *map(str, repos)], cwd=ROOT)
        ends = json.loads(run.stdout)
        assert set(ends) == {-9, 0}
        assert ends == sorted(ends)
        before = {path: text.encode() for path, text in FILES.items() if path.startswith(".wiki")}
        page = next(iter(edit))
        stages = (before, {**before, page: edit[page]}, {**before, **edit})
        seen = set()
        for repo in repos:
            left = {path: data for path, data in files(repo).items() if not path.endswith(".tmp")}
            seen.add(stages.index(left))
            asked = Asked(repo)
            assert {f".wiki/{path}" for path in await asked.wiki()} == left.keys()
            await asked.write(edit)
            assert files(repo) == stages[-1]
        assert seen == {0, 1, 2}


class TestManyWriters:
    async def test_lose_nothing(self, repo: Path, asked: Asked) -> None:
        async with create_task_group() as group:
            for name in "abc":
                group.start_soon(partial(run_process, [sys.executable, "-c", ADDING, str(repo), name, "6"], cwd=ROOT))
        lines = (await asked.file(INDEX)).data.decode().splitlines()
        expected = [f"{name}-{number}" for name in "abc" for number in range(6)]
        assert sorted(lines[1:]) == expected
        assert {path for path in await asked.wiki() if path[0] in "abc" and path[1] == "-"} == {
            f"{name}.md" for name in expected
        }
        assert not [path for path in files(repo) if path.endswith(".tmp")]


class TestEditsByOthers:
    """By programs that know of no lock, at the worst moments."""

    @pytest.mark.parametrize("call", ["fsync", "link"])
    async def test_while_files_are_staged_or_put_in_place_are_kept_and_nothing_is_written(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        edit = await asked.edit(PAGE_AND_INDEX)
        Interference(monkeypatch, call, lambda: (repo / INDEX).write_bytes(b"# Theirs\n"))
        with pytest.raises(Moved) as moved:
            await asked.forge.write(asked.repo, edit)
        assert moved.value.paths == (INDEX,)
        assert files(repo) == {INDEX: b"# Theirs\n", PAGE: b"# A\n"}
        assert not (repo / ".wiki/entities").exists()

    async def test_bring_back_what_was_there_with_its_permissions(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (repo / PAGE).chmod(0o640)
        edit = await asked.edit({PAGE: b"# B\n", INDEX: b"# W\n"})
        Interference(monkeypatch, "rename", (repo / INDEX).unlink)
        with pytest.raises(Moved):
            await asked.forge.write(asked.repo, edit)
        assert files(repo) == {PAGE: b"# A\n"}
        assert (repo / PAGE).stat().st_mode & 0o777 == 0o640

    async def test_of_a_file_just_written_are_not_taken_back(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit = await asked.edit(PAGE_AND_INDEX)

        def interfere() -> None:
            (repo / NEW).write_bytes(b"# Theirs\n")
            raise OSError(errno.EIO, "Input/output error")

        Interference(monkeypatch, "rename", interfere)
        with pytest.raises(KnowledgeError, match="local/web cannot be written: Input/output error"):
            await asked.forge.write(asked.repo, edit)
        assert files(repo) == {INDEX: b"# Wiki\n", PAGE: b"# A\n", NEW: b"# Theirs\n"}

    async def test_that_make_the_same_file_are_not_replaced(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit = await asked.edit({".wiki/new.md": b"ours", INDEX: b"# W\n"})
        Interference(monkeypatch, "link", lambda: (repo / ".wiki/new.md").write_bytes(b"theirs"))
        with pytest.raises(Moved) as moved:
            await asked.forge.write(asked.repo, edit)
        assert moved.value.paths == (".wiki/new.md",)
        assert files(repo) == {INDEX: b"# Wiki\n", PAGE: b"# A\n", ".wiki/new.md": b"theirs"}

    async def test_that_put_something_into_a_folder_made_for_nothing_keep_it(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit = await asked.edit(PAGE_AND_INDEX)

        def interfere() -> None:
            (repo / ".wiki/entities/theirs.md").write_bytes(b"theirs")
            (repo / INDEX).unlink()

        Interference(monkeypatch, "link", interfere)
        with pytest.raises(Moved):
            await asked.forge.write(asked.repo, edit)
        assert files(repo) == {PAGE: b"# A\n", ".wiki/entities/theirs.md": b"theirs"}


class TestLinksPutThereMeanwhile:
    @pytest.mark.parametrize("call", ["fsync", "rename"])
    async def test_in_place_of_a_folder_lead_nowhere(
        self, repo: Path, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/a.md").write_bytes(b"secret")
        edit = await asked.edit({PAGE: b"# B\n"})

        def swap() -> None:
            (repo / ".wiki/concepts").rename(repo / ".wiki/moved")
            (repo / ".wiki/concepts").symlink_to(tmp_path / "elsewhere")

        Interference(monkeypatch, call, swap)
        await asked.forge.write(asked.repo, edit)
        assert (repo / ".wiki/moved/a.md").read_bytes() == b"# B\n"  # the folder that was opened
        assert files(tmp_path / "elsewhere") == {}
        assert (tmp_path / "elsewhere/a.md").read_bytes() == b"secret"

    async def test_in_place_of_a_file_are_replaced_not_followed(
        self, repo: Path, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "secret").write_bytes(b"secret")
        edit = await asked.edit({PAGE: b"# B\n"})

        def swap() -> None:
            (repo / PAGE).unlink()
            (repo / PAGE).symlink_to(tmp_path / "secret")

        Interference(monkeypatch, "rename", swap)
        await asked.forge.write(asked.repo, edit)
        assert (tmp_path / "secret").read_bytes() == b"secret"
        assert not (repo / PAGE).is_symlink()

    async def test_in_place_of_a_new_folder_are_refused(
        self, repo: Path, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        edit = await asked.edit(PAGE_AND_INDEX)
        Interference(monkeypatch, "mkdir", lambda: (repo / ".wiki/entities").symlink_to(tmp_path / "elsewhere"))
        with pytest.raises(KnowledgeError, match="a symbolic link is in the way"):
            await asked.forge.write(asked.repo, edit)
        assert list((tmp_path / "elsewhere").iterdir()) == []
        assert files(repo) == {INDEX: b"# Wiki\n", PAGE: b"# A\n"}


class TestFailures:
    @pytest.mark.parametrize("call", ["mkdir", "write", "fsync", "link", "rename"])
    async def test_at_any_step_leave_everything_as_it_was(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        edit = await asked.edit(PAGE_AND_INDEX)

        def fail() -> None:
            raise OSError(errno.EIO, "Input/output error")

        Interference(monkeypatch, call, fail)
        with pytest.raises(KnowledgeError, match="local/web cannot be written: Input/output error"):
            await asked.forge.write(asked.repo, edit)
        assert files(repo) == {INDEX: b"# Wiki\n", PAGE: b"# A\n"}
        assert not (repo / ".wiki/entities").exists()

    async def test_to_take_something_back_are_told(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit = await asked.edit(PAGE_AND_INDEX)

        def fail(*args: object, **options: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "rename", fail)
        monkeypatch.setattr(os, "unlink", fail)
        with pytest.raises(Unsettled, match=f"^{NEW} in local/web was written, what belongs to it was not"):
            await asked.forge.write(asked.repo, edit)

    async def test_to_confirm_what_was_written_are_told(
        self, repo: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(folder: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr("sync.forge.local.writer.flush", fail)
        with pytest.raises(Unsettled, match="did not confirm"):
            await asked.write(PAGE_AND_INDEX)
        assert files(repo) == {PAGE: b"# A\n", **PAGE_AND_INDEX}
