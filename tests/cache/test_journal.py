"""Who may file a text, and what is known of one that was filed."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cache.errors import StoreFailure
from cache.interface import Claim, Filed, Mine, Pending
from cache.model import SAME_TASK, FiledTask, TaskKind
from cache.store import SqliteStore
from tests.cache.conftest import OpenStore
from tests.support.snapshots import NOW, key
from tests.support.unprivileged import run_unprivileged, shared_folder

ISSUE = FiledTask(TaskKind.ISSUE, NOW, number=7, url="https://git.example.test/acme/web/issues/7")
FILE = FiledTask(TaskKind.FILE, NOW, path=".tasks/2027-01-15-fix.md")


def claim(store: SqliteStore, digest: str = "digest", project: int = 1) -> Claim:
    return store.claim_task(key(project), digest)


def mine(store: SqliteStore, digest: str = "digest") -> Mine:
    found = claim(store, digest)
    assert isinstance(found, Mine), found
    return found


def at(store: SqliteStore, seconds: float) -> None:
    """Set the store's clock so many seconds from where it was at first."""
    store._journal._clock = lambda: NOW + seconds


def locks(file: Path) -> list[str]:
    return [path.name for path in file.parent.glob("*.task-*")]


class TestClaim:
    def test_a_new_text_is_mine(self, store: SqliteStore) -> None:
        assert mine(store).sent_at is None

    def test_only_one_has_the_right(self, store: SqliteStore) -> None:
        mine(store)
        assert claim(store) == Pending(None)

    def test_another_gateway_on_the_same_file_has_it_not(self, store: SqliteStore, open_store: OpenStore) -> None:
        mine(store)
        assert claim(open_store()) == Pending(None)

    def test_whoever_waits_is_told_when_the_request_was_sent(self, store: SqliteStore, open_store: OpenStore) -> None:
        store.note_sending(mine(store))
        assert claim(open_store()) == Pending(NOW)

    @pytest.mark.parametrize(("digest", "project"), [("other", 1), ("digest", 2)])
    def test_other_texts_and_projects_are_other_tasks(self, store: SqliteStore, digest: str, project: int) -> None:
        mine(store)
        assert isinstance(claim(store, digest, project), Mine)

    def test_of_many_threads_one_gets_it(self, store: SqliteStore) -> None:
        found: list[Claim] = []
        threads = [threading.Thread(target=lambda: found.append(claim(store))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(type(each).__name__ for each in found) == ["Mine"] + ["Pending"] * 7


class TestSettle:
    @pytest.mark.parametrize("task", [ISSUE, FILE])
    def test_the_text_is_filed_for_everybody(self, store: SqliteStore, open_store: OpenStore, task: FiledTask) -> None:
        right = mine(store)
        store.note_sending(right)
        store.settle_task(right, task)
        assert claim(store) == claim(open_store()) == Filed(task)

    def test_a_task_that_was_found_counts_from_when_it_was_filed(self, store: SqliteStore) -> None:
        store.settle_task(mine(store), replace(ISSUE, filed_at=NOW - 3600))
        at(store, SAME_TASK - 3600)
        assert mine(store).sent_at is None

    def test_a_forge_whose_clock_is_ahead_does_not_file_in_the_future(self, store: SqliteStore) -> None:
        store.settle_task(mine(store), replace(ISSUE, filed_at=NOW + 1e9))
        assert claim(store) == Filed(ISSUE)

    def test_what_cannot_be_noted_is_to_be_looked_for(self, open_store: OpenStore, file: Path) -> None:
        store = open_store(busy_timeout=0.05)
        right = mine(store)
        store.note_sending(right)
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreFailure, match="holds the cache"):
                store.settle_task(right, ISSUE)
        assert mine(store).sent_at == NOW


class TestRelease:
    def test_a_text_that_was_not_sent_is_as_new(self, store: SqliteStore) -> None:
        store.release_task(mine(store))
        assert mine(store).sent_at is None

    def test_what_was_sent_stays_uncertain(self, store: SqliteStore, open_store: OpenStore) -> None:
        right = mine(store)
        store.note_sending(right)
        store.release_task(right)
        assert mine(open_store()).sent_at == NOW

    def test_what_was_refused_is_as_new(self, store: SqliteStore) -> None:
        right = mine(store)
        store.note_sending(right)
        store.release_task(right, refused=True)
        assert mine(store).sent_at is None

    def test_giving_back_twice_takes_nothing_from_the_next_holder(self, store: SqliteStore) -> None:
        first = mine(store)
        store.release_task(first)
        second = mine(store)
        store.note_sending(second)
        store.release_task(first)
        store.release_task(first, refused=True)
        assert claim(store) == Pending(NOW)

    def test_who_gave_the_right_back_may_not_send(self, store: SqliteStore) -> None:
        first = mine(store)
        store.release_task(first)
        mine(store)
        with pytest.raises(StoreFailure, match="given back"):
            store.note_sending(first)

    def test_a_store_that_is_closed_gives_all_back(self, store: SqliteStore, open_store: OpenStore) -> None:
        store.note_sending(mine(store))
        store.close()
        assert mine(open_store()).sent_at == NOW

    def test_locks_leave_no_files(self, store: SqliteStore, file: Path) -> None:
        store.settle_task(mine(store, "settled"), ISSUE)
        store.release_task(mine(store, "released"))
        claim(store, "settled")
        assert locks(file) == []


class TestTime:
    def test_a_day_later_the_text_is_new(self, store: SqliteStore) -> None:
        store.settle_task(mine(store), ISSUE)
        at(store, SAME_TASK - 1)
        assert claim(store) == Filed(ISSUE)
        at(store, SAME_TASK)
        assert mine(store).sent_at is None

    def test_an_uncertain_one_is_forgotten_as_well(self, store: SqliteStore) -> None:
        right = mine(store)
        store.note_sending(right)
        store.release_task(right)
        at(store, SAME_TASK)
        assert mine(store).sent_at is None

    def test_a_clock_that_is_set_right_forgets_nothing(self, store: SqliteStore) -> None:
        store.settle_task(mine(store), ISSUE)
        at(store, -3600)
        assert claim(store) == Filed(ISSUE)

    def test_what_lies_in_the_far_future_was_long_ago(self, store: SqliteStore) -> None:
        at(store, 400 * 86400)
        store.settle_task(mine(store), replace(ISSUE, filed_at=NOW + 400 * 86400))
        at(store, 0)
        assert mine(store).sent_at is None

    def test_what_is_long_ago_goes_with_the_next_task(self, store: SqliteStore) -> None:
        store.settle_task(mine(store, "old"), ISSUE)
        at(store, SAME_TASK)
        store.settle_task(mine(store, "new"), ISSUE)
        rows = store._database.read(lambda found: found.execute("SELECT digest FROM task_journal").fetchall())
        assert rows == [("new",)]


def test_a_folder_that_cannot_be_written_gives_no_right() -> None:
    with shared_folder() as folder:
        folder.chmod(0o555)
        message = run_unprivileged(
            "from pathlib import Path\nfrom cache.store import SqliteStore\nfrom cache.errors import StoreFailure\n"
            "from cache.model import ProjectKey",
            """
try:
    SqliteStore(Path(sys.argv[0]), on_notice=print).claim_task(ProjectKey("git", 1), "digest")
    print(json.dumps("claimed"))
except StoreFailure as error:
    print(json.dumps(error.message))
""",
            str(folder / "cache.db"),
        )
    assert message == "the cache cannot be used: permission denied — check its folder, or set [cache] file"
