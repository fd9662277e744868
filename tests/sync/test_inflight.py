"""Identical requests that are under way at the same time."""

import anyio
import pytest

from cache.errors import Unavailable
from sync.exchange import Trouble, Unreachable
from sync.inflight import InFlight

pytestmark = pytest.mark.anyio


class Work:
    """Work that can be held up, and counts how often it was done."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.started = 0
        self.go_on = anyio.Event()
        self.failure = failure

    async def __call__(self) -> str:
        self.started += 1
        await self.go_on.wait()
        if self.failure is not None:
            raise self.failure
        return f"done {self.started}"


async def test_callers_of_the_same_get_the_same() -> None:
    flights, work, got = InFlight[str, str](), Work(), list[str]()

    async def ask() -> None:
        got.append(await flights.run("key", work))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        work.go_on.set()
    assert got == ["done 1"] * 3


async def test_different_keys_are_different_work() -> None:
    flights, work = InFlight[str, str](), Work()
    work.go_on.set()
    await flights.run("one", work)
    await flights.run("two", work)
    assert work.started == 2


async def test_what_has_ended_is_done_again() -> None:
    flights, work = InFlight[str, str](), Work()
    work.go_on.set()
    await flights.run("key", work)
    await flights.run("key", work)
    assert work.started == 2


async def test_an_error_of_ours_is_everybodys() -> None:
    flights, work, got = InFlight[str, str](), Work(Unavailable("down")), list[str]()

    async def ask() -> None:
        with pytest.raises(Unavailable) as caught:
            await flights.run("key", work)
        got.append(caught.value.message)

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        work.go_on.set()
    assert got == ["down", "down"]
    assert work.started == 1


async def test_a_cancelled_follower_leaves_the_others_alone() -> None:
    flights, work, got = InFlight[str, str](), Work(), list[str]()

    async def ask() -> None:
        got.append(await flights.run("key", work))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0):
            await flights.run("key", work)
        work.go_on.set()
    assert got == ["done 1"]


async def test_when_the_one_who_works_is_cancelled_one_of_the_others_works() -> None:
    flights, work, got = InFlight[str, str](), Work(), list[str]()
    leader = anyio.CancelScope()

    async def lead() -> None:
        with leader:
            await flights.run("key", work)

    async def ask() -> None:
        got.append(await flights.run("key", work))

    async with anyio.create_task_group() as group:
        group.start_soon(lead)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(ask)
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        leader.cancel()
        await anyio.wait_all_tasks_blocked()
        work.go_on.set()
    assert got == ["done 2"] * 2


async def test_nobody_joins_what_began_before_the_world_changed() -> None:
    flights, work, got = InFlight[str, str](), Work(), list[str]()

    async def ask() -> None:
        got.append(await flights.run("key", work))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        flights.forget()
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert work.started == 2
        work.go_on.set()
    assert len(got) == 2


async def test_an_error_is_each_callers_own_and_says_the_same() -> None:
    """One object for all would keep every caller's frames."""
    error = Unreachable("git.example.test", Trouble.LOST, "connection lost")
    flights, work, got = InFlight[str, str](), Work(error), list[Unreachable]()

    async def ask() -> None:
        with pytest.raises(Unreachable) as caught:
            await flights.run("key", work)
        got.append(caught.value)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        work.go_on.set()
    assert len({id(each) for each in got}) == 3
    assert {(each.message, each.host, each.trouble, each.args) for each in got} == {
        (error.message, error.host, error.trouble, error.args)
    }
    assert [each.__cause__ for each in got] == [None, error, error]
