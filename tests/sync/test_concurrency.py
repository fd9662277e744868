"""Several things at once, as one."""

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import pytest

from cache.errors import Unavailable
from sync.concurrency import all_of

pytestmark = pytest.mark.anyio


def after(turns: int, value: str) -> Callable[[], Awaitable[str]]:
    async def work() -> str:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        return value

    return work


async def test_results_are_in_the_order_asked() -> None:
    assert await all_of([after(3, "a"), after(0, "b"), after(1, "c")]) == ["a", "b", "c"]


async def test_nothing_to_do_brings_nothing() -> None:
    assert await all_of([]) == []


async def test_a_failure_comes_out_as_it_is_and_ends_the_others() -> None:
    ended = []

    async def endless() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)
        return ""

    async def fail() -> str:
        raise Unavailable("down")

    with pytest.raises(Unavailable, match="down"):
        await all_of([endless, fail])
    assert ended


async def test_no_more_at_once_than_is_said() -> None:
    under_way, most = 0, 0

    async def work(number: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await anyio.lowlevel.checkpoint()
        under_way -= 1
        return number

    assert await all_of([partial(work, number) for number in range(10)], at_once=3) == list(range(10))
    assert most == 3
