"""Stamps of files: what counts as another file than at the last look."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sync.corpora.stamps import Stamp, Watch, below, named
from sync.forge.base import SETTLE

OLD = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.md", "sub/b.md", "sub/c.txt", ".git/d.md", "node_modules/e.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path


def markdown(path: str) -> bool:
    return path.endswith(".md")


def stamp(modified: float, *, size: int = 1, inode: int = 1) -> Stamp:
    return Stamp(int(modified * 1e9), int(modified * 1e9), size, inode)


class TestBelow:
    def test_it_finds_wanted_files_at_any_depth_and_none_in_hidden_or_foreign_folders(self, folder: Path) -> None:
        (folder / ".git").rename(folder / "sub" / ".hidden")
        assert [path for path, _ in below(folder, "sub", markdown)] == ["sub/b.md"]

    def test_links_are_not_followed(self, folder: Path) -> None:
        (folder / "sub" / "link.md").symlink_to(folder / "a.md")
        (folder / "sub" / "up").symlink_to(folder)
        assert [path for path, _ in below(folder, "sub", markdown)] == ["sub/b.md"]

    def test_what_is_no_regular_file_is_left_out(self, folder: Path) -> None:
        os.mkfifo(folder / "sub" / "pipe.md")
        assert [path for path, _ in below(folder, "sub", markdown)] == ["sub/b.md"]

    def test_a_folder_that_is_not_there_is_empty(self, folder: Path) -> None:
        assert list(below(folder, "nothing", markdown)) == []


def test_named_files_are_found_where_they_are(folder: Path) -> None:
    (folder / "link.md").symlink_to(folder / "a.md")
    assert [path for path, _ in named(folder, ["a.md", "sub", "link.md", "missing.md"])] == ["a.md"]


class TestWatch:
    def test_at_first_everything_is_read(self) -> None:
        assert Watch().look({"a": stamp(OLD)}, OLD + 60) == (["a"], [])

    def test_what_stayed_is_not_read_again(self) -> None:
        watch = Watch()
        watch.look({"a": stamp(OLD)}, OLD + 60)
        assert watch.look({"a": stamp(OLD)}, OLD + 61) == ([], [])

    @pytest.mark.parametrize("other", [stamp(OLD + 1), stamp(OLD, size=2), stamp(OLD, inode=2)])
    def test_what_changed_is(self, other: Stamp) -> None:
        watch = Watch()
        watch.look({"a": stamp(OLD)}, OLD + 60)
        assert watch.look({"a": other}, OLD + 61) == (["a"], [])

    def test_what_is_gone_is_told_once(self) -> None:
        watch = Watch()
        watch.look({"a": stamp(OLD)}, OLD + 60)
        assert watch.look({}, OLD + 61) == ([], ["a"])
        assert watch.look({}, OLD + 62) == ([], [])

    def test_a_young_file_is_read_until_its_time_stamp_can_be_trusted(self) -> None:
        watch = Watch()
        watch.look({"a": stamp(OLD)}, OLD + 0.5)
        assert watch.look({"a": stamp(OLD)}, OLD + SETTLE + 1) == (["a"], [])
        assert watch.look({"a": stamp(OLD)}, OLD + SETTLE + 2) == ([], [])

    def test_what_is_forgotten_is_read_again(self) -> None:
        watch = Watch()
        watch.look({"a": stamp(OLD)}, OLD + 60)
        watch.forget("a")
        assert watch.look({"a": stamp(OLD)}, OLD + 61) == (["a"], [])
