"""Several things at once, as one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

import anyio

T = TypeVar("T")


async def all_of(works: Sequence[Callable[[], Awaitable[T]]], *, at_once: int | None = None) -> list[T]:
    """What each of ``works`` brings, done side by side, in their order; ``at_once`` bounds how many.

    The first that fails ends the others, and its exception is raised as it is: no group around it.
    """
    if len(works) == 1:
        return [await works[0]()]
    brought: dict[int, T] = {}
    failures: list[Exception] = []

    async def run(todo: Iterator[tuple[int, Callable[[], Awaitable[T]]]]) -> None:
        try:
            for place, work in todo:
                brought[place] = await work()
        except Exception as failure:  # raised below, outside of the group
            failures.append(failure)
            group.cancel_scope.cancel()

    todo = iter(enumerate(works))
    async with anyio.create_task_group() as group:
        for _ in range(len(works) if at_once is None else min(at_once, len(works))):
            group.start_soon(run, todo)
    if failures:
        raise failures[0]
    return [brought[place] for place in range(len(works))]
