"""The runs of the sync that the store remembers."""

from __future__ import annotations

from cache.interface import RunSummary
from cache.runs import KEPT
from cache.store import SqliteStore


def test_a_run_without_an_end_is_running_or_was_killed(store: SqliteStore) -> None:
    store.start_run("git", 100.0)
    assert store.info().runs == (RunSummary("git", 100.0),)


def test_a_run_is_summed_up(store: SqliteStore) -> None:
    summary = RunSummary("git", 100.0, 160.5, listed=9, changed=3, failed=1, removed=2, complete=False)
    store.finish_run(store.start_run("git", 100.0), summary)
    assert store.info().runs == (summary,)


def test_the_newest_run_comes_first(store: SqliteStore) -> None:
    for at in (1.0, 2.0, 3.0):
        store.start_run("git", at)
    assert [run.started_at for run in store.info().runs] == [3.0, 2.0, 1.0]


def test_only_the_last_runs_are_kept(store: SqliteStore) -> None:
    for at in range(KEPT + 5):
        store.start_run("git", float(at))
    runs = store.info().runs
    assert (len(runs), runs[-1].started_at) == (KEPT, 5.0)


def test_the_end_of_a_forgotten_run_is_not_taken_for_anothers(store: SqliteStore) -> None:
    run = store.start_run("git", 1.0)
    store.clear()
    store.finish_run(run, RunSummary("git", 1.0, 2.0, complete=True))
    assert store.info().runs == ()
