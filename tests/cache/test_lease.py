"""The right to run a full sync."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cache.errors import SyncRunning
from cache.store import SqliteStore
from tests.cache.conftest import OpenStore
from tests.support.snapshots import snapshot
from tests.support.unprivileged import run_unprivileged, shared_folder

HOLD = """
import sys
from pathlib import Path
from cache.store import SqliteStore
with SqliteStore(Path(sys.argv[1]), on_notice=print).lease():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_only_one_has_it(store: SqliteStore) -> None:
    with store.lease(), pytest.raises(SyncRunning), store.lease():
        pass


def test_another_store_on_the_same_file_does_not_get_it(store: SqliteStore, open_store: OpenStore) -> None:
    other = open_store()
    with store.lease(), pytest.raises(SyncRunning), other.lease():
        pass


def test_it_can_be_had_again(store: SqliteStore) -> None:
    for _ in range(2):
        with store.lease():
            pass


def test_it_is_given_back_when_the_sync_fails(store: SqliteStore) -> None:
    with pytest.raises(ValueError, match="oops"), store.lease():
        raise ValueError("oops")
    with store.lease():
        pass


def test_an_error_of_the_sync_is_not_taken_for_one_of_the_lease(store: SqliteStore) -> None:
    with pytest.raises(PermissionError), store.lease():
        raise PermissionError("not ours")


def test_short_writes_do_not_wait_for_it(store: SqliteStore, open_store: OpenStore) -> None:
    with store.lease():
        assert open_store().commit(snapshot(), listed_at=50)


def test_it_dies_with_its_process(store: SqliteStore, file: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(SyncRunning), store.lease():
            pass
        holder.kill()
    with store.lease():
        pass


def test_a_lease_file_that_was_removed_does_not_let_in_two(store: SqliteStore, file: Path) -> None:
    with store.lease():
        file.with_name("cache.db.lease").unlink()
        with store.lease():
            pass  # whoever removed it asked for it
        with pytest.raises(SyncRunning), store.lease(), store.lease():
            pass


def test_a_folder_that_cannot_be_written_is_one_line() -> None:
    with shared_folder() as folder:
        folder.chmod(0o555)
        message = run_unprivileged(
            "from pathlib import Path\nfrom cache.store import SqliteStore\nfrom cache.errors import StoreFailure",
            """
try:
    with SqliteStore(Path(sys.argv[0]), on_notice=print).lease():
        print(json.dumps("held"))
except StoreFailure as error:
    print(json.dumps(error.message))
""",
            str(folder / "cache.db"),
        )
    assert message == "the cache cannot be used: permission denied — check its folder, or set [cache] file"
