"""Many threads and processes at work on one file."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cache.errors import StoreFailure
from cache.schema import Connection
from cache.store import SqliteStore
from tests.cache.conftest import OpenStore
from tests.support.snapshots import key, pages, snapshot, wiki

# Commits projects one after the other, the next time it has them with other pages, and tells each that is there.
COMMIT = """
import itertools, sys
from pathlib import Path
from cache.store import SqliteStore
from tests.support.snapshots import pages, snapshot, wiki
store = SqliteStore(Path(sys.argv[1]), on_notice=lambda notice: sys.exit(notice.message))
for at in itertools.count(int(sys.argv[2])):
    members = pages(*(f"Page {number} of {at}" for number in range(at % 7 + 1)))
    bodies = {member.slug: f"body {number} of {at} " * 50 for number, member in enumerate(members)}
    store.commit(snapshot(f"acme/p{at % 5}", at % 5, of=wiki(*members), at=at, bodies=bodies), listed_at=at)
    print(at, flush=True)
"""


def test_threads_share_a_store(store: SqliteStore) -> None:
    def work(number: int) -> int:
        for at in range(5):
            members = pages(*(f"Page {number} {page}" for page in range(at + 1)))
            store.commit(snapshot(f"acme/p{number}", number, of=wiki(*members), at=at), listed_at=at)
            store.projects(limit=5)
        return len(store.pages(key(number)))

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(work, range(12))) == [5] * 12
    assert store.check() == []


def test_several_stores_write_the_same_file(open_store: OpenStore) -> None:
    stores = [open_store() for _ in range(4)]

    def work(number: int) -> None:
        for at in range(10):
            stores[number].commit(snapshot(f"acme/p{number}-{at}", number * 100 + at), listed_at=50)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert stores[0].info().projects == 40


def test_a_reader_sees_a_project_before_or_after_a_commit_never_between(store: SqliteStore) -> None:
    ended = threading.Event()
    mixed: list[object] = []

    def look() -> None:
        while not ended.is_set():
            titles = {page.title.partition(" ")[0] for page in store.pages(key(1))}
            if len(titles) > 1:
                mixed.append(titles)

    reader = threading.Thread(target=look)
    reader.start()
    for at in range(40):
        members = pages(*(f"Look{at} {number}" for number in range(10)))
        store.commit(snapshot(of=wiki(*members), at=at), listed_at=at)
    ended.set()
    reader.join()
    assert mixed == []


def test_a_closed_store_says_so(store: SqliteStore) -> None:
    store.info()
    store.close()
    with pytest.raises(StoreFailure, match="the cache is closed"):
        store.info()


def test_closing_twice_is_closing_once(store: SqliteStore) -> None:
    store.info()
    store.close()
    store.close()


def test_closing_leaves_no_log_behind(store: SqliteStore, file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: store.commit(snapshot(f"acme/{number}", number), listed_at=50), range(30)))
    store.close()
    assert sorted(path.name for path in file.parent.iterdir()) == ["cache.db", "cache.db.lock"]


def test_a_work_that_fails_leaves_nothing(store: SqliteStore) -> None:
    store.commit(snapshot("acme/a", 1), listed_at=50)

    def work(connection: Connection) -> None:
        connection.execute("DELETE FROM project")
        raise KeyError("oops")

    with pytest.raises(KeyError):
        store._database.write(work)
    assert store.info().projects == 1


def kill_and_look(file: Path, generator: random.Random, times: int) -> None:
    """Kill a process that commits, ``times`` over, each time looking at what it leaves."""
    last = 0
    for _ in range(times):
        with subprocess.Popen(
            [sys.executable, "-c", COMMIT, str(file), str(last + 1)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(generator.randrange(1, 30)):
                last = int(process.stdout.readline())
            process.kill()
            last = max([last, *map(int, process.stdout.read().split())])
        store = SqliteStore(file, on_notice=lambda notice: pytest.fail(notice.message))
        looked_at = max(known.looked_at for known in store.known("git").values())
        assert looked_at in {last, last + 1}  # the one that was on its way may have been there, untold
        assert store.check() == []
        for number in range(5):
            told = [int(page.title.rpartition(" ")[2]) for page in store.pages(key(number))]
            assert len(set(told)) <= 1
            assert len(told) in {0, *(at % 7 + 1 for at in told)}
        store.close()
        last += 1


def test_a_killed_process_leaves_what_it_committed(file: Path) -> None:
    kill_and_look(file, random.Random(1), 4)  # noqa: S311


@pytest.mark.full
def test_a_process_killed_many_times_leaves_what_it_committed(file: Path) -> None:
    kill_and_look(file, random.Random(2), 60)  # noqa: S311
