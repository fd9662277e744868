"""A cache file that is damaged, too new, out of space or read-only, as those see it who run ``gateway``."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.fake_gitea import FakeGitea, Server
from tests.support.cli import Outcome
from tests.support.gitea_fleet import wiki
from tests.support.installation import Installation, filled
from tests.support.mounts import Disk, disk
from tests.support.stdio_process import StdioProcess, call

PAGES = tuple(f"Page {number}" for number in range(8))
REPOSITORIES = {f"acme/r{number}": wiki(*PAGES, about="of yarn " * 100) for number in range(8)}
MIRRORED = '[sync]\npages = "all"\n'
FULL = "gateway: no space is left for the cache — free some, or set [cache] file to another disk\n"
READ_ONLY = "gateway: the cache cannot be used: read-only file system — check its folder, or set [cache] file\n"
FULL_RUN = pytest.mark.full
ASK = ("ask", "yarn", "-p", "acme/r3")


@pytest.fixture
def server(forge_process: Server) -> Server:
    return filled(forge_process, REPOSITORIES)


@pytest.fixture
def home(installation: Installation, server: Server) -> Installation:
    installation.configure(server, MIRRORED)
    return installation


@pytest.fixture
def small(home: Installation) -> Iterator[Disk]:
    """A disk for the cache that cannot hold the fleet."""
    with disk(home.cache.parent, kib=200) as small:
        yield small


def expect_all_pages(home: Installation) -> None:
    home.expect_sound_cache()
    assert {name: len(project["pages"]) for name, project in home.content().items()} == dict.fromkeys(  # type: ignore[arg-type]
        REPOSITORIES, len(PAGES)
    )


def garble(file: Path) -> None:
    """As a disk does: the header is as it was."""
    data = bytearray(file.read_bytes())
    data[4096:] = random.Random(1).randbytes(len(data) - 4096)  # noqa: S311
    file.write_bytes(data)


def scribble(file: Path) -> None:
    file.write_text("my notes, " * 10_000)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize(
    "damage", [garble, pytest.param(scribble, marks=FULL_RUN), pytest.param(truncate, marks=FULL_RUN)]
)
def test_a_damaged_cache_is_set_aside_in_one_line_and_filled_anew(
    home: Installation, damage: Callable[[Path], None]
) -> None:
    home.fill()
    damage(home.cache)
    shown = home.run("sync")
    assert (shown.code, shown.out, shown.err.count("\n")) == (0, "", 1)
    (aside,) = (path for path in home.cache.parent.glob("cache.db.damaged-*") if path.name[-1] == "Z")
    assert shown.err == (
        f"gateway: the cache file was damaged: it is now {aside.name}, and a new one is filled by the next sync\n"
    )
    expect_all_pages(home)


def test_a_reader_that_meets_damage_says_what_to_do(home: Installation) -> None:
    home.fill()
    scribble(home.cache)
    shown = home.run(*ASK)
    assert shown.code == 3
    assert "was damaged" in shown.err
    assert "unknown project — run sync first" in shown.out + shown.err


def test_a_cache_of_a_newer_version_is_left_as_it_is(home: Installation) -> None:
    home.fill()
    with closing(sqlite3.connect(home.cache)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = home.cache.read_bytes()
    for args in (("sync",), ASK):
        shown = home.run(*args)
        assert (shown.code, shown.out) == (3, "")
        assert shown.err.startswith("gateway: the cache was written by a newer version of the gateway (schema 999,")
        assert shown.err.count("\n") == 1
    assert home.cache.read_bytes() == before


def test_another_programs_database_is_left_as_it_is(home: Installation) -> None:
    home.cache.parent.mkdir()
    with closing(sqlite3.connect(home.cache)) as connection:
        connection.execute("CREATE TABLE theirs (id)")
    before = home.cache.read_bytes()
    assert home.run("sync") == Outcome(
        3, "", "gateway: the cache file is the database of another program — name another file by [cache] file\n"
    )
    assert home.cache.read_bytes() == before


class TestFullDisk:
    def test_ends_a_sync_with_one_line_and_the_next_goes_on(self, home: Installation, small: Disk) -> None:
        assert home.run("sync") == Outcome(3, "", FULL)
        home.expect_sound_cache()
        small.resize(8192)
        home.expect_silent_sync()
        expect_all_pages(home)

    def test_does_not_keep_anybody_from_reading(self, home: Installation, server: Server, small: Disk) -> None:
        small.resize(8192)
        home.fill()
        small.fill()
        server.run(FakeGitea.commit, "acme/r3", {".wiki/concepts/page-1.md": "# Page 1\n\nNew yarn.\n"})
        asked = home.run(*ASK)
        assert asked.code == 0
        assert "page-1" in asked.out
        with StdioProcess(home.folder / "output" / "full.err", home.command("serve"), env=home.environ) as gateway:
            gateway.handshake()
            for number, args in enumerate(({"slug": "concepts/page-1"}, {"slug": "concepts/page-2"})):
                answer = gateway.ask(call(number, "knowledge.get_from", project="acme/r3", **args))
                assert not answer["result"].get("isError"), answer
        assert home.run("sync") == Outcome(3, "", FULL)
        small.empty()
        home.expect_sound_cache()

    def test_from_the_start_is_one_line(self, home: Installation, small: Disk) -> None:
        small.fill()
        shown = home.run("sync")
        assert (shown.code, shown.out, shown.err.count("\n")) == (3, "", 1)
        assert "space" in shown.err


class TestReadOnly:
    def test_disks_can_be_read_and_refuse_a_sync_in_one_line(self, home: Installation, small: Disk) -> None:
        small.resize(8192)
        home.fill()
        small.freeze()
        assert home.run(*ASK).code == 0
        assert home.run("sync") == Outcome(3, "", READ_ONLY)
        small.thaw()
        expect_all_pages(home)

    def test_disks_without_a_cache_are_one_line(self, home: Installation, small: Disk) -> None:
        small.freeze()
        shown = home.run(*ASK)
        assert (shown.code, shown.out, shown.err.count("\n")) == (3, "", 1)
        assert "read-only" in shown.err

    def test_a_cache_that_is_a_folder_is_one_line(self, home: Installation) -> None:
        home.cache.mkdir(parents=True)
        shown = home.run("sync")
        assert (shown.code, shown.out, shown.err.count("\n")) == (3, "", 1)
        assert "not a file" in shown.err
