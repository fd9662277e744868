"""What was worked out last, kept within bounds for whoever needs it next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sized
from typing import Generic, TypeVar

V = TypeVar("V", bound=Sized)


class Recent(Generic[V]):
    """The values used last, by name: as many as have no more than ``limit`` items together. Any thread may use it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[str, V] = OrderedDict()
        self._held = 0
        self._guard = threading.Lock()

    def get(self, name: str) -> V | None:
        with self._guard:
            value = self._values.get(name)
            if value is not None:
                self._values.move_to_end(name)
            return value

    def keep(self, name: str, value: V) -> None:
        """Keep ``value``, unless there is one of that name; the ones that were used longest ago go."""
        weight = 1 + len(value)
        with self._guard:
            if name in self._values or weight > self._limit:
                return
            self._values[name] = value
            self._held += weight
            while self._held > self._limit:
                _, dropped = self._values.popitem(last=False)
                self._held -= 1 + len(dropped)
