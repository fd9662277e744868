"""Bodies and facts, which projects share."""

from __future__ import annotations

from dataclasses import replace

from cache.model import PageFacts
from cache.search.query import Query
from cache.store import SqliteStore
from tests.support.snapshots import NOW, key, page, pages, snapshot, wiki

(ONE,) = pages("One")
TEXTS = {ONE.slug: "The text of one."}


def found(store: SqliteStore, number: int = 1) -> int:
    return len(store.match([key(number)], Query.parse("text"), types=None)[key(number)])


def test_a_mirrored_body_is_kept_by_its_sha(store: SqliteStore) -> None:
    store.commit(snapshot(of=wiki(ONE), bodies=TEXTS), listed_at=50)
    assert store.bodies(key(1), [ONE.sha, "0" * 40]) == {ONE.sha: "The text of one."}


def test_no_more_of_a_body_is_read_than_is_wanted(store: SqliteStore) -> None:
    store.commit(snapshot(of=wiki(ONE), bodies={ONE.slug: "Größe\n"}), listed_at=50)
    assert [store.bodies(key(1), [ONE.sha], longest=longest)[ONE.sha] for longest in (3, 6, 9)] == [
        "Grö",
        "Größe\n",
        "Größe\n",
    ]


def test_a_body_is_given_only_to_projects_that_refer_to_it(store: SqliteStore) -> None:
    store.commit(snapshot("acme/a", 1, of=wiki(ONE), bodies=TEXTS), listed_at=50)
    store.commit(snapshot("acme/b", 2, of=wiki(*pages("Two"))), listed_at=50)
    store.commit(snapshot("acme/c", 3, of=wiki(ONE)), listed_at=50)
    assert store.bodies(key(2), [ONE.sha]) == {}
    assert store.bodies(key(3), [ONE.sha]) == {ONE.sha: "The text of one."}
    assert store.bodies(key(9), [ONE.sha]) == {}


def test_the_index_is_a_body_of_its_project_but_status_which_need_not_be_exact_is_none(store: SqliteStore) -> None:
    look = snapshot(of=wiki(), status="fine")
    store.commit(look, listed_at=50)
    assert look.status is not None
    assert look.wiki is not None
    assert look.wiki.index is not None
    shas = [look.status.sha, look.wiki.index.sha]
    assert store.bodies(key(1), shas) == {shas[1]: "# Index\n"}


def test_more_shas_than_a_statement_takes_can_be_asked_for(store: SqliteStore) -> None:
    store.commit(snapshot(of=wiki(ONE), bodies=TEXTS, facts={ONE.sha: PageFacts("T")}), listed_at=50)
    shas = [*(f"{number:040x}" for number in range(2000)), ONE.sha]
    assert len(store.bodies(key(1), shas)) == 1
    assert len(store.facts(shas)) == 1
    assert store.lacking(shas) == set(shas) - {ONE.sha}


def test_what_is_not_mirrored_is_not_kept(store: SqliteStore) -> None:
    store.commit(replace(snapshot(of=wiki(ONE), bodies=TEXTS), mirrored=False), listed_at=50)
    assert store.lacking([ONE.sha]) == {ONE.sha}


def test_a_body_that_no_page_has_is_not_kept(store: SqliteStore) -> None:
    look = replace(snapshot(of=wiki(ONE), bodies=TEXTS), bodies={"f" * 40: "stray"}, facts={"f" * 40: PageFacts("T")})
    store.commit(look, listed_at=50)
    assert store.info().bodies == 0
    assert store.facts(["f" * 40]) == {}


def test_a_body_that_another_project_brought_is_searched_too(store: SqliteStore) -> None:
    store.commit(snapshot("acme/a", 1, of=wiki(ONE), bodies=TEXTS), listed_at=50)
    store.commit(snapshot("acme/b", 2, of=wiki(ONE), bodies={}), listed_at=50)
    assert found(store, 2) == 1
    assert store.info().bodies == 1


