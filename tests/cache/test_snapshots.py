"""What looks at projects leave behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cache.model import Known, PageFacts, ProjectState, Snapshot, TextFile
from cache.store import SqliteStore
from tests.support.snapshots import NOW, key, listed, page, pages, sha_of, snapshot, wiki


def known(store: SqliteStore, number: int = 1) -> Known:
    return store.known("git")[number]


def names(store: SqliteStore) -> list[str]:
    return [project.name for project in store.projects(limit=100)]


class TestCommit:
    def test_pages_are_kept_in_the_order_of_the_index(self, store: SqliteStore) -> None:
        members = pages("Zebra", "Ape", "Bear")
        store.commit(snapshot(of=wiki(*members)), listed_at=50)
        assert store.pages(key(1)) == members

    def test_every_field_of_a_page_is_kept(self, store: SqliteStore) -> None:
        full = replace(
            page("a/b", "T", "D"), section="S", link_title=None, listed=False, position=4, uncommitted=True, type="Ω"
        )
        store.commit(snapshot(of=wiki(full)), listed_at=50)
        assert store.page(key(1), "a/b") == full

    def test_a_page_that_is_not_there_is_none(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(*pages("One"))), listed_at=50)
        assert store.page(key(1), "nothing") is None
        assert store.page(key(2), "concepts/1") is None
        assert store.page(key(1), "\ud800") is None

    def test_status_and_index_are_kept_as_files(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(), status="All fine.\n"), listed_at=50)
        assert store.status(key(1)) == TextFile("STATUS.md", sha_of("All fine.\n"), "All fine.\n")
        assert store.index(key(1)) == TextFile(".wiki/index.md", sha_of("# Index\n"), "# Index\n")

    def test_a_later_look_replaces_what_was_known(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(*pages("One", "Two")), status="old"), listed_at=50)
        after = (page("concepts/1", "One, changed", body="x"), page("concepts/9", "Nine"))
        store.commit(snapshot(of=wiki(*after, index=None, problem="not UTF-8"), at=200), listed_at=150)
        project = store.project(key(1))
        assert project is not None
        assert store.pages(key(1)) == after
        assert (store.status(key(1)), store.index(key(1))) == (None, None)
        assert (project.has_status, project.has_index, project.index_problem) == (False, False, "not UTF-8")

    def test_without_a_wiki_the_pages_stay_as_they_are(self, store: SqliteStore) -> None:
        members = pages("One", "Two")
        store.commit(snapshot(of=wiki(*members)), listed_at=50)
        store.commit(snapshot(of=None, at=200, status="new"), listed_at=150)
        project = store.project(key(1))
        assert store.pages(key(1)) == members
        assert project is not None
        assert (project.has_index, project.has_status, project.pages, project.synced_at) == (True, True, 2, 200)

    def test_an_index_keeps_its_other_page_when_one_goes(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(*pages("One", "Two"))), listed_at=50)
        store.commit(snapshot(of=wiki(*pages("One")), at=200), listed_at=150)
        assert [member.title for member in store.pages(key(1))] == ["One"]

    def test_slugs_may_swap_their_contents(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(page("a", "A", body="1"), page("b", "B", body="2"))), listed_at=50)
        swapped = (page("a", "B", body="2"), page("b", "A", body="1"))
        store.commit(snapshot(of=wiki(*swapped), at=200), listed_at=150)
        assert store.pages(key(1)) == swapped

    def test_a_look_that_was_listed_before_another_was_made_changes_nothing(self, store: SqliteStore) -> None:
        assert store.commit(snapshot(of=wiki(*pages("Refreshed")), at=200), listed_at=200)
        assert not store.commit(snapshot(of=wiki(*pages("Older")), at=210), listed_at=150)
        assert [member.title for member in store.pages(key(1))] == ["Refreshed"]

    def test_a_look_in_the_future_does_not_count(self, store: SqliteStore) -> None:
        """It was made before the clock was set back."""
        store.commit(snapshot(of=wiki(*pages("Old")), at=NOW + 3600), listed_at=NOW + 3600)
        assert store.commit(snapshot(of=wiki(*pages("New")), at=NOW), listed_at=NOW)
        assert [member.title for member in store.pages(key(1))] == ["New"]

    def test_an_empty_repository_has_no_pages_any_more(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(*pages("One"))), listed_at=50)
        empty = replace(snapshot(of=wiki(index=None), at=200), state=ProjectState.EMPTY, revision=None)
        store.commit(empty, listed_at=150)
        project = store.project(key(1))
        assert project is not None
        assert (project.state, project.pages, project.has_wiki, project.revision) == ("empty", 0, False, None)

    def test_a_success_forgets_the_failure(self, store: SqliteStore) -> None:
        store.record_failure(snapshot(at=100), "it broke", denied=False, listed_at=50)
        store.commit(snapshot(at=200), listed_at=150)
        project = store.project(key(1))
        assert project is not None
        assert (project.state, project.failure) == (ProjectState.OK, None)

    def test_text_that_has_no_utf_8_is_kept_as_near_as_can_be(self, store: SqliteStore) -> None:
        odd = page("a\ud800", "T\udcff", "D\ud800", body="x")
        store.commit(snapshot("local/x\udcff", of=wiki(odd)), listed_at=50)
        assert [(member.slug, member.title) for member in store.pages(key(1))] == [("a\ufffd", "T\ufffd")]
        assert names(store) == ["local/x\ufffd"]

    def test_the_same_text_from_two_projects_stays_two_pages(self, store: SqliteStore) -> None:
        for number in (1, 2):
            store.commit(snapshot(f"acme/p{number}", number, of=wiki(*pages("One"))), listed_at=50)
        assert store.pages(key(1)) == store.pages(key(2))


class TestNames:
    def test_a_rename_keeps_what_is_known(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/old", of=wiki(*pages("One"))), listed_at=50)
        store.rename(key(1), "acme/new", None)
        assert [project.key for project in store.resolve("acme/new").projects] == [key(1)]
        assert store.resolve("acme/old").projects == ()
        assert len(store.pages(key(1))) == 1

    def test_a_rename_brings_the_new_address(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/old"), listed_at=50)
        store.rename(key(1), "acme/new", "https://git.example.test/acme/new")
        assert store.projects(limit=1)[0].url == "https://git.example.test/acme/new"

    def test_renaming_what_is_unknown_does_nothing(self, store: SqliteStore) -> None:
        store.rename(key(1), "acme/new", None)
        assert names(store) == []

    def test_two_projects_may_swap_names(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/a", 1), listed_at=50)
        store.commit(snapshot("acme/b", 2), listed_at=50)
        store.rename(key(1), "acme/b", None)
        store.rename(key(2), "acme/a", None)
        assert [project.key.id for project in store.projects(limit=10)] == [2, 1]

    def test_a_look_may_bring_the_new_name(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/old", 1), listed_at=50)
        store.commit(snapshot("acme/new", 1, at=200), listed_at=150)
        assert names(store) == ["acme/new"]

    def test_a_name_goes_to_the_project_that_has_it_now(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/web", 1, of=wiki(*pages("One"))), listed_at=50)
        store.commit(snapshot("acme/web", 2), listed_at=50)
        assert [project.key.id for project in store.resolve("acme/web").projects] == [2]
        assert names(store) == ["acme/web"]

    def test_a_project_without_a_name_is_still_known_by_its_key(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/web", 1, of=wiki(*pages("One"))), listed_at=50)
        store.commit(snapshot("acme/web", 2), listed_at=50)
        assert store.project(key(1)) is not None
        assert len(store.pages(key(1))) == 1

    def test_a_project_without_a_name_is_known_under_none(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/web", 1), listed_at=50)
        store.commit(snapshot("acme/web", 2), listed_at=50)
        assert (known(store, 1).listed_name, known(store, 2).listed_name) == ("", "acme/web")

    def test_a_failed_look_takes_the_name_too(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/web", 1), listed_at=50)
        store.record_failure(snapshot("acme/web", 2), "it broke", denied=False, listed_at=50)
        assert [project.key.id for project in store.resolve("acme/web").projects] == [2]

    def test_the_same_name_on_two_forges_is_two_projects(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/web", 1, forge="one"), listed_at=50)
        store.commit(snapshot("acme/web", 1, forge="two"), listed_at=50)
        assert len(store.resolve("acme/web").projects) == 2


class TestFailures:
    def test_a_failed_look_keeps_what_was_known(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(*pages("One")), at=100), listed_at=50)
        store.record_failure(snapshot(at=200), "it broke", denied=False, listed_at=150)
        project = store.project(key(1))
        assert project is not None
        assert (project.state, project.failure) == (ProjectState.FAILED, "it broke")
        assert (project.pages, project.synced_at, project.looked_at) == (1, 100, 200)

    def test_a_project_that_fails_at_first_is_known(self, store: SqliteStore) -> None:
        store.record_failure(snapshot(at=100), "no access", denied=True, listed_at=50)
        project = store.project(key(1))
        assert project is not None
        assert (project.state, project.failure, project.synced_at) == (ProjectState.DENIED, "no access", None)

    @pytest.mark.parametrize("denied", [True, False])
    def test_a_failure_is_known_to_the_next_sync(self, store: SqliteStore, denied: bool) -> None:
        store.record_failure(snapshot(at=100), "it broke", denied=denied, listed_at=50)
        assert known(store).failed

    def test_an_older_failure_does_not_count(self, store: SqliteStore) -> None:
        store.commit(snapshot(at=200), listed_at=200)
        store.record_failure(snapshot(at=210), "it broke", denied=False, listed_at=150)
        assert not known(store).failed


class TestKnown:
    def test_a_sync_remembers_what_decides(self, store: SqliteStore) -> None:
        look = snapshot(of=wiki(*pages("One")), at=100, stamp="s1", settings="f1")
        store.commit(look, listed_at=50)
        assert known(store) == Known(key(1), "acme/web", "s1", "f1", 100, failed=False, wiki_tree=look.wiki_tree)

    def test_only_projects_of_the_forge_are_known(self, store: SqliteStore) -> None:
        store.commit(snapshot(forge="other"), listed_at=50)
        assert store.known("git") == {}

    def test_a_stale_project_has_no_stamp(self, store: SqliteStore) -> None:
        store.commit(snapshot(at=100), listed_at=50)
        store.mark_stale(key(1))
        assert known(store).stamp == ""

    def test_a_look_begun_after_the_mark_ends_it(self, store: SqliteStore) -> None:
        store.commit(snapshot(at=100), listed_at=50)
        store.mark_stale(key(1))
        store.commit(snapshot(at=NOW + 1), listed_at=NOW + 1)
        assert known(store).stamp == "stamp"

    def test_a_look_begun_before_the_mark_does_not(self, store: SqliteStore) -> None:
        store.commit(snapshot(at=100), listed_at=50)
        store.mark_stale(key(1))
        store.commit(snapshot(at=NOW - 1), listed_at=NOW - 1)
        assert known(store).stamp == ""

    def test_a_mark_in_the_future_ends_with_the_next_look(self, store: SqliteStore) -> None:
        """It was set before the clock was."""
        store.commit(snapshot(at=100), listed_at=50)
        store._clock = lambda: NOW + 3600
        store.mark_stale(key(1))
        store._clock = lambda: NOW
        store.commit(snapshot(at=NOW - 1), listed_at=NOW - 1)
        assert known(store).stamp == "stamp"

    def test_marking_what_is_unknown_does_nothing(self, store: SqliteStore) -> None:
        store.mark_stale(key(1))
        assert store.known("git") == {}


class TestPrune:
    def test_what_a_complete_listing_lacks_goes_at_once(self, store: SqliteStore) -> None:
        for number in (1, 2, 3):
            store.commit(snapshot(f"acme/p{number}", number, of=wiki(*pages("One")), status="x"), listed_at=50)
        assert store.prune("git", {2}, listed_at=1000) == 2
        assert names(store) == ["acme/p2"]
        assert (store.pages(key(1)), store.status(key(1)), store.info().pages) == ((), None, 1)

    def test_other_forges_are_left_alone(self, store: SqliteStore) -> None:
        store.commit(snapshot(forge="other"), listed_at=50)
        assert store.prune("git", (), listed_at=1000) == 0
        assert names(store) == ["acme/web"]

    def test_what_the_listing_could_not_look_below_stays(self, store: SqliteStore) -> None:
        store.commit(snapshot("local/closed/web", 1), listed_at=50)
        store.commit(snapshot("local/open/web", 2), listed_at=50)
        assert store.prune("git", (), hidden=["local/closed/"], listed_at=1000) == 1
        assert names(store) == ["local/closed/web"]

    def test_what_was_first_seen_after_the_listing_stays(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/new", 1, at=200), listed_at=200)
        assert store.prune("git", (), listed_at=150) == 0

    def test_what_was_first_seen_in_the_future_goes(self, store: SqliteStore) -> None:
        """It was seen before the clock was set back."""
        store.commit(snapshot(at=NOW + 3600), listed_at=NOW + 3600)
        assert store.prune("git", [], listed_at=NOW) == 1

    def test_what_was_seen_before_the_listing_and_since_goes(self, store: SqliteStore) -> None:
        store.commit(snapshot("acme/old", 1, at=100), listed_at=50)
        store.commit(snapshot("acme/old", 1, at=200), listed_at=200)
        assert store.prune("git", (), listed_at=150) == 1

    def test_forges_that_are_configured_no_longer_go(self, store: SqliteStore) -> None:
        for forge in ("one", "two", "three"):
            store.commit(snapshot(forge=forge), listed_at=50)
        assert store.retain_forges(["two"]) == 2
        assert [project.key.forge for project in store.projects(limit=10)] == ["two"]

    def test_without_any_forge_all_goes(self, store: SqliteStore) -> None:
        store.commit(snapshot(), listed_at=50)
        assert store.retain_forges([]) == 1


class TestRemember:
    def test_a_live_read_brings_sha_title_and_type(self, store: SqliteStore) -> None:
        before = replace(page("concepts/a", "A", "D", body="1"), section="S", link_title="A", position=3)
        store.commit(snapshot(of=wiki(before)), listed_at=50)
        live = replace(page("concepts/a", "New", body="22"), type="guide")
        store.remember(key(1), [live], {}, {})
        assert store.page(key(1), "concepts/a") == replace(before, sha=live.sha, size=2, title="New", type="guide")

    def test_a_page_that_is_not_known_is_not_added(self, store: SqliteStore) -> None:
        store.commit(snapshot(of=wiki(*pages("One"))), listed_at=50)
        store.remember(key(1), [page("concepts/new", "New")], {}, {})
        store.remember(key(9), [page("concepts/new", "New")], {}, {})
        assert [member.title for member in store.pages(key(1))] == ["One"]

    def test_facts_are_kept(self, store: SqliteStore) -> None:
        (member,) = pages("One")
        store.commit(snapshot(of=wiki(member)), listed_at=50)
        fact = PageFacts(title="From its front matter", heading="H")
        store.remember(key(1), [member], {}, {member.sha: fact})
        assert store.facts([member.sha, "0" * 40]) == {member.sha: fact}

    def test_bodies_are_kept_where_the_project_is_mirrored(self, store: SqliteStore) -> None:
        (member,) = pages("One")
        store.commit(snapshot("acme/a", 1, of=wiki(member), bodies={member.slug: "old"}), listed_at=50)
        store.commit(snapshot("acme/b", 2, of=wiki(member)), listed_at=50)
        live = replace(member, sha=sha_of("new"))
        for number in (1, 2):
            store.remember(key(number), [live], {live.sha: f"new from {number}"}, {})
        assert store.bodies(key(1), [live.sha, member.sha]) == {live.sha: "new from 1"}

    def test_a_body_of_a_project_that_is_not_mirrored_is_not_kept(self, store: SqliteStore) -> None:
        (member,) = pages("One")
        store.commit(snapshot(of=wiki(member)), listed_at=50)
        store.remember(key(1), [member], {member.sha: "text"}, {})
        assert store.bodies(key(1), [member.sha]) == {}

    def test_pages_newer_than_their_tree_are_read_again(self, store: SqliteStore) -> None:
        look = snapshot(of=wiki(*pages("One")))
        store.commit(look, listed_at=50)
        store.remember(key(1), [replace(page("concepts/1"), sha=sha_of("new"))], {}, {})
        assert known(store).wiki_tree not in {None, look.wiki_tree}
        store.commit(replace(look, wiki=None, looked_at=200), listed_at=150)
        assert known(store).wiki_tree not in {None, look.wiki_tree}
        store.commit(replace(look, looked_at=300), listed_at=250)
        assert known(store).wiki_tree == look.wiki_tree

    def test_a_new_title_alone_leaves_the_tree_as_it_is(self, store: SqliteStore) -> None:
        look = snapshot(of=wiki(*pages("One")))
        store.commit(look, listed_at=50)
        store.remember(key(1), [replace(store.pages(key(1))[0], title="Better")], {}, {})
        assert known(store).wiki_tree == look.wiki_tree


def test_clear_forgets_all_projects(store: SqliteStore) -> None:
    (member,) = pages("One")
    store.commit(
        snapshot(of=wiki(member), bodies={member.slug: "text"}, facts={member.sha: PageFacts("T")}, status="fine"),
        listed_at=50,
    )
    store.start_run("git", 1.0)
    store.clear()
    info = store.info()
    assert (info.projects, info.pages, info.bodies, info.runs) == (0, 0, 0, ())
    assert store.facts([member.sha]) == {}
    assert store.check() == []


def test_a_listing_is_noted_with_each_look(store: SqliteStore) -> None:
    look: Snapshot = replace(snapshot(at=100), listed=listed("acme/web", archived=True, stamp="new"))
    store.commit(look, listed_at=50)
    project = store.project(key(1))
    assert project is not None
    assert project.archived
