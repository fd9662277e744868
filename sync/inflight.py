"""Identical requests that are under way at the same time are sent once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio

from cache.errors import KnowledgeError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _Flight(Generic[V]):
    landed: anyio.Event = field(default_factory=anyio.Event)
    brought: tuple[V] | None = None
    error: KnowledgeError | None = None


class InFlight(Generic[K, V]):
    """Joins callers that ask for the same at the same time.

    The first one does the work in its own task; the others wait for what it brings, errors of ours included. Nobody's
    cancellation is another's: when the one who works is cancelled, the next in line does the work.
    """

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[V]] = {}

    async def run(self, key: K, work: Callable[[], Awaitable[V]]) -> V:
        """What ``work`` brings, or what another caller's identical work, already under way, does."""
        while (flight := self._flights.get(key)) is not None:
            await flight.landed.wait()
            if flight.error is not None:
                raise _twin(flight.error) from flight.error
            if flight.brought is not None:
                return flight.brought[0]
        return await self._lead(key, work)

    def forget(self) -> None:
        """Have nobody join what is under way now: the world has changed since it began."""
        self._flights.clear()

    async def _lead(self, key: K, work: Callable[[], Awaitable[V]]) -> V:
        flight: _Flight[V] = _Flight()
        self._flights[key] = flight
        try:
            value = await work()
            flight.brought = (value,)
        except KnowledgeError as error:
            flight.error = error
            raise
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]
            flight.landed.set()
        return value


def _twin(error: KnowledgeError) -> KnowledgeError:
    """The same error for another caller: one that many raise would collect the traceback of each."""
    twin = type(error).__new__(type(error), *error.args)
    vars(twin).update(vars(error))
    return twin
