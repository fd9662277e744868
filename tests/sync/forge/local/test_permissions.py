"""What the gateway's user may not read: said for that repository, never taken for something that is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.repos import make_repo
from tests.support.unprivileged import run_unprivileged, shared_folder

FILES = {".wiki/a.md": "# A\n", ".wiki/sub/b.md": "# B\n", "STATUS.md": "fine\n"}

IMPORTS = """
from pathlib import Path
from cache.errors import KnowledgeError
from sync.forge.local import view
from tests.support.local_forge import Asked, forge_of, named
"""

LISTING = """
async def main():
    pages = [page async for page in forge_of(Path(sys.argv[0])).listing()]
    return [
        [project.repo.name for page in pages for project in page.projects],
        [name for page in pages for name in page.hidden],
    ]
"""

READING = """
async def attempt(work):
    try:
        return str(await work)
    except KnowledgeError as error:
        return error.line

async def main():
    asked = Asked(Path(sys.argv[0]))
    paths = sys.argv[1:]
    return [await attempt(asked.head())] + [await attempt(asked.read(path)) for path in paths]
"""

RUN = """
try:
    result = anyio.run(main)
except KnowledgeError as error:
    result = error.line
print(json.dumps(result))
"""


@pytest.fixture
def root() -> Iterator[Path]:
    with shared_folder() as folder:
        yield folder


def listing(root: Path) -> object:
    return run_unprivileged(IMPORTS, LISTING + RUN, str(root))


def reading(repo: Path, *paths: str) -> list[str]:
    lines = run_unprivileged(IMPORTS, READING + RUN, str(repo), *paths)
    assert isinstance(lines, list)
    return [str(line) for line in lines]


def test_a_folder_that_may_not_be_read_is_hidden_and_the_rest_listed(root: Path) -> None:
    make_repo(root / "a", FILES)
    make_repo(root / "b/inner", FILES)
    make_repo(root / "c/inner", FILES)
    make_repo(root / "d", FILES)
    (root / "b").chmod(0o311)
    (root / "c").chmod(0o644)
    assert listing(root) == [["local/a", "local/d"], ["local/b", "local/c/inner"]]


def test_a_root_that_may_not_be_read_makes_the_listing_fail(root: Path) -> None:
    (root / "src").mkdir(mode=0o700)
    line = "unavailable: the root src cannot be read: permission denied — mend roots under [forge]"
    assert listing(root / "src") == line


@pytest.mark.parametrize(
    "deny",
    [
        lambda repo: (repo / ".git").chmod(0o000),
        lambda repo: (repo / ".git/HEAD").chmod(0o000),
        lambda repo: (repo / ".git/config").chmod(0o000),
        lambda repo: (repo / ".git/refs/heads/main").chmod(0o000),
        lambda repo: (repo / ".git/refs/heads").chmod(0o000),
        lambda repo: (repo / ".git/objects").chmod(0o000),
        lambda repo: [path.chmod(0o000) for path in (repo / ".git/objects").glob("??")],
        lambda repo: [path.chmod(0o000) for path in (repo / ".git/objects").glob("??/*")],
    ],
)
def test_git_data_that_may_not_be_read_is_denied_and_the_repository_still_listed(
    root: Path, deny: Callable[[Path], object]
) -> None:
    repo = make_repo(root / "web", FILES)
    deny(repo)
    assert listing(root) == [["local/web"], []]
    denied = "denied: no permission to read local/web — give the gateway's user access to its files"
    assert reading(repo, "README.md") == [denied, denied]


def test_a_git_file_that_may_not_be_read_is_denied_and_the_repository_still_listed(root: Path) -> None:
    repo = make_repo(root / "web", FILES)
    (repo / ".git").rename(root / "web/control")
    (repo / ".git").write_text("gitdir: control\n")
    (repo / ".git").chmod(0o000)
    assert listing(root) == [["local/web", "local/web/control"], []]
    assert reading(repo)[0].startswith("denied: no permission to read local/web")


@pytest.mark.parametrize("denied", [".wiki", ".wiki/sub", ".wiki/sub/b.md"])
def test_working_files_that_may_not_be_read_are_denied_not_deleted(root: Path, denied: str) -> None:
    repo = make_repo(root / "web", FILES)
    (repo / denied).chmod(0o000)
    head, page = reading(repo, ".wiki/sub/b.md")
    assert head.startswith("denied: no permission to read local/web")
    assert page.startswith("denied: no permission to read local/web")


def test_a_repository_behind_a_folder_that_may_not_be_entered_is_denied(root: Path) -> None:
    repo = make_repo(root / "closed/web", FILES)
    (root / "closed").chmod(0o644)
    line = run_unprivileged(
        IMPORTS,
        """
async def main():
    await forge_of(Path(sys.argv[0])).head(named("local/closed/web"))
"""
        + RUN,
        str(repo.parents[1]),
    )
    assert line == "denied: no permission to read local/closed/web — give the gateway's user access to its files"
