"""Creating the cache file, and bringing an older one forward."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cache import schema
from cache.errors import NewerStore, StoreFailure
from cache.interface import Filed, Mine
from cache.model import FiledTask, TaskKind
from cache.store import SqliteStore
from tests.cache.conftest import OpenStore
from tests.support.snapshots import NOW, key, pages, snapshot, wiki

OPEN = """
import sys
from pathlib import Path
from cache.store import SqliteStore
sys.stdin.read()
store = SqliteStore(Path(sys.argv[1]), on_notice=lambda notice: sys.exit(notice.message))
store.start_run("git", 1.0)
store.close()
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def write_database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_the_file_and_its_log_are_their_owners_alone(store: SqliteStore, file: Path) -> None:
    store.commit(snapshot(), listed_at=50)
    assert {path.name: mode(path) for path in file.parent.glob("cache.db*")} == {
        "cache.db": 0o600,
        "cache.db-wal": 0o600,
        "cache.db-shm": 0o600,
        "cache.db.lock": 0o600,
    }


def test_missing_folders_are_created_for_their_owner_alone(tmp_path: Path, open_store: OpenStore) -> None:
    open_store(tmp_path / "state" / "gateway" / "cache.db").info()
    assert (mode(tmp_path / "state"), mode(tmp_path / "state" / "gateway")) == (0o700, 0o700)


def test_nothing_is_created_before_it_is_needed(store: SqliteStore, file: Path) -> None:
    assert not file.exists()
    assert store.known("git") == {}
    assert file.exists()


def test_an_empty_file_is_a_new_one(store: SqliteStore, file: Path) -> None:
    file.touch(mode=0o644)
    assert store.commit(snapshot(), listed_at=50)
    assert mode(file) == 0o600


def test_readers_do_not_wait_for_a_writer(store: SqliteStore, file: Path) -> None:
    store.commit(snapshot(of=wiki(*pages("One"))), listed_at=50)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM project")
        assert store.info().projects == 1


@pytest.mark.parametrize("name", ["a b?c#d%20.db", "ä.db", "file:x.db", "'quoted'.db"])
def test_any_file_name_will_do(tmp_path: Path, open_store: OpenStore, name: str) -> None:
    open_store(tmp_path / name).commit(snapshot(), listed_at=50)
    assert (tmp_path / name).exists()


