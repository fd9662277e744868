"""The store beside a model of it in plain dictionaries, under any sequence of writes."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cache.model import Page, PageFacts, ProjectKey
from cache.search.query import Query
from cache.store import SqliteStore
from tests.support.snapshots import key, page, sha_of, snapshot, wiki

NUMBERS = st.integers(1, 4)
NAMES = st.sampled_from(["acme/a", "acme/b", "Acme/A", "tools/a"])
TEXTS = st.sampled_from(["yarn", "yarn on windows", "exec yarn yarn", "Ключ", "配置任务", "windows exec"])
QUERIES = [Query.parse(text) for text in ("yarn", "windows yarn", "how to exec yarn", "люч", "任务配置", "body")]


@st.composite
def wikis(draw: st.DrawFn) -> tuple[Page, ...]:
    slugs = draw(st.lists(st.sampled_from(["raw/a", "concepts/yarn", "concepts/b", "c"]), unique=True))
    return tuple(
        page(slug, draw(TEXTS), draw(TEXTS), body=draw(TEXTS), position=at) for at, slug in enumerate(slugs, start=1)
    )


@dataclass
class Model:
    """What is known of one project."""

    name: str | None
    pages: tuple[Page, ...] = ()
    mirrored: bool = False
    seen_at: float = 0.0
    bodies: dict[str, str] = field(default_factory=dict)


class StoreBesideModel(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = SqliteStore(Path(self.folder.name, "cache.db"), on_notice=lambda notice: pytest.fail(str(notice)))
        self.projects: dict[int, Model] = {}
        self.now = 0.0

    def teardown(self) -> None:
        if hasattr(self, "store"):
            assert self.store.check() == []
            self.store.close()
            self.folder.cleanup()

    def take_name(self, number: int, name: str) -> None:
        for other, project in self.projects.items():
            if other != number and project.name == name:
                project.name = None

    @rule(number=NUMBERS, name=NAMES, members=wikis() | st.none(), mirrored=st.booleans())
    def commit(self, number: int, name: str, members: tuple[Page, ...] | None, mirrored: bool) -> None:
        self.now += 1
        old = self.projects.get(number)
        shown = members if members is not None else (old.pages if old else ())
        bodies = {member.sha: f"body of {member.sha} yarn" for member in shown}
        facts = {member.sha: PageFacts(heading=member.sha) for member in shown}
        look = snapshot(name, number, of=None if members is None else wiki(*members), at=self.now, facts=facts)
        look = replace(look, mirrored=mirrored, bodies=bodies)
        assert self.store.commit(look, listed_at=self.now)
        self.take_name(number, name)
        seen_at = old.seen_at if old else self.now
        self.projects[number] = Model(name, shown, mirrored, seen_at, bodies if mirrored else {})

    @precondition(lambda self: self.projects)
    @rule(number=NUMBERS, name=NAMES)
    def rename(self, number: int, name: str) -> None:
        self.store.rename(key(number), name, None)
        self.take_name(number, name)
        if number in self.projects:
            self.projects[number].name = name

    @rule(number=NUMBERS, name=NAMES)
    def fail(self, number: int, name: str) -> None:
        self.now += 1
        self.store.record_failure(snapshot(name, number, at=self.now), "it broke", denied=False, listed_at=self.now)
        self.take_name(number, name)
        self.projects.setdefault(number, Model(name, seen_at=self.now)).name = name

    @rule(keep=st.sets(NUMBERS), ago=st.integers(0, 2))
    def prune(self, keep: set[int], ago: int) -> None:
        listed_at = self.now - ago
        gone = [n for n, project in self.projects.items() if n not in keep and project.seen_at <= listed_at]
        assert self.store.prune("git", keep, listed_at=listed_at) == len(gone)
        for number in gone:
            del self.projects[number]

    @precondition(lambda self: any(project.pages for project in self.projects.values()))
    @rule(data=st.data(), title=TEXTS, body=TEXTS)
    def remember(self, data: st.DataObject, title: str, body: str) -> None:
        number = data.draw(st.sampled_from([n for n, project in self.projects.items() if project.pages]))
        project = self.projects[number]
        before = data.draw(st.sampled_from(project.pages))
        after = replace(before, title=title, sha=sha_of(body))
        self.store.remember(
            key(number),
            [after, page("not/known")],
            {after.sha: f"body of {after.sha} yarn"},
            {after.sha: PageFacts(heading=after.sha)},
        )
        project.pages = tuple(after if member is before else member for member in project.pages)
        if project.mirrored:
            project.bodies[after.sha] = f"body of {after.sha} yarn"

    @rule()
    def clear(self) -> None:
        self.store.clear()
        self.projects.clear()

    @invariant()
    def names_are_those_of_the_model(self) -> None:
        if hasattr(self, "store"):
            named = {n: project.name for n, project in self.projects.items() if project.name is not None}
            assert {found.key.id: found.name for found in self.store.projects(limit=99)} == named
            assert self.store.known("git").keys() == self.projects.keys()

    @invariant()
    def contents_are_those_of_the_model(self) -> None:
        if not hasattr(self, "store"):
            return
        shas = {member.sha for project in self.projects.values() for member in project.pages}
        mirrored = {sha for project in self.projects.values() for sha in project.bodies} & {
            member.sha for project in self.projects.values() if project.mirrored for member in project.pages
        }
        for number, project in self.projects.items():
            own = {member.sha for member in project.pages}
            assert self.store.pages(key(number)) == project.pages
            assert self.store.bodies(key(number), shas).keys() == own & mirrored
        assert self.store.facts(shas).keys() == shas
        assert self.store.info().bodies == len(mirrored)

    @invariant()
    def matches_are_those_of_a_store_that_never_saw_anything_else(self) -> None:
        if not hasattr(self, "store") or not self.projects:
            return
        keys = [key(number) for number in self.projects]
        with tempfile.TemporaryDirectory() as folder:
            fresh = SqliteStore(Path(folder, "cache.db"), on_notice=lambda notice: pytest.fail(str(notice)))
            for number, project in self.projects.items():
                look = replace(snapshot(f"x/{number}", number, of=wiki(*project.pages)), mirrored=project.mirrored)
                fresh.commit(replace(look, bodies=project.bodies), listed_at=0)
            for query in QUERIES:
                assert self.answers(self.store, keys, query) == self.answers(fresh, keys, query)
            fresh.close()

    def answers(self, store: SqliteStore, keys: list[ProjectKey], query: Query) -> dict[ProjectKey, list[object]]:
        found = store.match(keys, query, types=None)
        return {k: [(match.page, match.step, match.score) for match in matches] for k, matches in found.items()}


TestStoreBesideModel = StoreBesideModel.TestCase
TestStoreBesideModel.settings = settings(
    max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
