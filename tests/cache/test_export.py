"""The cache as people see it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cache.schema import VERSION
from cache.store import SqliteStore
from tests.support.snapshots import listed, page, pages, sha_of, snapshot, wiki


def test_a_project_is_exported_as_the_design_says(store: SqliteStore) -> None:
    member = page("concepts/a", "A", body="x")
    look = replace(
        snapshot(of=wiki(member), status="fine\n", at=1_700_000_060.0),
        listed=replace(listed("acme/web"), updated_at=0.0),
    )
    store.commit(look, listed_at=50)
    assert list(store.export()) == [
        {
            "name": "acme/web",
            "state": "ok",
            "status": "fine\n",
            "updated_at": "1970-01-01T00:00:00Z",
            "synced_at": "2023-11-14T22:14:20Z",
            "pages": [{"slug": "concepts/a", "type": "concepts", "title": "A", "listed": True, "sha": sha_of("x")}],
        }
    ]


def test_what_is_not_known_is_null(store: SqliteStore) -> None:
    failed = replace(snapshot(), listed=replace(listed("acme/web"), updated_at=None))
    store.record_failure(failed, "it broke", denied=False, listed_at=50)
    (entry,) = store.export()
    assert (entry["state"], entry["status"], entry["updated_at"], entry["synced_at"]) == (
        "failed: it broke",
        None,
        None,
        None,
    )


@pytest.mark.parametrize("time", [1e300, -1e18, float("inf")])
def test_a_time_that_no_calendar_knows_is_null(store: SqliteStore, time: float) -> None:
    store.commit(replace(snapshot(), listed=replace(listed("acme/web"), updated_at=time)), listed_at=50)
    (entry,) = store.export()
    assert entry["updated_at"] is None


def test_names_tell_the_forge_where_there_are_several(store: SqliteStore) -> None:
    for forge in ("one", "two"):
        store.commit(snapshot(forge=forge), listed_at=50)
    assert [entry["name"] for entry in store.export()] == ["one:acme/web", "two:acme/web"]


def test_all_projects_are_exported_in_order_as_json(store: SqliteStore) -> None:
    names = [f"acme/p{number:03}" for number in range(45)]
    for number, name in enumerate(names):
        store.commit(snapshot(name, number, of=wiki(*pages("One"))), listed_at=50)
    assert [entry["name"] for entry in json.loads(json.dumps(list(store.export())))] == names


def test_info_counts(store: SqliteStore, file: Path) -> None:
    members = pages("One", "Two")
    store.commit(snapshot(of=wiki(*members), bodies={members[0].slug: "text"}), listed_at=50)
    info = store.info()
    assert (info.path, info.schema) == (str(file), VERSION)
    assert (info.projects, info.pages, info.bodies) == (1, 2, 1)
    assert info.bytes >= file.stat().st_size > 0


def test_a_sound_file_has_no_problems(store: SqliteStore) -> None:
    members = pages("One", "Two")
    store.commit(snapshot(of=wiki(*members), bodies={members[0].slug: "text"}), listed_at=50)
    assert store.check() == []
