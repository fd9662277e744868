"""Answers that are lost: a task is filed once, found where it was filed, and never sent again on a guess."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from cache.errors import KnowledgeError, StoreFailure, TimedOut, Unavailable
from cache.interface import Mine
from cache.model import FiledTask
from cache.store import SqliteStore
from sync.tasks import LATE
from tests.fake_gitea import CutBody, Hang, Json, Reply, Reset, unavailable, web_page
from tests.fake_gitea.faults import Effect
from tests.support.filing import LIST, Desk

pytestmark = pytest.mark.anyio

ISSUES, CONTENTS, FILES = "*/issues", "*/contents", "*/file-contents"
UNKNOWN = "filed this task — ask again in a minute: it is looked for first, and never filed twice"
DONE: list[Effect] = [Reset(after=True), CutBody(), Json({}), Json(None)]
UNHEARD: list[Effect] = [Reset(), Reply(500), Reply(504), unavailable(), web_page()]


def kind(effect: Effect) -> str:
    return f"{effect.status}" if isinstance(effect, Reply) else type(effect).__name__


@pytest.fixture(params=["issue", "file"])
def desk(desk: Desk, request: pytest.FixtureRequest) -> Desk:
    """One that files issues, and one that files files."""
    desk.policy = replace(desk.policy, filing=request.param)
    return desk


def filed(desk: Desk) -> int:
    """How many tasks there are on the forge."""
    tip = desk.repo.tip()
    assert tip is not None
    return len(desk.repo.issues) + sum(path.startswith(".tasks/") for path in tip.snapshot.files)


def break_once(desk: Desk, effect: Effect) -> None:
    """Let ``effect`` strike the next request that files something."""
    desk.server.faults.add(effect, method="POST", route=ISSUES, times=1)
    desk.server.faults.add(effect, method="POST", route=CONTENTS, times=1)


async def unknown(desk: Desk) -> None:
    with pytest.raises(Unavailable) as caught:
        await desk.file()
    assert caught.value.message.endswith(UNKNOWN)


class TestFiledAfterAll:
    @pytest.mark.parametrize("effect", DONE, ids=kind)
    async def test_it_is_found_and_is_the_only_one(self, desk: Desk, effect: Effect) -> None:
        break_once(desk, effect)
        answer = await desk.file()
        assert answer.created
        assert (answer.number, filed(desk), desk.posts) == (1 if answer.kind == "issue" else None, 1, 1)
        assert await desk.file() == replace(answer, created=False)
        assert desk.posts == 1

    async def test_it_is_found_when_it_comes_to_light_later(self, desk: Desk) -> None:
        break_once(desk, Reset(after=True))
        desk.server.faults.add(Json([]), route=ISSUES, method="GET", skip=1, times=1)
        desk.server.faults.add(Json([None] * 8), route=FILES, skip=1, times=1)
        assert (await desk.file()).created
        assert (filed(desk), desk.posts) == (1, 1)

    async def test_a_forge_that_lets_nothing_be_seen_is_asked_later(self, desk: Desk) -> None:
        break_once(desk, Reset(after=True))
        desk.server.faults.add(Reply(500), route=ISSUES, method="GET", skip=1)
        desk.server.faults.add(Reply(500), route=FILES, skip=1)
        await unknown(desk)
        desk.server.faults.clear()
        answer = await desk.file()
        assert not answer.created
        assert (filed(desk), desk.posts) == (1, 1)

    async def test_a_forge_that_never_answers_is_waited_for_within_the_deadline(self, desk: Desk) -> None:
        break_once(desk, Hang(after=True))
        desk.deadline = 2.0
        assert (await desk.file()).created
        assert (filed(desk), desk.posts) == (1, 1)

    async def test_a_caller_who_gave_up_finds_it(self, desk: Desk) -> None:
        break_once(desk, Hang(after=True))
        async with anyio.create_task_group() as group:
            group.start_soon(desk.file)
            with anyio.fail_after(10):
                while not filed(desk):  # noqa: ASYNC110 the forge's thread makes it
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        assert not (await desk.file()).created
        assert (filed(desk), desk.posts) == (1, 1)

    async def test_a_gateway_that_was_killed_leaves_it_to_be_found(self, desk: Desk) -> None:
        answer = await desk.file()
        desk.later(1)
        forget(desk)
        assert await desk.file() == replace(answer, created=False)
        assert desk.posts == 1


def forget(desk: Desk) -> None:
    """Have the journal as a gateway leaves it that ends between the request and its answer."""
    store = desk.fleet.store
    assert isinstance(store, SqliteStore)
    store._database.write(lambda connection: connection.execute("UPDATE task_journal SET kind = NULL"))


class TestNotFiled:
    @pytest.mark.parametrize("effect", UNHEARD, ids=kind)
    async def test_nobody_knows_and_it_is_not_sent_again_while_it_may_be_on_its_way(
        self, desk: Desk, effect: Effect
    ) -> None:
        break_once(desk, effect)
        await unknown(desk)
        desk.later(LATE / 2)
        await unknown(desk)
        assert (filed(desk), desk.posts) == (0, 1)
        desk.later(LATE / 2)
        assert (await desk.file()).created
        assert (filed(desk), desk.posts) == (1, 2)

    async def test_a_dry_run_says_so_too(self, desk: Desk) -> None:
        break_once(desk, Reset())
        await unknown(desk)
        with pytest.raises(Unavailable, match="nobody knows yet"):
            await desk.file(dry_run=True)

    async def test_what_never_got_through_is_out_of_the_way_after_the_deadline(self, desk: Desk) -> None:
        break_once(desk, Hang())
        desk.deadline = 1.0
        await unknown(desk)
        assert (filed(desk), desk.posts) == (0, 1)

    @pytest.mark.parametrize(
        "effect",
        [Reply(503, headers={"retry-after": "0"}), Reply(403, '{"message": "you are blocked"}', "application/json")],
        ids=kind,
    )
    async def test_what_was_refused_for_certain_may_be_sent_at_once(self, desk: Desk, effect: Effect) -> None:
        break_once(desk, effect)
        with pytest.raises(KnowledgeError):
            await desk.file()
        assert (await desk.file()).created
        assert (filed(desk), desk.posts) == (1, 2)

    async def test_a_forge_that_cannot_be_looked_at_is_sent_nothing(self, desk: Desk) -> None:
        desk.server.faults.add(Reply(500), route=ISSUES, method="GET")
        desk.server.faults.add(Reply(500), route=FILES)
        with pytest.raises(KnowledgeError):
            await desk.file()
        assert desk.posts == 0
        desk.server.faults.clear()
        assert (await desk.file()).created

    async def test_a_forge_that_is_too_slow_before_it_was_sent_anything_is_timed_out(self, desk: Desk) -> None:
        desk.server.faults.add(Hang(), route=ISSUES, method="GET")
        desk.server.faults.add(Hang(), route=FILES)
        desk.deadline = 0.2
        with pytest.raises(TimedOut):
            await desk.file()
        assert desk.posts == 0
        desk.server.faults.clear()
        desk.deadline = 20.0
        assert (await desk.file()).created


class Forgetful(SqliteStore):
    """A cache that cannot note what a task was filed as."""

    def settle_task(self, claim: Mine, task: FiledTask) -> None:
        self.release_task(claim)
        raise StoreFailure("the disk with the cache is full — make room")


class Full(SqliteStore):
    """A cache that can note nothing."""

    def note_sending(self, claim: Mine) -> None:
        raise StoreFailure("the disk with the cache is full — make room")


class TestWithoutAJournal:
    async def test_a_task_is_filed_although_that_cannot_be_noted(
        self, desk: Desk, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with closing(Forgetful(tmp_path / "other.db", clock=desk.fleet.clock, on_notice=print)) as desk.store:
            answer = await desk.file()
            assert answer.created
            assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
                "the disk with the cache is full — make room"
            ]
            assert await desk.file() == replace(answer, created=False)
        assert (filed(desk), desk.posts) == (1, 1)

    async def test_nothing_is_sent_that_could_be_forgotten(self, desk: Desk, tmp_path: Path) -> None:
        with closing(Full(tmp_path / "other.db", clock=desk.fleet.clock, on_notice=print)) as desk.store:
            with pytest.raises(StoreFailure, match="make room"):
                await desk.file()
            assert desk.posts == 0
            assert isinstance(desk.store.claim_task(desk.fleet.project("acme/web").key, "x"), Mine)

    async def test_a_caller_who_gives_up_after_it_was_filed_leaves_it_noted(self, desk: Desk) -> None:
        desk.policy = replace(desk.policy, filing="issue")
        desk.server.faults.add(Hang(), route=ISSUES, method="GET", skip=1, times=1)
        async with anyio.create_task_group() as group:
            group.start_soon(desk.file)
            with anyio.fail_after(10):
                while desk.server.counts.get(LIST, 0) < 2:  # noqa: ASYNC110 the forge's thread counts
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        desk.server.reset_counts()
        assert (await desk.file()).number == 1
        assert desk.server.counts == {}
