"""What is known at once of a page that was written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cache.model import PageFacts, ProjectState, TextFile, Wiki, WikiWrite
from cache.search.query import Query
from cache.store import SqliteStore
from tests.support.snapshots import NOW, key, listed, page, pages, sha_of, snapshot, wiki

BEFORE = wiki(*pages("One", "Two"))
NEW = replace(
    page("concepts/yarn", "Yarn on Windows", "How to run it", body="Use corepack.\n", position=3), section="Concepts"
)
AFTER = wiki(*pages("One", "Two"), NEW, index="# Index\n- [Yarn on Windows](concepts/yarn.md)\n")
COMMIT = sha_of("commit")


def written(of: Wiki = AFTER, *, at: float = 200.0, project: int = 1, revision: str | None = COMMIT) -> WikiWrite:
    return WikiWrite(
        key(project),
        at,
        of,
        revision,
        bodies={NEW.sha: "Use corepack.\n"},
        facts={NEW.sha: PageFacts(heading="Yarn on Windows")},
    )


def slugs(store: SqliteStore) -> list[str]:
    return [each.slug for each in store.pages(key(1))]


def found(store: SqliteStore, words: str) -> list[str]:
    return [match.page.slug for match in store.match([key(1)], Query.parse(words), types=None)[key(1)]]


def needs_look(store: SqliteStore, stamp: str = "stamp") -> bool:
    """Whether a sync that finds this stamp looks, as ``sync.plan`` decides, and then reads the tree."""
    known = store.known("git")[1]
    return known.stamp != stamp and known.wiki_tree == ""


@pytest.fixture(params=[False, True], ids=["unmirrored", "mirrored"])
def full(request: pytest.FixtureRequest, store: SqliteStore) -> SqliteStore:
    """A store that knows a wiki of two pages, with their bodies if they are mirrored."""
    bodies = {member.slug: f"# {member.title}\n" for member in BEFORE.pages} if request.param else None
    store.commit(snapshot(of=BEFORE, bodies=bodies, at=100), listed_at=90)
    return store


class TestWritten:
    def test_the_page_is_known_with_all_its_fields(self, full: SqliteStore) -> None:
        assert full.note_write(written())
        assert full.page(key(1), NEW.slug) == NEW
        assert full.pages(key(1)) == AFTER.pages

    def test_it_is_found_by_its_title_and_description(self, full: SqliteStore) -> None:
        full.note_write(written())
        assert found(full, "windows") == found(full, "how to run it") == [NEW.slug]

    def test_it_is_found_by_its_body_where_bodies_are_kept(self, full: SqliteStore) -> None:
        full.note_write(written())
        mirrored = full.projects(limit=1)[0].mirrored
        assert found(full, "corepack") == ([NEW.slug] if mirrored else [])
        assert full.bodies(key(1), {NEW.sha}) == ({NEW.sha: "Use corepack.\n"} if mirrored else {})

    def test_index_revision_and_facts_are_the_new_ones(self, full: SqliteStore) -> None:
        full.note_write(written())
        project = full.project(key(1))
        assert project is not None
        assert (project.revision, project.pages, project.has_index) == (COMMIT, 3, True)
        assert full.index(key(1)) == AFTER.index
        assert full.facts({NEW.sha}) == {NEW.sha: PageFacts(heading="Yarn on Windows")}

    def test_an_old_text_is_found_no_more(self, full: SqliteStore) -> None:
        full.note_write(written())
        newer = replace(NEW, sha=sha_of("new"), title="Yarn anywhere")
        text = {newer.sha: "Use volta.\n"}
        full.note_write(replace(written(wiki(*BEFORE.pages, newer), at=210), bodies=text, facts={}))
        assert (found(full, "windows"), found(full, "corepack"), found(full, "anywhere")) == ([], [], [NEW.slug])
        assert not full.facts({NEW.sha})
        assert not full.bodies(key(1), {NEW.sha})
        assert full.check() == []

    def test_only_what_changed_is_written(self, full: SqliteStore) -> None:
        before = full._database.read(lambda connection: connection.total_changes)
        full.note_write(written())
        assert full._database.read(lambda connection: connection.total_changes) - before < 30

    def test_a_working_tree_has_no_new_commit(self, full: SqliteStore) -> None:
        before = full.project(key(1))
        full.note_write(replace(written(revision=None), uncommitted=True))
        project = full.project(key(1))
        assert before is not None
        assert project is not None
        assert (project.revision, project.uncommitted) == (before.revision, True)


class TestFirstPage:
    @pytest.mark.parametrize("state", [ProjectState.NO_WIKI, ProjectState.EMPTY])
    def test_a_project_without_a_wiki_has_one(self, store: SqliteStore, state: ProjectState) -> None:
        store.commit(replace(snapshot(of=Wiki(), at=100), state=state, revision=None), listed_at=90)
        assert store.note_write(written(wiki(NEW)))
        project = store.project(key(1))
        assert project is not None
        assert (project.state, project.revision, project.has_wiki) == (ProjectState.OK, COMMIT, True)
        assert found(store, "windows") == [NEW.slug]

    def test_one_that_could_not_be_read_can_be_again(self, store: SqliteStore) -> None:
        store.record_failure(snapshot(at=100), "it broke", denied=False, listed_at=90)
        store.note_write(written())
        project = store.project(key(1))
        assert project is not None
        assert (project.state, project.failure, project.pages) == (ProjectState.OK, None, 3)

    def test_an_index_that_was_malformed_is_not(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=Wiki(problem="NUL bytes"), at=100), listed_at=90)
        store.note_write(written())
        project = store.project(key(1))
        assert project is not None
        assert project.index_problem is None

    def test_a_project_that_is_not_known_stays_so(self, store: SqliteStore) -> None:
        assert not store.note_write(written())
        assert store.project(key(1)) is None


class TestNextSync:
    def test_it_looks_whatever_the_stamp_says(self, full: SqliteStore) -> None:
        """Somebody else may have pushed in the same second."""
        full.note_write(written())
        assert needs_look(full)

    def test_one_that_listed_before_the_write_does_not_overwrite_it(self, full: SqliteStore) -> None:
        full.note_write(written(at=200))
        assert not full.commit(snapshot(of=BEFORE, at=205, stamp="newer"), listed_at=195)
        assert NEW.slug in slugs(full)
        assert needs_look(full, "newer")

    def test_the_rest_of_a_look_that_was_under_way_is_left_out(self, full: SqliteStore) -> None:
        """A mirror comes in portions."""
        look = replace(snapshot(of=BEFORE, at=195, bodies={}), partial=True)
        assert full.commit(look, listed_at=190)
        full.note_write(written(at=200))
        assert not full.commit(replace(look, partial=False), listed_at=195)
        assert NEW.slug in slugs(full)
        assert needs_look(full)

    def test_nor_does_its_failure_count(self, full: SqliteStore) -> None:
        full.note_write(written(at=200))
        full.record_failure(snapshot(at=205), "it broke", denied=False, listed_at=195)
        assert full.projects(limit=1)[0].state is ProjectState.OK

    def test_one_that_lists_after_it_says_what_there_is(self, full: SqliteStore) -> None:
        full.note_write(written(at=200))
        assert full.commit(snapshot(of=BEFORE, at=300, stamp="newer"), listed_at=290)
        assert NEW.slug not in slugs(full)
        assert not needs_look(full, "newer")

    def test_a_write_in_the_future_was_before_the_clock_was_set_back(self, full: SqliteStore) -> None:
        full.note_write(written(at=NOW + 3600))
        assert full.commit(snapshot(of=BEFORE, at=NOW), listed_at=NOW - 1)

    def test_a_purged_project_stays_away(self, full: SqliteStore) -> None:
        full.note_write(written())
        assert full.prune("git", (), listed_at=300) == 1
        assert not full.note_write(written(at=310))


class TestNewerIsKnown:
    def test_a_look_that_began_after_the_write_stays(self, full: SqliteStore) -> None:
        later = replace(page("concepts/later", "Later"), position=4)
        assert full.commit(snapshot(of=wiki(*AFTER.pages, later), at=205), listed_at=204)
        assert not full.note_write(written(at=200))
        assert later.slug in slugs(full)
        assert not needs_look(full)

    def test_but_what_the_write_knows_of_its_page_is_added(self, full: SqliteStore) -> None:
        mirrored = full.projects(limit=1)[0].mirrored
        look = snapshot(of=AFTER, at=205, bodies={} if mirrored else None)
        assert full.commit(look, listed_at=204)
        full.note_write(written(at=200))
        assert full.facts({NEW.sha}) == {NEW.sha: PageFacts(heading="Yarn on Windows")}
        assert found(full, "corepack") == ([NEW.slug] if mirrored else [])

    def test_a_later_write_stays(self, full: SqliteStore) -> None:
        later = replace(page("concepts/later", "Later"), position=4)
        assert full.note_write(written(wiki(*AFTER.pages, later), at=205))
        assert not full.note_write(written(at=200))
        assert slugs(full)[-2:] == [NEW.slug, later.slug]

    def test_a_failed_look_knows_nothing_newer(self, full: SqliteStore) -> None:
        full.record_failure(snapshot(at=205), "it broke", denied=False, listed_at=204)
        assert full.note_write(written(at=200))
        assert NEW.slug in slugs(full)


def test_text_that_has_no_utf_8_is_kept_as_near_as_can_be(store: SqliteStore) -> None:
    store.commit(snapshot(of=BEFORE, at=100), listed_at=90)
    odd = replace(page("a\ud800", "T\udcff", body="x"), position=1)
    store.note_write(written(Wiki((odd,), TextFile(".wiki/index.md", sha_of("i"), "\ud800"))))
    assert [(each.slug, each.title) for each in store.pages(key(1))] == [("a\ufffd", "T\ufffd")]


def test_the_project_keeps_its_listing(store: SqliteStore) -> None:
    store.commit(snapshot(of=BEFORE, at=100), listed_at=90)
    store.note_write(written())
    project = store.project(key(1))
    assert project is not None
    assert (project.name, project.url, project.synced_at) == ("acme/web", listed("acme/web").url, 100)
