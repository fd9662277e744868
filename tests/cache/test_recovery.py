"""A file that is damaged, replaced, removed or cannot be written."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cache import connect, recovery
from cache.errors import StoreFailure
from cache.interface import StoreNotice
from cache.store import SqliteStore
from tests.cache.conftest import OpenStore
from tests.support.snapshots import key, pages, snapshot, wiki
from tests.support.unprivileged import run_unprivileged, shared_folder

IMPORTS = """
from pathlib import Path
from cache.errors import StoreFailure
from cache.store import SqliteStore
from tests.support.snapshots import snapshot

def said(action):
    try:
        return action()
    except StoreFailure as error:
        return error.message
"""
LOOK_AND_WRITE = """
store = SqliteStore(Path(sys.argv[0]), on_notice=print)
print(json.dumps([
    said(lambda: [project.name for project in store.projects(limit=9)]),
    said(lambda: store.commit(snapshot("acme/new", 9), listed_at=50)),
]))
store.close()
"""
READ_ONLY = "the cache file is read-only — make it and its folder writable, or set [cache] file"


def fill(store: SqliteStore) -> None:
    for number in range(20):
        members = pages(*(f"Page {number} {at}" for at in range(30)))
        store.commit(snapshot(f"acme/p{number}", number, of=wiki(*members)), listed_at=50)


def garble(file: Path) -> None:
    """Overwrite all but the first pages, which hold the header and the schema."""
    data = bytearray(file.read_bytes())
    data[16 * 4096 :] = random.Random(1).randbytes(len(data) - 16 * 4096)  # noqa: S311
    file.write_bytes(data)


def damaged_files(file: Path) -> list[Path]:
    return sorted(path for path in file.parent.glob("*.damaged-*") if not path.name.endswith(("-wal", "-shm")))


def test_a_file_that_is_no_database_is_kept_and_replaced(
    store: SqliteStore, file: Path, notices: list[StoreNotice]
) -> None:
    file.write_text("my notes, " * 1000)
    assert store.commit(snapshot(), listed_at=50)
    (aside,) = damaged_files(file)
    assert aside.name == "cache.db.damaged-20270115T080000Z"
    assert aside.read_text() == "my notes, " * 1000
    assert [notice.details for notice in notices] == [{"file": aside.name}]
    assert aside.name in notices[0].message


def test_a_small_damaged_file_is_found_when_it_is_opened(
    open_store: OpenStore, file: Path, notices: list[StoreNotice]
) -> None:
    first = open_store()
    fill(first)
    first.close()
    garble(file)
    assert open_store().known("git") == {}
    assert len(notices) == 1


def test_damage_is_found_at_the_first_error(
    open_store: OpenStore, file: Path, notices: list[StoreNotice], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_store()
    fill(first)
    first.close()
    garble(file)
    monkeypatch.setattr(connect, "QUICK_CHECK", 0)
    second = open_store()
    assert second.pages(key(1)) == ()
    assert len(notices) == len(damaged_files(file)) == 1
    assert second.commit(snapshot(), listed_at=50)


def test_a_write_that_meets_damage_is_done_on_the_new_file(
    open_store: OpenStore, file: Path, notices: list[StoreNotice], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_store()
    fill(first)
    first.close()
    garble(file)
    monkeypatch.setattr(connect, "QUICK_CHECK", 0)
    second = open_store()
    assert second.commit(snapshot("acme/p1", 1, of=wiki(*pages("Other"))), listed_at=150)
    assert [project.name for project in second.projects(limit=99)] == ["acme/p1"]
    assert len(notices) == 1


def test_a_truncated_file_is_replaced(open_store: OpenStore, file: Path, notices: list[StoreNotice]) -> None:
    first = open_store()
    fill(first)
    first.close()
    os.truncate(file, 5 * 4096)
    assert open_store().known("git") == {}
    assert len(notices) == 1


def test_the_log_goes_with_its_file(store: SqliteStore, file: Path) -> None:
    file.write_text("my notes, " * 1000)
    file.with_name("cache.db-wal").write_text("a log")
    store.info()
    assert file.with_name("cache.db.damaged-20270115T080000Z-wal").read_text() == "a log"


def test_a_second_damaged_file_does_not_replace_the_first(open_store: OpenStore, file: Path) -> None:
    for text in ("first " * 1000, "second " * 1000):
        file.write_text(text)
        store = open_store()
        store.info()
        store.close()
    assert [path.read_text()[:5] for path in damaged_files(file)] == ["first", "secon"]


def test_several_that_find_the_same_damage_set_it_aside_once(
    open_store: OpenStore, file: Path, notices: list[StoreNotice]
) -> None:
    file.write_text("my notes, " * 1000)
    stores = [open_store() for _ in range(8)]
    threads = [threading.Thread(target=store.start_run, args=("git", 1.0)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(damaged_files(file)) == len(notices) == 1
    assert len(stores[0].info().runs) == 8


def test_a_log_whose_file_is_gone_is_not_taken_for_the_new_ones(open_store: OpenStore, file: Path) -> None:
    first = open_store()
    fill(first)
    log = file.with_name("cache.db-wal").read_bytes()
    first.close()
    file.unlink()
    file.with_name("cache.db-wal").write_bytes(log)
    assert open_store().known("git") == {}


def test_a_file_that_another_process_replaced_is_opened_anew(
    store: SqliteStore, open_store: OpenStore, file: Path
) -> None:
    store.commit(snapshot("acme/old"), listed_at=50)
    found = recovery.identity(file)
    assert found is not None
    recovery.set_aside(file, found, now=0.0)
    other = open_store()
    other.commit(snapshot("acme/new"), listed_at=50)
    assert [project.name for project in store.projects(limit=9)] == ["acme/new"]
    store.close()
    assert other.check() == []


def test_a_file_that_vanished_is_built_anew(store: SqliteStore, file: Path) -> None:
    store.commit(snapshot(), listed_at=50)
    file.unlink()
    assert store.known("git") == {}
    assert store.commit(snapshot(), listed_at=50)


def test_a_folder_that_vanished_is_built_anew(tmp_path: Path, open_store: OpenStore) -> None:
    store = open_store(tmp_path / "state" / "cache.db")
    store.info()
    for path in (tmp_path / "state").iterdir():
        path.unlink()
    (tmp_path / "state").rmdir()
    assert store.commit(snapshot(), listed_at=50)


def test_a_cache_that_is_locked_for_too_long_is_one_line(open_store: OpenStore, file: Path) -> None:
    store = open_store(busy_timeout=0.05)
    store.info()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailure, match="another process holds the cache for too long — try again"):
            store.commit(snapshot(), listed_at=50)
    assert store.commit(snapshot(), listed_at=50)


def test_a_full_disk_is_one_line_and_passes(store: SqliteStore) -> None:
    store.commit(snapshot("acme/before", 99), listed_at=50)
    store._database.read(lambda connection: connection.execute("PRAGMA max_page_count = 1"))  # than it has already
    with pytest.raises(StoreFailure, match="no space is left for the cache — free some"):
        fill(store)
    assert store.project(key(99)) is not None
    fill(store)
    assert store.check() == []


def test_a_disk_that_fails_is_one_line(file: Path) -> None:
    said = run_unprivileged(
        IMPORTS + "import resource, signal, tempfile",
        """
