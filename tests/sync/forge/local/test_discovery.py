"""Which repositories the local forge finds, what they are called, and which folder a name means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from cache.errors import InvalidArgument, NotConfigured, NotFound, Unavailable
from sync.forge.local.discovery import Found, Hidden, Roots
from tests.support.repos import commit_files, make_repo

FILES = {".wiki/index.md": "# Wiki\n"}


def names(*roots: Path) -> list[str]:
    return [item.name for item in Roots(roots).walk() if isinstance(item, Found)]


def hidden(*roots: Path) -> list[str]:
    return [item.name for item in Roots(roots).walk() if isinstance(item, Hidden)]


def folder_of(roots: Sequence[Path], name: str) -> Path:
    with Roots(roots).open(name) as place:
        assert os.path.samestat(os.fstat(place.folder), place.path.stat())
        return place.path


class TestNames:
    def test_are_paths_below_the_only_root(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "acme/web", FILES)
        make_repo(tmp_path / "tools", FILES)
        assert names(tmp_path) == ["local/acme/web", "local/tools"]

    def test_start_with_the_folder_name_of_the_root_where_there_are_several(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "one/web", FILES)
        make_repo(tmp_path / "two/web", FILES)
        assert names(tmp_path / "one", tmp_path / "two") == ["local/one/web", "local/two/web"]

    def test_of_a_root_that_is_a_repository_is_its_folder_name(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "web", FILES)
        assert names(tmp_path / "web") == ["local/web"]

    def test_of_such_a_root_outranks_a_repository_of_the_same_name_in_it(self, tmp_path: Path) -> None:
        root = make_repo(tmp_path / "web", FILES)
        make_repo(root / "web", FILES)
        make_repo(root / "web/inner", FILES)
        assert names(root) == ["local/web", "local/web/inner"]
        assert folder_of([root], "local/web") == root

    def test_may_hold_spaces_and_signs_of_urls(self, tmp_path: Path) -> None:
        for name in ("a b", "50%", "c#", "ü"):
            make_repo(tmp_path / name, FILES)
        found = names(tmp_path)
        assert found == ["local/50%", "local/a b", "local/c#", "local/ü"]
        assert [folder_of([tmp_path], name).name for name in found] == ["50%", "a b", "c#", "ü"]

    @pytest.mark.parametrize(
        "raw", [b"bad-\xff", b"new\nline", b"esc\x1b[31m", "rtl\u202e".encode(), "ls\u2028".encode()]
    )
    def test_that_cannot_be_text_are_hidden_with_all_that_is_below(self, tmp_path: Path, raw: bytes) -> None:
        make_repo(tmp_path / "good", FILES)
        folder = tmp_path / os.fsdecode(raw)
        make_repo(folder / "web", FILES)
        assert names(tmp_path) == ["local/good"]
        (note,) = hidden(tmp_path)
        assert note.startswith("local/")
        assert "\N{REPLACEMENT CHARACTER}" in note
        note.encode()
        assert note.isprintable()

    def test_that_nobody_could_ask_for_are_left_out(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "/".join(["d" * 199] * 4) / ("e" * 193), FILES)
        make_repo(tmp_path / "/".join(["d" * 199] * 4) / ("e" * 195), FILES)
        (found,) = names(tmp_path)
        assert len(found) == 999
        assert hidden(tmp_path) == []


class TestIds:
    def test_are_positive_and_fit_63_bits(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "web", FILES)
        with Roots([tmp_path]).open("local/web") as place:
            assert 0 < place.project_id < 2**63

    def test_come_from_the_real_path(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "real/web", FILES)
        (tmp_path / "link").symlink_to("real")
        with (
            Roots([tmp_path / "real"]).open("local/web") as place,
            Roots([tmp_path / "link"]).open("local/web") as other,
        ):
            assert place.project_id == other.project_id

    def test_differ_between_repositories(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "a", FILES)
        make_repo(tmp_path / "b", FILES)
        roots = Roots([tmp_path])
        with roots.open("local/a") as one, roots.open("local/b") as other:
            assert one.project_id != other.project_id


class TestRepositories:
    def test_nested_in_working_trees_are_found(self, tmp_path: Path) -> None:
        outer = make_repo(tmp_path / "outer", FILES)
        make_repo(outer / "vendor/inner", FILES)
        assert names(tmp_path) == ["local/outer", "local/outer/vendor/inner"]

    def test_may_be_bare_without_a_suffix(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "mirror", FILES, bare=True)
        assert names(tmp_path) == ["local/mirror"]

    def test_are_not_looked_for_inside_bare_ones_or_git_folders(self, tmp_path: Path) -> None:
        bare = make_repo(tmp_path / "bare", FILES, bare=True)
        make_repo(bare / "modules/inner", FILES, bare=True)
        work = make_repo(tmp_path / "work", FILES)
        make_repo(work / ".git/modules/inner", FILES, bare=True)
        assert names(tmp_path) == ["local/bare", "local/work"]

    def test_may_have_a_git_file_in_place_of_the_folder(self, tmp_path: Path) -> None:
        work = make_repo(tmp_path / "roots/sub", FILES)
        (work / ".git").rename(tmp_path / "control")
        (work / ".git").write_text(f"gitdir: {tmp_path / 'control'}\n")
        assert names(tmp_path / "roots") == ["local/sub"]

    def test_kept_beside_their_working_trees_are_listed_once(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "web/.bare", FILES, bare=True)
        (tmp_path / "web/.git").write_text("gitdir: ./.bare\n")
        assert names(tmp_path) == ["local/web"]

    def test_whose_git_file_names_nothing_that_exists_are_listed_so_that_somebody_notices(self, tmp_path: Path) -> None:
        (tmp_path / "moved").mkdir()
        (tmp_path / "moved/.git").write_text("gitdir: /nowhere/.git/worktrees/moved\n")
        assert names(tmp_path) == ["local/moved"]

    @pytest.mark.parametrize("content", [b"", b"gitdir: ", b"gitdir: \0", b"hello\n", b"gitdir: " + b"x" * 100_000])
    def test_are_not_made_by_any_file_named_git(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "web").mkdir()
        (tmp_path / "web/.git").write_bytes(content)
        assert names(tmp_path) == []

    def test_are_not_made_by_an_empty_git_folder_a_fifo_or_a_dangling_link(self, tmp_path: Path) -> None:
        (tmp_path / "empty/.git").mkdir(parents=True)
        (tmp_path / "fifo").mkdir()
        os.mkfifo(tmp_path / "fifo/.git")
        (tmp_path / "link").mkdir()
        (tmp_path / "link/.git").symlink_to("nowhere")
        (tmp_path / "loop").mkdir()
        (tmp_path / "loop/.git").symlink_to(".git")
        make_repo(tmp_path / "loop/inner", FILES)
        assert names(tmp_path) == ["local/loop/inner"]

    def test_behind_symbolic_links_are_not_found(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "elsewhere/web", FILES)
        (tmp_path / "root").mkdir()
        (tmp_path / "root/link").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "root/cycle").symlink_to(tmp_path / "root")
        assert names(tmp_path / "root") == []

    def test_below_a_root_that_is_a_symbolic_link_are_found(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "data/web", FILES)
        (tmp_path / "src").symlink_to("data")
        assert names(tmp_path / "src") == ["local/web"]

    def test_a_thousand_below_one_root_are_all_found(self, tmp_path: Path) -> None:
        for number in range(1000):
            git = tmp_path / f"{number:04}/.git"
            git.mkdir(parents=True)
            (git / "HEAD").touch()
        assert len(names(tmp_path)) == 1000


class TestRoots:
    def test_must_be_given(self) -> None:
        with pytest.raises(NotConfigured, match="set roots under"):
            Roots([])

    def test_with_one_folder_name_are_refused_with_a_remedy(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidArgument, match=r"folder name src.*rename one of the folders"):
            Roots([tmp_path / "a/src", tmp_path / "b/SRC"])

    def test_given_twice_count_once(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "web", FILES)
        assert names(tmp_path, tmp_path / "x/..") == ["local/web"]

    def test_that_are_one_folder_by_two_paths_list_nothing_twice(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "data/web", FILES)
        (tmp_path / "src").symlink_to("data")
        assert names(tmp_path / "src", tmp_path / "data") == ["local/src/web"]

    @pytest.mark.parametrize("inner_first", [True, False])
    def test_in_each_other_list_nothing_twice(self, tmp_path: Path, *, inner_first: bool) -> None:
        make_repo(tmp_path / "src/web", FILES)
        make_repo(tmp_path / "src/work/api", FILES)
        roots = [tmp_path / "src", tmp_path / "src/work"]
        assert sorted(names(*(reversed(roots) if inner_first else roots))) == ["local/src/web", "local/work/api"]

    def test_in_each_other_give_each_folder_one_name(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "src/work/api", FILES)
        roots = [tmp_path / "src", tmp_path / "src/work"]
        assert folder_of(roots, "local/work/api") == tmp_path / "src/work/api"
        with pytest.raises(NotFound):
            folder_of(roots, "local/src/work/api")

    def test_that_do_not_exist_make_the_listing_fail_before_anything_is_listed(self, tmp_path: Path) -> None:
        make_repo(tmp_path / "here/web", FILES)
        walk = Roots([tmp_path / "here", tmp_path / "gone"]).walk()
        with pytest.raises(Unavailable, match="the root gone cannot be read: no such file") as caught:
            next(walk)
        assert str(tmp_path) not in caught.value.line

    def test_that_are_files_make_the_listing_fail(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(Unavailable, match="not a directory"):
            names(tmp_path / "file")

    def test_that_are_replaced_while_they_are_walked_make_the_listing_fail(self, tmp_path: Path) -> None:
        root = tmp_path / "mount"
        make_repo(root / "a", FILES)
        make_repo(root / "b", FILES)
        walk = Roots([root]).walk()
        assert next(walk) == Found("local/a")
        root.rename(tmp_path / "unmounted")
        root.mkdir()
        with pytest.raises(Unavailable, match="replaced"):
            list(walk)


class TestOpening:
    @pytest.mark.parametrize(
        "name",
        [
            "",
            "local/",
            "local//web",
            "local/./web",
            "local/../web",
            "local/a/../web",
            "local/web/",
            "/local/web",
            "web",
            "other/web",
            "local/web/.git",
            "local/web\0",
            "local/web\n",
            "local/\udcff",
            "local/" + "x" * 300,
            "local/" + "x/" * 3000 + "y",
            "local/file",
            "local/link",
            "local/folderlink/web",
        ],
    )
    def test_refuses_what_is_no_name_of_a_folder_below_the_root(self, tmp_path: Path, name: str) -> None:
        root = tmp_path / "root"
        make_repo(root / "web", FILES)
        make_repo(tmp_path / "web", FILES)
        (root / "file").touch()
        (root / "link").symlink_to(tmp_path / "web")
        (root / "folderlink").symlink_to(tmp_path)
        with pytest.raises(NotFound) as caught:
            folder_of([root], name)
        caught.value.line.encode()

    def test_needs_no_listing_before(self, tmp_path: Path) -> None:
        commit_files(make_repo(tmp_path / "acme/web", {}), FILES)
        assert folder_of([tmp_path], "local/acme/web") == tmp_path / "acme/web"

    def test_says_when_the_root_is_gone(self, tmp_path: Path) -> None:
        with pytest.raises(Unavailable, match="the root gone cannot be read"):
            folder_of([tmp_path / "gone"], "local/web")