def test_a_link_to_the_file_is_followed(tmp_path: Path, open_store: OpenStore, file: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(file)
    open_store(link).commit(snapshot(), listed_at=50)
    assert link.is_symlink()
    assert open_store(file).info().projects == 1


def test_processes_that_open_a_new_file_at_once_all_succeed(store: SqliteStore, file: Path) -> None:
    command = [sys.executable, "-c", OPEN, str(file)]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    ended = []
    for process in started:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    for process in started:
        _, errors = process.communicate(timeout=60)
        ended.append((process.returncode, errors))
    assert ended == [(0, b"")] * 4
    assert len(store.info().runs) == 4


def test_a_file_knows_whose_it_is_and_how_old(store: SqliteStore, file: Path) -> None:
    store.info()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_an_older_file_is_brought_forward(file: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_store()
    first.commit(snapshot(), listed_at=50)
    first.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE added (x)", "DELETE FROM run")))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    assert open_store().info().projects == 1
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert connection.execute("SELECT * FROM added").fetchall() == []


def test_a_file_of_the_first_version_keeps_its_projects(
    file: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as first:
        first.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        first.setattr(schema, "VERSION", 1)
        open_store().info()
    write_database(
        file,
        "INSERT INTO project (forge, forge_id, name, folded_name, bare_name, named, default_branch, archived, fork,"
        " stamp, settings, first_looked_at, looked_at, state)"
        " VALUES ('git', 1, 'acme/web', 'acme/web', 'web', 1, 'main', 0, 0, 'stamp', 'settings', 90, 90, 'ok')",
    )
    store = open_store()
    assert [project.name for project in store.projects(limit=9)] == ["acme/web"]
    assert store.commit(snapshot(of=wiki(*pages("One"))), listed_at=95)
    assert isinstance(store.claim_task(key(1), "digest"), Mine)
    assert store.check() == []


def test_a_migration_is_there_whole_or_not_at_all(
    file: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store().info()
    before = schema.VERSION
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE added (x)", "NO SUCH STATEMENT")))
    monkeypatch.setattr(schema, "VERSION", before + 1)
    with pytest.raises(StoreFailure):
        open_store().info()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (before,)
        assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'added'").fetchall() == []


def test_a_newer_file_is_refused_and_left_as_it_is(store: SqliteStore, file: Path) -> None:
    write_database(
        file,
        f"PRAGMA application_id = {schema.APPLICATION_ID}",
        f"PRAGMA user_version = {schema.VERSION + 1}",
        "CREATE TABLE project (something_else)",
    )
    before = file.read_bytes()
    with pytest.raises(NewerStore, match=r"newer version of the gateway .* update the gateway"):
        store.info()
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["cache.db"]


@pytest.mark.parametrize(
    "statements",
    [
        ("PRAGMA application_id = 12345",),
        ("PRAGMA application_id = 12345", "CREATE TABLE theirs (x)"),
        ("CREATE TABLE theirs (x)",),
        ("PRAGMA user_version = 7",),
    ],
)
def test_another_programs_database_is_refused_and_left_as_it_is(
    store: SqliteStore, file: Path, statements: tuple[str, ...]
) -> None:
    write_database(file, *statements)
    before = file.read_bytes()
    with pytest.raises(StoreFailure, match="database of another program"):
        store.commit(snapshot(), listed_at=50)
    assert file.read_bytes() == before


def test_a_sqlite_that_is_too_old_is_one_line(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 39, 4))
    with pytest.raises(StoreFailure, match=r"too old — run the gateway with 3\.40 or newer"):
        store.info()


def test_a_folder_in_the_files_place_is_one_line(store: SqliteStore, file: Path) -> None:
    file.mkdir()
    with pytest.raises(StoreFailure, match="not a file"):
        store.info()


def test_check_finds_what_the_index_has_too_much(store: SqliteStore, file: Path) -> None:
    store.commit(snapshot(of=wiki(*pages("One"))), listed_at=50)
    with closing(sqlite3.connect(file)) as other:
        other.execute("INSERT INTO page_text (rowid, terms) VALUES (99, 'stale')")
        other.commit()
    assert [line.partition(":")[0] for line in store.check()] == ["search index page_text"]


def test_check_finds_what_refers_to_nothing(store: SqliteStore, file: Path) -> None:
    store.commit(snapshot(of=wiki(*pages("One"))), listed_at=50)
    with closing(sqlite3.connect(file)) as other:
        other.execute("DELETE FROM project")
        other.commit()
    assert any("page row" in line for line in store.check())


def test_clear_keeps_the_task_journal(store: SqliteStore) -> None:
    store.commit(snapshot(), listed_at=50)
    task = FiledTask(TaskKind.ISSUE, NOW, 7)
    claim = store.claim_task(key(1), "digest")
    assert isinstance(claim, Mine)
    store.settle_task(claim, task)
    store.clear()
    assert store.info().projects == 0
    assert store.claim_task(key(1), "digest") == Filed(task)


def test_clear_gives_the_disk_its_space_back(store: SqliteStore) -> None:
    members = pages(*(f"Page {number}" for number in range(100)))
    bodies = {member.slug: " ".join(f"{member.title}{word}" for word in range(800)) for member in members}
    store.commit(snapshot(of=wiki(*members), bodies=bodies), listed_at=50)
    before = store.info().bytes
    store.clear()
    assert store.info().bytes < before / 20


def test_unchanged_pages_are_not_written_again(store: SqliteStore) -> None:
    members = pages(*(f"Page {number}" for number in range(50)))
    bodies = {member.slug: f"Text of {member.title}" for member in members}

    def written(at: float) -> int:
        before = store._database.read(lambda connection: connection.total_changes)
        store.commit(snapshot(of=wiki(*members), bodies=bodies, status="fine", at=at), listed_at=at - 1)
        return store._database.read(lambda connection: connection.total_changes) - before

    assert written(100) > 100
    assert written(200) == 2  # the project's own row: its listing and its outcome
    members = (*members[:-1], pages("Changed", folder="raw")[0])
    assert written(300) < 40
