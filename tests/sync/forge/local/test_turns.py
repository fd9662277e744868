"""Turns: one after the other, unless that would keep somebody waiting."""

from __future__ import annotations

import anyio
import pytest

from sync.forge.local.turns import Turns

pytestmark = pytest.mark.anyio


async def test_short_ones_come_one_after_the_other() -> None:
    turns = Turns(patience=60)
    inside = most = 0

    async def work() -> None:
        nonlocal inside, most
        async with turns.taken():
            inside += 1
            most = max(most, inside)
            await anyio.lowlevel.checkpoint()
            inside -= 1

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(work)
    assert most == 1


async def test_who_has_waited_long_enough_goes_ahead_and_leaves_the_turn_to_its_owner() -> None:
    turns = Turns(patience=0.01)
    async with turns.taken():
        for _ in range(2):
            async with turns.taken():
                pass
    async with turns.taken():
        pass


@pytest.mark.parametrize("raised", [ValueError, None])
async def test_a_turn_ends_however_its_block_does(raised: type[Exception] | None) -> None:
    turns = Turns(patience=60)
    try:
        async with turns.taken():
            if raised is not None:
                raise raised
    except ValueError:
        pass
    with anyio.fail_after(30):
        async with turns.taken():
            pass


async def test_nobody_keeps_a_turn_who_was_called_off() -> None:
    turns = Turns(patience=60)
    async with anyio.create_task_group() as group, turns.taken():
        group.start_soon(_take, turns)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    with anyio.fail_after(30):
        async with turns.taken():
            pass


async def _take(turns: Turns) -> None:
    async with turns.taken():
        pass
