"""Who may send a request to a host now."""

import anyio
import anyio.lowlevel
import pytest

from sync.admission import SILENCE, Admission, Ticket
from sync.circuit import HOLDS
from sync.exchange import Trouble, Unreachable
from tests.support.timing import ManualTime

pytestmark = pytest.mark.anyio

REFUSED = Unreachable("git.example.test", Trouble.CONNECT, "connection refused")


def gate(time: ManualTime, *, most: int = 2, patience: float = 0.0) -> Admission:
    return Admission("git.example.test", most=most, patience=patience, timing=time.timing)


async def fail(door: Admission, *, slow: bool = False) -> None:
    async with door.slot() as ticket:
        door.failed(ticket, REFUSED, slow=slow)


async def answer(door: Admission, *, overloaded: bool = False, pause: float = 0.0) -> None:
    async with door.slot() as ticket:
        door.answered(ticket, overloaded=overloaded, pause=pause)


async def most_inside(door: Admission) -> int:
    """How many of twenty visitors are inside at once."""
    inside = most = 0

    async def visit() -> None:
        nonlocal inside, most
        async with door.slot():
            inside += 1
            most = max(most, inside)
            await anyio.lowlevel.checkpoint()
            inside -= 1

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(visit)
    return most


async def test_no_more_than_the_most_are_inside() -> None:
    assert await most_inside(gate(ManualTime(), most=3)) == 3


async def test_who_comes_first_goes_first() -> None:
    door, order = gate(ManualTime(), most=1), list[int]()

    async def visit(number: int) -> None:
        async with door.slot():
            order.append(number)

    async with anyio.create_task_group() as group, door.slot():
        for number in range(10):
            group.start_soon(visit, number)
            await anyio.wait_all_tasks_blocked()
    assert order == list(range(10))


async def test_a_cancelled_visitor_gives_its_place_up() -> None:
    door = gate(ManualTime(), most=1)
    async with door.slot():
        with anyio.move_on_after(0):
            async with door.slot():
                pytest.fail("the slot was taken")
    with anyio.fail_after(5):
        await answer(door)


async def test_an_overload_lets_fewer_in_and_answers_let_more_in_again() -> None:
    time = ManualTime()
    door = gate(time, most=4)
    await answer(door, overloaded=True)
    assert await most_inside(door) == 2
    for _ in range(25):
        await answer(door)
    assert await most_inside(door) == 4


async def test_a_pause_that_the_host_asks_for_holds_everybody() -> None:
    time = ManualTime()
    door = gate(time)
    await answer(door, overloaded=True, pause=7.0)
    await answer(door)
    assert time.slept == [7.0]


async def test_a_pause_beyond_the_callers_deadline_is_told_at_once() -> None:
    time = ManualTime()
    door = gate(time)
    await answer(door, overloaded=True, pause=50.0)
    with anyio.fail_after(20), pytest.raises(Unreachable, match="it asks to wait 50 s"):
        await answer(door)
    assert time.slept == []


@pytest.mark.parametrize(("asked", "kept"), [(61.0, 61.0), (3600.0, 600.0)])
async def test_a_pause_that_nobody_waits_for_is_told_at_once_without_a_deadline_too(asked: float, kept: float) -> None:
    """A sync of a thousand projects must not wait for it a thousand times."""
    time = ManualTime()
    door = gate(time)
    await answer(door, overloaded=True, pause=asked)
    for _ in range(5):
        with pytest.raises(Unreachable, match=f"it asks to wait {asked:.0f} s"):
            await answer(door)
    assert time.slept == []
    time.value += kept
    await answer(door)


async def test_a_host_that_is_down_is_found_out_once() -> None:
    time = ManualTime()
    door = gate(time)
    await fail(door, slow=True)
    for _ in range(5):
        with pytest.raises(Unreachable, match="connection refused"):
            async with door.slot():
                pytest.fail("a request was let through")


async def test_a_host_that_is_down_needs_no_free_slot_to_be_told() -> None:
    time = ManualTime()
    door = gate(time, most=1)
    async with door.slot() as ticket:
        door.failed(ticket, REFUSED, slow=True)
        with anyio.fail_after(5), pytest.raises(Unreachable):
            async with door.slot():
                pytest.fail("a request was let through")


async def test_after_the_hold_one_probe_goes_and_the_others_are_told() -> None:
    time = ManualTime()
    door = gate(time)
    await fail(door)
    time.value += HOLDS[0]
    async with door.slot():
        with pytest.raises(Unreachable):
            async with door.slot():
                pytest.fail("a second probe was let through")


async def test_those_who_can_wait_go_when_the_probe_is_answered() -> None:
    time = ManualTime()
    door, went = gate(time, patience=60.0), list[str]()
    await fail(door)
    time.value += HOLDS[0]

    async def visit() -> None:
        async with door.slot() as ticket:
            went.append("in")
            door.answered(ticket, overloaded=False)

    async with anyio.create_task_group() as group, door.slot() as probe:
        group.start_soon(visit)
        await anyio.wait_all_tasks_blocked()
        assert went == []
        door.answered(probe, overloaded=False)
    assert went == ["in"]


async def test_a_cancelled_probe_makes_room_for_the_next() -> None:
    time = ManualTime()
    door = gate(time)
    await fail(door)
    time.value += HOLDS[0]
    with anyio.CancelScope() as scope:
        async with door.slot():
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    with anyio.fail_after(5):
        await answer(door)


async def give_up(door: Admission, time: ManualTime, *, after: float, meanwhile: Ticket | None = None) -> None:
    """A request that its caller gives up ``after`` seconds; another one may be answered ``meanwhile``."""
    with anyio.CancelScope() as scope:
        async with door.slot():
            time.value += after
            if meanwhile is not None:
                door.answered(meanwhile, overloaded=False)
            scope.cancel()
            await anyio.lowlevel.checkpoint()


async def test_a_host_that_says_nothing_to_anybody_is_down() -> None:
    time = ManualTime()
    door = gate(time)
    await give_up(door, time, after=SILENCE)
    with pytest.raises(Unreachable, match="no answer in 5 s"):
        async with door.slot():
            pytest.fail("a request was let through")


async def test_one_slow_answer_does_not_make_a_host_down_that_answers_others() -> None:
    time = ManualTime()
    door = gate(time)
    async with door.slot() as other:
        await give_up(door, time, after=SILENCE, meanwhile=other)
    await answer(door)


async def test_a_request_that_is_given_up_soon_tells_nothing() -> None:
    time = ManualTime()
    door = gate(time)
    await give_up(door, time, after=SILENCE - 1)
    await answer(door)
