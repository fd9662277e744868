"""Repositories that are broken, break while they are read, or are hostile: always one of our errors, on one line."""

from __future__ import annotations

import gc
import os
import resource
import shutil
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cache.errors import NotFound, Unavailable
from cache.model import MAX_PAGE
from sync.forge.base import Absent, TooBig
from tests.support.git import git, needs_git
from tests.support.local_forge import Asked, forge_of, named
from tests.support.raw_git import add_commit, add_loose, loose
from tests.support.repos import make_repo

pytestmark = pytest.mark.anyio

PAGE = ".wiki/a.md"
FILES = {PAGE: "# A\n", ".wiki/sub/b.md": "# B\n", "STATUS.md": "fine\n"}

Damage = Callable[[Path], object]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "web", FILES)


def replace(file: Path, content: bytes) -> None:
    """Write over a file that git made read-only."""
    file.chmod(0o600)
    file.write_bytes(content)


def lose(path: Path) -> None:
    """Move something away."""
    path.rename(path.with_name("lost"))


async def failure(path: Path) -> str:
    """The one line that head, wiki and read fail with, each of them; and what the listing makes of it."""
    asked = Asked(path)
    with pytest.raises(Unavailable) as caught:
        await asked.head()
    with pytest.raises(Unavailable):
        await asked.read("README.md")
    for line in (caught.value.line, caught.value.message):
        assert "\n" not in line
        assert str(path.parent) not in line
    assert caught.value.message.startswith(f"local/{path.name} cannot be read: ")
    assert caught.value.host == "local"
    return caught.value.message


class TestBrokenControlFiles:
    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (lambda git: (git / "HEAD").write_bytes(b""), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").write_bytes(b"\xff\0"), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").write_bytes(b"ref: ../../secret\n"), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").write_bytes(b"ref: /etc/passwd\n"), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").write_bytes(b"ref: refs/heads/../../config\n"), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").write_bytes(b"a" * 41), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").write_bytes(b"a" * 64), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").write_bytes(b"a" * 10_000), "its HEAD is malformed"),
            (lambda git: (git / "HEAD").unlink(), "its HEAD is missing"),
            (lambda git: (git / "refs/heads/main").write_bytes(b"no name\n"), "its refs/heads/main is malformed"),
            (lambda git: (git / "refs/heads/main").write_bytes(b""), "its refs/heads/main is malformed"),
            (
                lambda git: (git / "refs/heads/main").write_bytes(b"ref: refs/heads/main\n"),
                "its HEAD points in a circle",
            ),
            (lambda git: (git / "config").write_bytes(b"bare\0[[["), "its config is malformed"),
            (
                lambda git: (git / "config").write_text("[core]\nrepositoryformatversion = 9\n"),
                "newer repository format",
            ),
            (lambda git: (git / "config").write_text("[extensions]\nobjectformat = md5\n"), "unknown object format"),
            (
                lambda git: (git / "config").write_text("[extensions]\nrefstorage = x\n"),
                "unknown way to store references",
            ),
            (lambda git: (git / "objects").rename(git / "moved"), "its objects folder is missing"),
            (lambda git: (git / "commondir").write_bytes(b"\n"), "its commondir file is malformed"),
            (lambda git: (git / "commondir").write_bytes(b"../nowhere\n"), "it changed or went meanwhile"),
            (lambda git: os.mkfifo(git / "commondir"), "its commondir file is malformed"),
        ],
    )
    async def test_are_told_by_name(self, repo: Path, damage: Damage, message: str) -> None:
        damage(repo / ".git")
        assert message in await failure(repo)

    async def test_damaged_index_matters_where_a_file_is_missing(self, repo: Path) -> None:
        (repo / ".git/index").write_bytes(b"rubbish")
        assert (await Asked(repo).file(PAGE)).data == b"# A\n"
        (repo / PAGE).unlink()
        with pytest.raises(Unavailable, match="its index is damaged"):
            await Asked(repo).read(PAGE)

    async def test_fifos_do_not_block(self, repo: Path) -> None:
        for name in ("HEAD", "config", "refs/heads/main", "packed-refs", "index", "objects/info/alternates"):
            (repo / ".git" / name).unlink(missing_ok=True)
            (repo / ".git" / name).parent.mkdir(exist_ok=True)
            os.mkfifo(repo / ".git" / name)
        await failure(repo)

    async def test_a_git_file_that_names_nothing_says_how_to_mend_it(self, tmp_path: Path) -> None:
        (tmp_path / "web").mkdir()
        (tmp_path / "web/.git").write_text("gitdir: /nowhere\n")
        assert "git worktree repair" in await failure(tmp_path / "web")