def test_a_body_goes_when_the_last_project_that_mirrors_it_is_pruned(store: SqliteStore) -> None:
    for number in (1, 2):
        store.commit(snapshot(f"acme/p{number}", number, of=wiki(ONE), bodies=TEXTS), listed_at=50)
    store.prune("git", {2}, listed_at=1000)
    assert store.info().bodies == 1
    store.prune("git", (), listed_at=1000)
    assert store.info().bodies == 0


def test_a_body_goes_when_its_project_is_mirrored_no_longer(store: SqliteStore) -> None:
    store.commit(snapshot(of=wiki(ONE), bodies=TEXTS), listed_at=50)
    store.commit(snapshot(of=None, at=200), listed_at=150)
    assert store.info().bodies == 0
    assert found(store) == 0


def test_a_body_goes_when_its_page_changes(store: SqliteStore) -> None:
    store.commit(snapshot(of=wiki(ONE), bodies=TEXTS), listed_at=50)
    changed = page(ONE.slug, "One", body="2")
    store.commit(snapshot(of=wiki(changed), bodies={ONE.slug: "Other words."}, at=200), listed_at=150)
    assert store.bodies(key(1), [ONE.sha, changed.sha]) == {changed.sha: "Other words."}
    assert found(store) == 0


def test_a_body_stays_while_another_page_has_it(store: SqliteStore) -> None:
    twin = replace(ONE, slug="concepts/twin", title="Twin")
    store.commit(snapshot(of=wiki(ONE, twin), bodies=TEXTS), listed_at=50)
    store.commit(snapshot(of=wiki(twin), bodies={}, at=200), listed_at=150)
    assert store.info().bodies == 1
    assert found(store) == 1


def test_a_project_can_be_mirrored_later_while_its_pages_stay(store: SqliteStore) -> None:
    store.commit(snapshot(of=wiki(ONE)), listed_at=50)
    mirrored = replace(snapshot(of=None, at=200), mirrored=True, bodies={ONE.sha: "The text of one."})
    store.commit(mirrored, listed_at=150)
    assert found(store) == 1


def test_a_body_that_went_while_it_was_counted_on_is_read_at_the_next_look(store: SqliteStore) -> None:
    """A page moves from the first project to the second; between the two looks, nobody has it."""
    store.commit(snapshot("acme/a", 1, of=wiki(ONE), bodies=TEXTS), listed_at=50)
    counting = replace(snapshot("acme/b", 2, of=wiki(ONE)), mirrored=True, held=frozenset({ONE.sha}))
    store.prune("git", [2], listed_at=150)
    assert store.commit(counting, listed_at=50)
    known = store.known("git")[2]
    assert (known.stamp, known.wiki_tree == counting.wiki_tree) == ("", False)
    store.commit(snapshot("acme/b", 2, of=wiki(ONE), bodies=TEXTS, at=NOW), listed_at=NOW)
    assert store.bodies(key(2), [ONE.sha]) == {ONE.sha: "The text of one."}
    assert store.known("git")[2].stamp == "stamp"


def test_an_enormous_body_is_kept_whole(store: SqliteStore) -> None:
    body = "word ß \0 " * 400_000
    store.commit(snapshot(of=wiki(ONE), bodies={ONE.slug: body}), listed_at=50)
    assert store.bodies(key(1), [ONE.sha])[ONE.sha] == body


def test_facts_are_kept_and_replaced_by_sha(store: SqliteStore) -> None:
    store.commit(snapshot(of=wiki(ONE), facts={ONE.sha: PageFacts("T", "guide", None)}), listed_at=50)
    store.commit(snapshot(of=None, facts={ONE.sha: PageFacts(None, None, "H")}, at=200), listed_at=150)
    assert store.facts([ONE.sha]) == {ONE.sha: PageFacts(None, None, "H")}


def test_facts_go_with_the_last_page_that_has_their_sha(store: SqliteStore) -> None:
    for number in (1, 2):
        store.commit(snapshot(f"acme/p{number}", number, of=wiki(ONE), facts={ONE.sha: PageFacts("T")}), listed_at=50)
    store.prune("git", {2}, listed_at=1000)
    assert len(store.facts([ONE.sha])) == 1
    store.commit(snapshot("acme/p2", 2, of=wiki(), at=200), listed_at=150)
    assert store.facts([ONE.sha]) == {}