folder = tempfile.TemporaryDirectory()
store = SqliteStore(Path(folder.name, "cache.db"), on_notice=print)
store.info()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
results = [said(lambda: store.commit(snapshot(f"acme/{n}", n, status="x" * 100_000), listed_at=50)) for n in range(9)]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
problems = [said(store.check), said(lambda: store.commit(snapshot("acme/new", 99), listed_at=50))]
store.close()
print(json.dumps([[result for result in results if result is not True], problems]))
""",
    )
    assert isinstance(said, list)
    failures, afterwards = said
    assert set(failures) == {
        "the cache file cannot be read or written — check the disk, or set [cache] file to another"
    }
    assert afterwards == [[], True]


CHECK = """
store = SqliteStore(Path(sys.argv[0]), on_notice=print)
print(json.dumps(list(store.check())))
store.close()
"""


class TestReadOnly:
    """Others' files, looked at without root's powers."""

    def make(self, folder: Path) -> Path:
        file = folder / "cache.db"
        store = SqliteStore(file, on_notice=print)
        store.commit(snapshot("acme/web", 1, of=wiki(*pages("One"))), listed_at=50)
        store.close()
        for path in folder.iterdir():
            path.chmod(0o644)
        return file

    def test_a_file_in_a_read_only_folder_can_be_read(self) -> None:
        with shared_folder() as folder:
            file = self.make(folder)
            folder.chmod(0o555)
            assert run_unprivileged(IMPORTS, LOOK_AND_WRITE, str(file)) == [["acme/web"], READ_ONLY]

    def test_a_file_that_another_user_is_writing_can_be_read(self) -> None:
        with shared_folder() as folder:
            file = self.make(folder)
            store = SqliteStore(file, on_notice=print)
            store.commit(snapshot("acme/later", 2), listed_at=50)
            for path in folder.iterdir():
                path.chmod(0o644)
            folder.chmod(0o555)
            said = run_unprivileged(IMPORTS, LOOK_AND_WRITE, str(file))
            store.close()
        assert said == [["acme/later", "acme/web"], READ_ONLY]

    def test_a_file_in_a_read_only_folder_is_not_called_damaged(self) -> None:
        with shared_folder() as folder:
            file = self.make(folder)
            folder.chmod(0o555)
            assert run_unprivileged(IMPORTS, CHECK, str(file)) == []

    def test_damage_in_a_read_only_folder_is_told(self) -> None:
        with shared_folder() as folder:
            file = self.make(folder)
            with closing(sqlite3.connect(file)) as connection, connection:
                connection.execute("PRAGMA foreign_keys = OFF")
                connection.execute("UPDATE page SET project = 99")
            folder.chmod(0o555)
            assert "refers to a project that is not there" in str(run_unprivileged(IMPORTS, CHECK, str(file)))

    def test_a_read_only_file_can_be_read(self) -> None:
        with shared_folder() as folder:
            file = self.make(folder)
            for path in folder.iterdir():
                path.chmod(0o444)
            folder.chmod(0o777)
            assert run_unprivileged(IMPORTS, LOOK_AND_WRITE, str(file)) == [["acme/web"], READ_ONLY]

    def test_a_missing_file_in_a_read_only_folder_is_one_line(self) -> None:
        with shared_folder() as folder:
            folder.chmod(0o555)
            said = run_unprivileged(IMPORTS, LOOK_AND_WRITE, str(folder / "cache.db"))
        assert said == ["the cache cannot be used: permission denied — check its folder, or set [cache] file"] * 2

    def test_an_empty_file_in_a_read_only_folder_is_one_line(self) -> None:
        with shared_folder() as folder:
            (folder / "cache.db").touch(mode=0o666)
            folder.chmod(0o555)
            said = run_unprivileged(IMPORTS, LOOK_AND_WRITE, str(folder / "cache.db"))
        assert said == ["the cache is not of this version, and its folder is read-only — make it writable"] * 2

    def test_a_file_that_may_not_be_read_is_one_line(self) -> None:
        with shared_folder() as folder:
            file = self.make(folder)
            file.chmod(0o000)
            folder.chmod(0o777)
            said = run_unprivileged(IMPORTS, LOOK_AND_WRITE, str(file))
        assert said == ["the cache file cannot be opened — check its permissions, or set [cache] file"] * 2

    def test_a_damaged_file_in_a_read_only_folder_is_one_line_and_stays(self) -> None:
        with shared_folder() as folder:
            file = folder / "cache.db"
            file.write_text("my notes, " * 1000)
            file.chmod(0o666)
            folder.chmod(0o555)
            said = run_unprivileged(IMPORTS, LOOK_AND_WRITE, str(file))
            assert file.read_text() == "my notes, " * 1000
        assert said == ["the cache file is damaged and cannot be replaced now — remove it, then run gateway sync"] * 2


def test_a_file_that_is_set_aside_while_it_is_being_opened_is_opened_anew(
    store: SqliteStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.touch()
    connect = sqlite3.connect

    def late(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        monkeypatch.setattr(sqlite3, "connect", connect)
        file.rename(file.with_name("set-aside"))
        opened: sqlite3.Connection = connect(*args, **kwargs)
        return opened

    monkeypatch.setattr(sqlite3, "connect", late)
    assert store.info().projects == 0
