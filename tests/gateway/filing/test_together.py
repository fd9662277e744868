"""Several gateways that file the same text at the same moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from cache.errors import Unavailable
from cache.interface import Mine
from cache.model import RepoRef
from cache.store import SqliteStore
from gateway.answers import TaskAnswer
from sync.forge.writing import Issue
from sync.tasks import Task, title_of
from tests.support.filing import BODY, Desk
from tests.support.forges import Faulty

pytestmark = pytest.mark.anyio


async def all_file(desks: Sequence[Desk]) -> list[TaskAnswer]:
    """What each is answered that files the text while the others do."""
    answers: list[TaskAnswer] = []

    async def file(desk: Desk) -> None:
        answers.append(await desk.file())

    async with anyio.create_task_group() as group:
        for desk in desks:
            group.start_soon(file, desk)
    return answers


@pytest.fixture
def sharing(desk: Desk, tmp_path: Path) -> Iterator[list[Desk]]:
    """Five with the same cache file."""
    with ExitStack() as stack:
        desks = []
        for _ in range(5):
            store = SqliteStore(tmp_path / "cache.db", clock=desk.fleet.clock, on_notice=print)
            stack.callback(store.close)
            desks.append(replace(desk, store=store))
        yield desks


@pytest.mark.parametrize("filing", ["issue", "file"])
async def test_with_one_cache_they_file_one_task_between_them(desk: Desk, sharing: list[Desk], filing: str) -> None:
    for each in sharing:
        each.policy = replace(each.policy, filing=filing)  # type: ignore[arg-type] # one of its words
    answers = await all_file(sharing)
    assert len({(answer.number, answer.path) for answer in answers}) == 1
    assert sorted(answer.created for answer in answers) == [False] * 4 + [True]
    assert desk.posts == 1


async def test_calls_of_one_gateway_do_the_same(desk: Desk) -> None:
    answers = await all_file([desk] * 5)
    assert sorted((answer.number, answer.created) for answer in answers) == [(1, False)] * 4 + [(1, True)]


async def test_another_who_takes_long_is_waited_for_within_the_deadline(desk: Desk, sharing: list[Desk]) -> None:
    store = sharing[0].store
    assert store is not None
    claim = store.claim_task(desk.fleet.project("acme/web").key, Task(title_of(BODY), BODY).digest)
    assert isinstance(claim, Mine)
    desk.deadline = 0.3
    with pytest.raises(Unavailable, match="another gateway is filing this task right now — ask again in a moment"):
        await desk.file()
    store.release_task(claim)
    desk.deadline = 20.0
    assert (await desk.file()).created


@dataclass
class InStep(Faulty):
    """A forge of which each look ends when ``others`` have looked as well."""

    looked: anyio.Event = field(kw_only=True)
    others: anyio.Event = field(kw_only=True)

    async def recent_issues(self, repo: RepoRef, *, since: float) -> Sequence[Issue]:
        issues = await super().recent_issues(repo, since=since)
        self.looked.set()
        await self.others.wait()
        return issues


async def test_with_separate_caches_the_later_one_finds_and_tells_both(desk: Desk, elsewhere: Desk) -> None:
    events = anyio.Event(), anyio.Event()
    for each, (looked, others) in ((desk, events), (elsewhere, events[::-1])):
        each.forge = InStep(each.fleet.client, looked=looked, others=others)
    answers = await all_file([desk, elsewhere])
    assert len(desk.repo.issues) == 2
    told = {answer.warning for answer in answers if answer.number == 1} - {None}  # one may be done before the other
    assert told == {
        "gateways with separate caches filed it at the same moment, as #1 and #2 — keep #1 and close the other"
    }
    assert all(answer.number == 1 or answer.warning is None for answer in answers)
    for each in (desk, elsewhere):
        each.forge = None
    assert {(await each.file()).created for each in (desk, elsewhere)} == {False}
    assert len(desk.repo.issues) == 2