class TestBrokenObjects:
    async def test_missing_commit(self, repo: Path) -> None:
        (repo / ".git/refs/heads/main").write_text("1" * 40 + "\n")
        assert f"its object {'1' * 40} is missing" in await failure(repo)

    async def test_branch_of_something_else_than_a_commit(self, repo: Path) -> None:
        blob = add_loose(repo, b"blob", b"x")
        (repo / ".git/refs/heads/main").write_text(blob)
        assert "is not a commit" in await failure(repo)

    async def test_commit_without_a_tree(self, repo: Path) -> None:
        (repo / ".git/refs/heads/main").write_text(add_loose(repo, b"commit", b"no tree\n"))
        assert "is malformed" in await failure(repo)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"no zlib",
            zlib.compress(b"commit"),
            zlib.compress(b"commit 5"),
            zlib.compress(b"commit 5\0"),
            zlib.compress(b"commit 3\0tree "),
            zlib.compress(b"commit -5\0tree "),
            zlib.compress(b"commit x\0tree "),
            zlib.compress(b"thing 5\0tree "),
            zlib.compress(b"commit 5\0tree ")[:-5],
            zlib.compress(b"commit 5\0other"),
            zlib.compress(b"x" * 100_000),
        ],
    )
    async def test_damaged_loose_object(self, repo: Path, content: bytes) -> None:
        head = (repo / ".git/refs/heads/main").read_text().strip()
        replace(loose(repo, head), content)
        assert f"its object {head} is damaged" in await failure(repo)

    async def test_object_that_is_a_fifo(self, repo: Path) -> None:
        head = (repo / ".git/refs/heads/main").read_text().strip()
        loose(repo, head).unlink()
        os.mkfifo(loose(repo, head))
        assert "is damaged" in await failure(repo)

    async def test_content_that_has_not_its_name_is_never_served(self, tmp_path: Path) -> None:
        bare = make_repo(tmp_path / "web", FILES, bare=True)
        asked = Asked(bare)
        sha = (await asked.wiki())["a.md"].sha
        replace(bare / "objects" / sha[:2] / sha[2:], zlib.compress(b"blob 4\0# Z\n"))
        with pytest.raises(Unavailable, match="is damaged"):
            await asked.read(PAGE)

    async def test_damaged_tree(self, repo: Path) -> None:
        tree = add_loose(repo, b"tree", b"100644 cut")
        add_commit(repo, (b"40000", b".wiki", tree))
        with pytest.raises(Unavailable):
            await Asked(repo).head()

    async def test_names_that_no_file_can_have_are_left_out(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "web", FILES)
        blob = add_loose(repo, b"blob", b"x")
        names = (b"", b".", b"..", b"a/b.md", b"\xff.md", b"good.md")
        tree = add_loose(
            repo, b"tree", b"".join(b"100644 " + name + b"\0" + bytes.fromhex(blob) for name in sorted(names))
        )
        add_commit(repo, (b"40000", b".wiki", tree))
        (repo / ".git/config").write_text("[core]\n\tbare = true\n")
        assert list(await Asked(repo).wiki()) == ["good.md"]
        assert await Asked(repo).read(".wiki/a/b.md") == Absent(".wiki/a/b.md")

    @needs_git
    @pytest.mark.parametrize("suffix", [".pack", ".idx"])
    @pytest.mark.parametrize("how", ["cut", "zeroed", "garbled", "emptied", "fifo"])
    async def test_damaged_pack(self, repo: Path, suffix: str, how: str) -> None:
        git(repo, "gc", "-q")
        (pack,) = (repo / ".git/objects/pack").glob(f"*{suffix}")
        size = pack.stat().st_size
        if how == "fifo":
            pack.unlink()
            os.mkfifo(pack)
        else:
            data = pack.read_bytes()
            garbled = data[:16] + bytes(byte ^ 0x55 for byte in data[16:-20]) + data[-20:]
            replace(pack, {"cut": data[: size // 3], "zeroed": bytes(size), "garbled": garbled, "emptied": b""}[how])
        await failure(repo)
        gc.collect()  # what was left open would complain

    @needs_git
    async def test_damaged_pack_beside_a_good_one_does_no_harm(self, repo: Path) -> None:
        git(repo, "gc", "-q")
        folder = repo / ".git/objects/pack"
        (folder / "pack-1.idx").write_bytes(b"rubbish")
        (folder / "pack-1.pack").write_bytes(b"rubbish")
        (folder / "pack-2.idx").write_bytes(b"lonely")
        assert (await Asked(repo).file(PAGE)).data == b"# A\n"

    @needs_git
    async def test_pack_index_of_an_unknown_version(self, repo: Path) -> None:
        git(repo, "gc", "-q")
        (index,) = (repo / ".git/objects/pack").glob("*.idx")
        replace(index, b"\377tOc\0\0\0\x09" + index.read_bytes()[8:])
        assert "its pack index is damaged" in await failure(repo)

    @needs_git
    async def test_repacking_between_two_reads_does_no_harm(self, repo: Path) -> None:
        asked = Asked(repo)
        await asked.wiki()
        git(repo, "gc", "-q")
        assert (await asked.file(PAGE)).data == b"# A\n"
        git(repo, "repack", "-q", "-a", "-d", "-f", "--depth=1")
        assert (await asked.file(PAGE)).data == b"# A\n"

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.data())
    async def test_flipped_bits_anywhere_raise_nothing_else(self, tmp_path: Path, data: st.DataObject) -> None:
        repo = tmp_path / "fuzzed"
        if not repo.exists():
            make_repo(repo, FILES, bare=True)
        files = sorted(path for path in repo.rglob("*") if path.is_file())
        file = data.draw(st.sampled_from(files))
        original = file.read_bytes()
        at = data.draw(st.integers(0, max(0, len(original) - 1)))
        replace(file, original[:at] + data.draw(st.binary(max_size=3)) + original[at + 1 :])
        try:
            asked = Asked(repo)
            head = await asked.forge.head(asked.repo)
            if head is not None:
                await asked.forge.wiki_tree(asked.repo, head)
            await asked.read(PAGE)
        except Unavailable:
            pass
        finally:
            file.write_bytes(original)


class TestBounds:
    async def test_a_small_file_that_inflates_without_end_is_refused_by_what_it_announces(self, repo: Path) -> None:
        text = b"blob %d\0" % 2**40 + bytes(10 * MAX_PAGE)
        name = sha1(b"bomb", usedforsecurity=False).hexdigest()
        loose(repo, name).parent.mkdir(exist_ok=True)
        loose(repo, name).write_bytes(zlib.compress(text))
        add_commit(repo, (b"100644", b"bomb", name))
        assert await Asked(repo).read("bomb") == TooBig("bomb", 1048576)

    async def test_a_small_file_that_inflates_to_more_than_it_announces_is_damaged(self, repo: Path) -> None:
        name = add_loose(repo, b"blob", bytes(10 * MAX_PAGE), announced=10)
        add_commit(repo, (b"100644", b"bomb", name))
        with pytest.raises(Unavailable, match="is damaged"):
            await Asked(repo).read("bomb")

    async def test_a_commit_or_tree_of_many_megabytes_is_not_read(self, repo: Path) -> None:
        (repo / ".git/refs/heads/main").write_text(add_loose(repo, b"commit", bytes(2 * 1024 * 1024)))
        assert "it has an object of 2097152 bytes" in await failure(repo)

    async def test_trees_that_multiply_end(self, repo: Path) -> None:
        blob = add_loose(repo, b"blob", b"x")
        tree = add_loose(repo, b"tree", b"100644 a\0" + bytes.fromhex(blob))
        for _ in range(12):
            tree = add_loose(repo, b"tree", b"".join(b"40000 %d\0" % i + bytes.fromhex(tree) for i in range(10)))
        add_commit(repo, (b"40000", b".wiki", tree))
        with pytest.raises(Unavailable, match="too many files"):
            await Asked(repo).head()

    async def test_trees_that_go_deep_end(self, repo: Path) -> None:
        blob = add_loose(repo, b"blob", b"x")
        tree = add_loose(repo, b"tree", b"100644 a\0" + bytes.fromhex(blob))
        for _ in range(200):
            tree = add_loose(repo, b"tree", b"40000 d\0" + bytes.fromhex(tree))
        add_commit(repo, (b"40000", b".wiki", tree))
        with pytest.raises(Unavailable, match="too many files"):
            await Asked(repo).head()

    async def test_folders_that_go_deep_end(self, repo: Path) -> None:
        (repo / ".wiki/deep" / "/".join("d" * 100)).mkdir(parents=True)
        with pytest.raises(Unavailable, match="too many files"):
            await Asked(repo).head()

    async def test_a_thousand_alternates_are_not_all_opened(self, repo: Path) -> None:
        lenders = repo / ".git/objects/info/alternates"
        lenders.parent.mkdir(exist_ok=True)
        lenders.write_text("../objects\n" * 4000)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
        try:
            (repo / ".git/refs/heads/main").write_text("1" * 40 + "\n")
            assert "is missing" in await failure(repo)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    async def test_a_reference_to_a_commit_may_not_be_a_path(self, repo: Path) -> None:
        for ref in ("../../../../etc/passwd", "main", "", "HEAD", "A" * 40, "1" * 39, "1" * 64):
            with pytest.raises(Unavailable, match="malformed object name"):
                await Asked(repo).read(PAGE, ref=ref)


class TestDisappearance:
    async def test_of_the_objects_between_the_head_and_a_read_is_told(self, repo: Path) -> None:
        head = await Asked(repo).head()
        for folder in (repo / ".git/objects").iterdir():
            shutil.rmtree(folder)
        with pytest.raises(Unavailable, match=f"local/web cannot be read: its object {head.commit} is missing"):
            await Asked(repo).read(PAGE, ref=head.commit)

    async def test_before_a_read_is_not_found(self, repo: Path) -> None:
        asked = Asked(repo)
        lose(repo)
        with pytest.raises(NotFound, match="no repository local/web"):
            await asked.head()

    async def test_of_git_s_folder_is_not_found(self, repo: Path) -> None:
        lose(repo / ".git")
        with pytest.raises(NotFound):
            await Asked(repo).listed()

    async def test_a_folder_without_a_repository_is_not_found(self, tmp_path: Path) -> None:
        (tmp_path / "web").mkdir()
        for asked in (Asked(tmp_path / "web"), Asked(tmp_path / "gone")):
            with pytest.raises(NotFound):
                await asked.read(PAGE)


class TestListing:
    async def test_names_broken_repositories_so_that_a_read_can_tell_why(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "good", FILES)
        broken = make_repo(tmp_path / "broken", FILES)
        (broken / ".git/HEAD").write_bytes(b"")
        pages = [page async for page in forge_of(tmp_path).listing()]
        listed = {project.repo.name: project for page in pages for project in page.projects}
        assert sorted(listed) == ["local/broken", "local/good"]
        assert (listed["local/broken"].stamp, listed["local/broken"].updated_at) == ("unreadable", None)
        assert pages[0].hidden == ()
        assert await forge_of(tmp_path).find("local/broken") == listed["local/broken"]


class TestDescriptors:
    async def test_are_all_closed_whatever_happens(self, tmp_path: Path) -> None:
        good = make_repo(tmp_path / "good", FILES)
        broken = make_repo(tmp_path / "broken", FILES)
        (broken / ".git/objects").rename(broken / ".git/moved")
        (tmp_path / "empty").mkdir()
        (good / ".wiki/link").symlink_to("a.md")
        forge = forge_of(tmp_path)
        await forge.find("local/good")
        before = len(os.listdir("/dev/fd"))  # noqa: PTH208
        for name in ("good", "broken", "empty", "gone"):
            for paths in ([PAGE, ".wiki/link", "none"], [".wiki/link/x", ".wiki/sub/b.md"]):
                try:
                    await forge.head(named(f"local/{name}"))
                    await forge.read(named(f"local/{name}"), paths, limit=100)
                except (Unavailable, NotFound):
                    pass
        async for _ in forge.listing():
            pass
        gc.collect()
        assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208
