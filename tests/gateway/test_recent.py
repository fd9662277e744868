"""Bodies that were read a moment ago."""

from __future__ import annotations

import pytest

from cache.model import Page, ProjectKey
from gateway import recent
from gateway.recent import RecentBodies, Seen

KEY = ProjectKey("main", 1)
NOW = 1_000.0


def page(slug: str = "a", sha: str = "1" * 40) -> Page:
    return Page(slug, sha, 4, "other", slug)


def seen(slug: str = "a", body: str = "text", at: float = NOW) -> Seen:
    return Seen(page(slug), body, at)


def found(bodies: RecentBodies, wanted: Page, now: float = NOW) -> bool:
    return bodies.find(KEY, wanted, now=now, max_age=60.0) is not None


@pytest.fixture
def bodies() -> RecentBodies:
    bodies = RecentBodies()
    bodies.note(KEY, seen(), max_age=60.0)
    return bodies


@pytest.mark.parametrize(("later", "there"), [(0.0, True), (60.0, True), (60.1, False), (-1.0, False)])
def test_they_are_there_for_as_long_as_they_are_young(bodies: RecentBodies, later: float, there: bool) -> None:
    assert found(bodies, page(), NOW + later) is there


def test_one_of_which_the_cache_knows_another_blob_by_now_is_not(bodies: RecentBodies) -> None:
    assert not found(bodies, page(sha="2" * 40))


def test_one_that_the_cache_does_not_know_is(bodies: RecentBodies) -> None:
    assert found(bodies, page(sha=""))


def test_another_projects_page_of_that_name_is_not(bodies: RecentBodies) -> None:
    assert bodies.find(ProjectKey("main", 2), page(), now=NOW, max_age=60.0) is None


def test_without_an_age_nothing_is_kept() -> None:
    bodies = RecentBodies()
    bodies.note(KEY, seen(), max_age=0.0)
    assert not found(bodies, page())


def test_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "ROOM", 10)
    bodies = RecentBodies()
    for slug in "abca":
        bodies.note(KEY, seen(slug), max_age=60.0)
    assert [found(bodies, page(slug)) for slug in "abc"] == [True, False, True]


def test_what_is_too_old_goes_when_something_comes(bodies: RecentBodies) -> None:
    bodies.note(KEY, seen("b", at=NOW + 61), max_age=60.0)
    assert not found(bodies, page("a"), NOW)
    assert found(bodies, page("b"), NOW + 61)


def test_a_very_long_one_is_not_kept_and_takes_the_old_one_away(
    bodies: RecentBodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "LONGEST", 3)
    bodies.note(KEY, seen(body="long"), max_age=60.0)
    assert not found(bodies, page())
