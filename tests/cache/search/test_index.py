"""Asking the wikis of projects, through the store."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cache.interface import Matches
from cache.model import Page
from cache.search.query import Query
from cache.store import SqliteStore
from tests.support.snapshots import key, page, pages, snapshot, wiki


def commit(store: SqliteStore, *members: Page, number: int = 1, bodies: dict[str, str] | None = None) -> None:
    store.commit(snapshot(f"acme/p{number}", number, of=wiki(*members), bodies=bodies), listed_at=50)


def ask(store: SqliteStore, query: str, *, types: frozenset[str] | None = None, number: int = 1) -> Matches:
    return store.match([key(number)], Query.parse(query), types=types)[key(number)]


def found(store: SqliteStore, query: str, *, types: frozenset[str] | None = None) -> list[tuple[int, str]]:
    """The step and title of each match."""
    return [(match.step, match.page.title) for match in ask(store, query, types=types)]


def test_an_agents_question_finds_the_page(store: SqliteStore) -> None:
    commit(store, *pages("Linux builds", "Windows yarn exec", "Release notes"))
    assert found(store, "how do we run yarn on windows") == [(4, "Windows yarn exec")]


def test_part_of_a_title_is_the_first_step(store: SqliteStore) -> None:
    commit(store, *pages("Windows yarn exec"))
    assert found(store, "OWS YARN") == [(1, "Windows yarn exec")]


def test_part_of_a_slug_is_the_first_step(store: SqliteStore) -> None:
    commit(store, page("concepts/build/cache-keys", "Keys"))
    assert found(store, "ld/cache-k") == [(1, "Keys")]


def test_slug_and_title_count_each_by_itself(store: SqliteStore) -> None:
    commit(store, page("concepts/one", "two"))
    assert found(store, "one two") == [(2, "two")]


def test_a_description_is_no_part_of_the_first_step(store: SqliteStore) -> None:
    commit(store, page("concepts/a", "A", "about yarn"))
    assert found(store, "yarn") == [(2, "A")]


def test_all_words_in_any_order_are_the_second_step(store: SqliteStore) -> None:
    commit(store, page("concepts/windows", "Exec", "with yarn"), page("concepts/other", "Windows"))
    assert found(store, "yarn windows exec") == [(2, "Exec"), (4, "Windows")]


def test_words_meet_by_their_stems(store: SqliteStore) -> None:
    commit(store, *pages("Configuration of caches"))
    assert found(store, "configuring cache") == [(2, "Configuration of caches")]


def test_a_hyphenated_query_finds_the_words(store: SqliteStore) -> None:
    commit(store, *pages("Windows yarn exec"))
    assert found(store, "windows-yarn") == [(2, "Windows yarn exec")]


def test_a_name_is_found_by_its_parts(store: SqliteStore) -> None:
    commit(store, page("packages/x", "WindowsYarnExec"))
    assert found(store, "exec on windows")[0] == (4, "WindowsYarnExec")


def test_a_mirrored_body_is_the_third_step(store: SqliteStore) -> None:
    body = page("concepts/a", "A", body="Run yarn under cmd.exe.")
    some = page("concepts/yarn", "B", position=1)
    commit(store, body, some, bodies={"concepts/a": "Run yarn under cmd.exe.", "concepts/yarn": "Nothing."})
    assert found(store, "how to run yarn under cmd") == [(3, "A"), (4, "B")]


def test_a_body_that_lacks_a_word_is_no_match(store: SqliteStore) -> None:
    commit(store, page("concepts/a", "A", body="Run yarn"), bodies={"concepts/a": "Run yarn"})
    assert found(store, "yarn windows") == []


def test_a_body_may_lack_one_word_of_a_question_that_no_body_has_all_words_of(store: SqliteStore) -> None:
    texts = {"yarn": "none", "caching": "they need a shell", "os": "Yarn needs a portable shell.", "scripts": "none"}
    members = [page(slug, slug.upper(), body=text, position=at) for at, (slug, text) in enumerate(texts.items())]
    commit(store, *members, bodies=texts)
    assert found(store, "which shell does yarn need for scripts") == [(3, "OS"), (4, "YARN"), (4, "SCRIPTS")]
    assert found(store, "portable shell yarn") == [(3, "OS"), (4, "YARN")]


@pytest.mark.parametrize(
    "words", [["ant", "bee", "cat"], ["ant", "bee", "cat", "dog"], ["ant", "bee", "cat", "dog", "elk"]]
)
def test_it_may_lack_any_one_word_and_no_two(store: SqliteStore, words: list[str]) -> None:
    one = [" ".join(word for word in words if word != lacking) for lacking in words]
    two = [text.rpartition(" ")[0] for text in one]
    texts = dict(enumerate([*one, *two]))
    members = [page(f"p{at}", f"P{at}", body=text, position=at) for at, text in texts.items()]
    commit(store, *members, bodies={each.slug: texts[at] for at, each in enumerate(members)})
    assert found(store, " ".join(words)) == [(3, f"P{at}") for at in range(len(one))]


def test_bodies_of_projects_that_are_not_mirrored_are_not_searched(store: SqliteStore) -> None:
    shared = page("concepts/a", "A", body="Run yarn")
    commit(store, shared, number=1, bodies={"concepts/a": "Run yarn"})
    commit(store, shared, number=2)
    assert len(ask(store, "yarn", number=1)) == 1
    assert len(ask(store, "yarn", number=2)) == 0


def test_a_body_that_says_it_more_often_comes_first(store: SqliteStore) -> None:
    texts = {"concepts/1": "yarn and more words here", "concepts/2": "yarn yarn and more here"}
    commit(store, page("concepts/1", "A", body="a"), page("concepts/2", "B", body="b", position=1), bodies=texts)
    assert found(store, "yarn") == [(3, "B"), (3, "A")]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("РАЗВЁРТЫВАНИЕ", "Как идёт развертывание"),
        ("вертыв", "Как идёт развертывание"),
        ("übertragung", "Sichere Datenübertragung"),
        ("STRASSE", "Die Straße"),
        ("队列", "任务队列配置"),
        ("설정", "배포 설정방법"),
        ("กำหนด", "การกำหนดค่า"),
    ],
)
def test_every_script_matches_by_substring(store: SqliteStore, query: str, title: str) -> None:
    commit(store, *pages("Other", title))
    assert found(store, query) == [(1, title)]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("вертывание сервисов", "Сервисов развертывание"),
        ("übertragung sichere", "Sichere Datenübertragung"),
        ("任务 配置", "配置任务队列"),
        ("yarn任务", "任务 yarn"),
        ("uber alles", "Alles über"),
    ],
)
def test_words_of_every_script_match_in_any_order(store: SqliteStore, query: str, title: str) -> None:
    commit(store, *pages("Other", title))
    assert found(store, query) == [(2, title)]


def test_a_question_without_spaces_finds_the_page(store: SqliteStore) -> None:
    commit(store, *pages("部署", "任务队列"))
    assert found(store, "如何配置任务队列") == [(4, "任务队列")]


def test_a_body_of_another_script_is_found_by_a_part_of_its_words(store: SqliteStore) -> None:
    commit(store, page("concepts/a", "A", body="x"), bodies={"concepts/a": "Запустите сборку с ключом."})
    assert found(store, "сборк ключ") == [(3, "A")]


LANGUAGE = (
    '"', '"yarn', "yarn*", "yarn AND cache", "NOT yarn", "NEAR(yarn cache)", "terms:yarn", "{terms}: yarn", "^yarn",
    "-yarn", "(yarn", "yarn + cache", "'", "; DROP TABLE page", "%", "_", "\0", "\ud800", "a\0b", "", " ",
)  # fmt: skip


@pytest.mark.parametrize("query", LANGUAGE)
def test_no_query_is_a_language(store: SqliteStore, query: str) -> None:
    commit(store, page("concepts/zebra", "Zebra"), page("concepts/and", "AND", position=1))
    assert all(title == "AND" for _, title in found(store, query))


@pytest.mark.parametrize("sign", ["%", "_", "*", "?", "[", '"', "'", "\\", "::", "!!!"])
def test_signs_match_themselves_only(store: SqliteStore, sign: str) -> None:
    commit(store, *pages("Plain", f"With {sign} in it"))
    assert found(store, sign) == [(1, f"With {sign} in it")]


def test_raw_pages_are_matches_only_when_asked_for(store: SqliteStore) -> None:
    commit(store, page("raw/yarn", "Yarn log"), page("concepts/yarn", "Yarn", position=1))
    assert found(store, "yarn") == [(1, "Yarn")]
    assert found(store, "yarn", types=frozenset({"raw"})) == [(1, "Yarn log")]
    assert found(store, "yarn", types=frozenset({"RAW", "Concepts"})) == [(1, "Yarn log"), (1, "Yarn")]


def test_no_type_shows_no_page(store: SqliteStore) -> None:
    commit(store, *pages("Yarn"))
    assert found(store, "yarn", types=frozenset()) == []


def test_pages_of_equal_rank_keep_the_order_of_the_index(store: SqliteStore) -> None:
    commit(store, *pages("Yarn z", "Yarn a", "Yarn m"))
    assert found(store, "yarn") == [(1, "Yarn z"), (1, "Yarn a"), (1, "Yarn m")]


def test_scores_fall_from_match_to_match(store: SqliteStore) -> None:
    commit(store, *pages("Windows", "Yarn windows", "Yarn", "Exec", "Windows yarn exec"))
    scores = [match.score for match in ask(store, "yarn windows exec")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)


def test_a_limit_reads_fewer_pages_and_counts_all(store: SqliteStore) -> None:
    commit(store, *pages(*(f"Yarn {number}" for number in range(30))))
    answer = store.match([key(1)], Query.parse("yarn"), types=None, limit=3)[key(1)]
    assert [match.page.title for match in answer] == ["Yarn 0", "Yarn 1", "Yarn 2"]
    assert answer.total == 30


def test_a_match_shows_the_whole_page(store: SqliteStore) -> None:
    (member,) = pages("Yarn")
    commit(store, member)
    assert ask(store, "yarn")[0].page == member


def test_an_unknown_project_has_no_matches(store: SqliteStore) -> None:
    assert list(ask(store, "yarn")) == []


def test_each_project_answers_by_itself(store: SqliteStore) -> None:
    commit(store, *pages("Yarn"), number=1)
    commit(store, *pages("Exec"), number=2)
    answers = store.match([key(1), key(2), key(3)], Query.parse("yarn"), types=None)
    assert {project.id: len(matches) for project, matches in answers.items()} == {1: 1, 2: 0, 3: 0}


def test_what_other_projects_hold_changes_nothing(store: SqliteStore) -> None:
    members = (*pages("Yarn on windows", "Windows", "Exec the cache"), page("concepts/b", "B", body="b", position=9))
    commit(store, *members, bodies={"concepts/b": "yarn windows exec windows"})
    before = ask(store, "yarn windows exec")
    for number in range(2, 12):
        others = pages(*["Windows"] * 20, "Yarn")
        commit(store, *others, number=number, bodies={other.slug: "windows yarn exec " * 9 for other in others})
    assert ask(store, "yarn windows exec") == before


def test_projects_that_know_more_of_the_words_come_first(store: SqliteStore) -> None:
    commit(store, *pages("Yarn", "Yarn two", "Yarn three"), number=1)
    commit(store, *pages("Yarn", "Windows"), number=2)
    commit(store, *pages("Other"), number=3)
    known = store.projects_knowing(Query.parse("how does yarn run on windows"), limit=5)
    assert [project.key.id for project in known] == [2, 1]


def test_of_projects_that_know_equally_many_words_those_with_more_pages_come_first(store: SqliteStore) -> None:
    commit(store, *pages("Yarn"), number=1)
    commit(store, *pages("Yarn", "Yarn two"), number=2)
    known = store.projects_knowing(Query.parse("yarn"), limit=1)
    assert [project.key.id for project in known] == [2]


def test_nobody_knows_a_query_without_words(store: SqliteStore) -> None:
    commit(store, *pages("Yarn"))
    assert store.projects_knowing(Query.parse("!!!"), limit=5) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(query=st.text(max_size=60) | st.text('"*()^:{}+-ANDORT yarn\0\ud800任务', max_size=30))
def test_no_query_breaks_the_search(store: SqliteStore, query: str) -> None:
    if store.project(key(1)) is None:
        commit(store, *pages("Yarn", '任务 (and) "more"'), bodies={"concepts/1": "yarn"})
    parsed = Query.parse(query)
    store.projects_knowing(parsed, limit=3)
    for match in store.match([key(1)], parsed, types=None)[key(1)]:
        assert 0 < match.score < 1
