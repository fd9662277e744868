"""Several things at once, as one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

T = TypeVar("T")


async def all_of(works: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """What each of ``works`` brings, done side by side, in their order.

    The first that fails ends the others, and its exception is raised as it is: no group around it.
    """
    if len(works) == 1:
        return [await works[0]()]
    brought: dict[int, T] = {}
    failures: list[Exception] = []

    async def run(place: int, work: Callable[[], Awaitable[T]]) -> None:
        try:
            brought[place] = await work()
        except Exception as failure:  # raised below, outside of the group
            failures.append(failure)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for place, work in enumerate(works):
            group.start_soon(run, place, work)
    if failures:
        raise failures[0]
    return [brought[place] for place in range(len(works))]
