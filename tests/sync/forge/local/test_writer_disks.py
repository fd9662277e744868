"""Disks and folders that cannot be written: said in one line, and nothing is there in half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cache.errors import Denied
from tests.support.local_forge import Asked
from tests.support.mounts import Disk, disk
from tests.support.repos import make_repo
from tests.support.unprivileged import run_unprivileged, shared_folder

pytestmark = pytest.mark.anyio

INDEX, PAGE, NEW = ".wiki/index.md", ".wiki/concepts/a.md", ".wiki/concepts/new.md"
FILES = {INDEX: "# Wiki\n", PAGE: "# A\n", "STATUS.md": "fine\n"}


class TestDisks:
    @pytest.fixture
    def small(self, tmp_path: Path) -> Iterator[Disk]:
        with disk(tmp_path / "disk", kib=512) as small:
            yield small

    @pytest.fixture
    def repo(self, small: Disk) -> Path:
        return make_repo(small.path / "web", FILES)

    async def test_that_are_full_get_nothing_half_written(self, small: Disk, repo: Path, asked: Asked) -> None:
        edit = await asked.edit({NEW: b"# N\n", PAGE: b"more " * 50_000, ".wiki/x/y.md": b"x"})
        small.fill()
        line = "no space is left to write local/web — free some; nothing was written"
        with pytest.raises(Denied) as caught:
            await asked.forge.write(asked.repo, edit)
        assert caught.value.message == line
        small.empty()
        assert {str(path.relative_to(repo)) for path in (repo / ".wiki").rglob("*")} == {
            INDEX, ".wiki/concepts", PAGE,
        }  # fmt: skip
        assert (repo / PAGE).read_bytes() == b"# A\n"

    async def test_that_become_full_in_the_middle_of_a_file_get_nothing_either(self, repo: Path, asked: Asked) -> None:
        with pytest.raises(Denied, match="no space is left"):
            await asked.write({NEW: b"# N\n", PAGE: b"more " * 200_000})
        assert {path.name for path in (repo / ".wiki/concepts").iterdir()} == {"a.md"}
        assert (repo / PAGE).read_bytes() == b"# A\n"

    async def test_that_are_read_only_say_so(self, small: Disk, asked: Asked) -> None:
        small.freeze()
        for path in (NEW, ".wiki/x/y.md"):
            with pytest.raises(Denied) as caught:
                await asked.write({path: b"x"})
            assert caught.value.message == "local/web is on a read-only file system — mount it for writing"


IMPORTS = """
from pathlib import Path
from cache.errors import KnowledgeError
from sync.forge.local import writer
from tests.support.local_forge import Asked
"""

WRITING = """
async def main():
    try:
        await Asked(Path(sys.argv[0])).write({path: b"new" for path in sys.argv[1:]})
    except KnowledgeError as error:
        return error.line

print(json.dumps(anyio.run(main)))
"""


class TestMissingPermissions:
    @pytest.fixture
    def repo(self) -> Iterator[Path]:
        with shared_folder() as root:
            yield make_repo(root / "web", FILES)

    @staticmethod
    def open_for_all(repo: Path) -> None:
        for path in (repo / ".wiki").rglob("*"):
            path.chmod(0o777)
        (repo / ".wiki").chmod(0o777)

    @pytest.mark.parametrize(
        ("deny", "paths"),
        [
            (lambda repo: (repo / ".wiki").chmod(0o555), [INDEX]),
            (lambda repo: (repo / ".wiki").chmod(0o555), [PAGE, INDEX]),
            (lambda repo: (repo / ".wiki/concepts").chmod(0o555), [INDEX, NEW]),
            (lambda repo: (repo / ".wiki").chmod(0o555), [".wiki/x/y.md"]),
            (lambda repo: repo.chmod(0o555), [NEW, ".tasks/x.md"]),
        ],
    )
    async def test_are_told_and_nothing_is_written(
        self, repo: Path, deny: Callable[[Path], object], paths: list[str]
    ) -> None:
        self.open_for_all(repo)
        deny(repo)
        before = {path: path.read_bytes() for path in (repo / ".wiki").rglob("*.*")}
        assert run_unprivileged(IMPORTS, WRITING, str(repo), *paths) == (
            "denied: no permission to write local/web — let the gateway's user write its folders"
        )
        assert {path: path.read_bytes() for path in (repo / ".wiki").rglob("*.*")} == before

    async def test_to_read_what_would_be_replaced_are_told_as_that(self, repo: Path) -> None:
        self.open_for_all(repo)
        (repo / PAGE).chmod(0o000)
        assert run_unprivileged(IMPORTS, WRITING, str(repo), PAGE) == (
            "denied: no permission to read local/web — give the gateway's user access to its files"
        )

    async def test_of_other_folders_do_not_matter(self, repo: Path) -> None:
        self.open_for_all(repo)
        assert run_unprivileged(IMPORTS, WRITING, str(repo), NEW, INDEX) is None
        assert ((repo / NEW).read_bytes(), (repo / INDEX).read_bytes()) == (b"new", b"new")
