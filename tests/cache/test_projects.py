"""Finding projects by what callers call them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import InvalidArgument
from cache.model import Project, ProjectState
from cache.projects import MOST_SUGGESTED_FOR, place_at
from cache.store import SqliteStore
from tests.support.snapshots import key, pages, snapshot, wiki


def commit(store: SqliteStore, *names: str, forge: str = "git") -> None:
    for number, name in enumerate(names, start=1):
        store.commit(snapshot(name, number, forge=forge), listed_at=50)


def names(projects: object) -> list[str]:
    assert isinstance(projects, tuple)
    return [project.name for project in projects]


def resolved(store: SqliteStore, word: str, *, forge: str | None = None) -> list[str]:
    return names(store.resolve(word, forge=forge).projects)


def test_a_full_name_is_found_whatever_its_case(store: SqliteStore) -> None:
    commit(store, "Acme/Web", "acme/api")
    assert resolved(store, "aCME/wEB") == ["Acme/Web"]


def test_the_last_part_is_enough(store: SqliteStore) -> None:
    commit(store, "acme/web", "acme/api")
    assert resolved(store, "API") == ["acme/api"]


def test_the_last_part_of_a_long_path_is_enough(store: SqliteStore) -> None:
    commit(store, "local/clients/acme/web")
    assert resolved(store, "web") == ["local/clients/acme/web"]
    assert resolved(store, "acme/web") == []


def test_a_last_part_that_fits_several_means_all_of_them(store: SqliteStore) -> None:
    commit(store, "b/x", "a/x", "a/y")
    assert resolved(store, "x") == ["a/x", "b/x"]


def test_a_full_name_outranks_last_parts(store: SqliteStore) -> None:
    commit(store, "x", "a/x")
    assert resolved(store, "x") == ["x"]


def test_of_full_names_that_differ_in_case_the_one_as_typed_is_meant(store: SqliteStore) -> None:
    commit(store, "local/Web", "local/web")
    assert resolved(store, "local/web") == ["local/web"]
    assert sorted(resolved(store, "LOCAL/WEB")) == ["local/Web", "local/web"]


def test_a_forge_narrows_the_choice(store: SqliteStore) -> None:
    commit(store, "acme/web", forge="one")
    commit(store, "acme/web", forge="two")
    assert len(resolved(store, "acme/web")) == 2
    assert [project.key.forge for project in store.resolve("web", forge="two").projects] == ["two"]


def test_an_unknown_name_brings_near_ones(store: SqliteStore) -> None:
    commit(store, "acme/web", "acme/website", "tools/zebra")
    assert store.resolve("acme/wbe").suggestions == ("acme/web", "acme/website")


def test_of_many_unknown_names_a_few_bring_near_ones(store: SqliteStore) -> None:
    commit(store, "acme/web")
    unknown = [(f"acme/wbe{number}", None) for number in range(50)]
    near = [each.suggestions for each in store.resolve_each([("web", None), *unknown])]
    assert near[: MOST_SUGGESTED_FOR + 1] == [(), *[("acme/web",)] * MOST_SUGGESTED_FOR]
    assert not any(near[MOST_SUGGESTED_FOR + 1 :])


def test_near_names_are_of_the_forge_that_was_asked_for(store: SqliteStore) -> None:
    commit(store, "acme/web", forge="one")
    assert store.resolve("acme/wbe", forge="two").suggestions == ()


@pytest.mark.parametrize("word", ["", "/", "a\0b", "\ud800", "%", "x" * 1000])
def test_any_word_can_be_asked_for(store: SqliteStore, word: str) -> None:
    commit(store, "acme/web")
    assert resolved(store, word) == []


def test_a_project_is_as_it_was_looked_at(store: SqliteStore) -> None:
    store.commit(snapshot("acme/web", 7, of=wiki(*pages("One", "Two")), status="fine", at=100.0), listed_at=50)
    project = store.project(key(7))
    assert project is not None
    assert (project.name, project.state, project.pages) == ("acme/web", ProjectState.OK, 2)
    assert (project.has_status, project.has_index, project.has_wiki) == (True, True, True)
    assert (project.synced_at, project.looked_at, project.updated_at) == (100.0, 100.0, 1_700_000_000.0)
    assert project.url == "https://git.example.test/acme/web"


def test_nothing_is_known_of_a_project_that_was_never_seen(store: SqliteStore) -> None:
    assert store.project(key(1)) is None


def test_projects_are_sorted_by_folded_name(store: SqliteStore) -> None:
    commit(store, "b/one", "A/two", "a/One")
    assert names(store.projects(limit=10)) == ["a/One", "A/two", "b/one"]


def test_projects_of_the_same_name_are_sorted_by_forge(store: SqliteStore) -> None:
    commit(store, "acme/web", forge="two")
    commit(store, "acme/web", forge="one")
    assert [project.key.forge for project in store.projects(limit=10)] == ["one", "two"]


def test_a_query_narrows_the_projects_whatever_its_case(store: SqliteStore) -> None:
    commit(store, "acme/Web", "acme/api", "web/tools", "a%b")
    assert names(store.projects(query="wEb", limit=10)) == ["acme/Web", "web/tools"]
    assert names(store.projects(query="%", limit=10)) == ["a%b"]


def test_pages_of_projects_follow_each_other_without_gap(store: SqliteStore) -> None:
    everything = [f"{owner}/{name}" for owner in "abc" for name in "vwxyz"]
    commit(store, *everything)
    seen: list[Project] = []
    after: str | None = None
    while found := store.projects(limit=4, after=after):
        seen += found
        after = store.cursor(found[-1])
    assert [project.name for project in seen] == everything


def test_paging_goes_on_after_a_project_that_went(store: SqliteStore) -> None:
    commit(store, "a/a", "b/b", "c/c")
    after = store.cursor(store.projects(limit=2)[1])
    store.prune("git", {1, 3}, listed_at=1000)
    assert names(store.projects(limit=2, after=after)) == ["c/c"]


@pytest.mark.parametrize("cursor", ["", "x", "ä", "e30", "WyJhIl0", "W10", "\0", "WzEsMiwzXQ", "[" * 5000])
def test_a_cursor_that_was_not_given_out_is_refused(store: SqliteStore, cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="cursor"):
        store.projects(limit=1, after=cursor)


@given(st.text())
def test_any_cursor_is_read_or_refused(cursor: str) -> None:
    with suppress(InvalidArgument):
        place_at(cursor)
