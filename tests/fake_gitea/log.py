"""What a forge was asked, in order, and how much of it at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Exchange:
    """One request as it arrived: ``target`` is still escaped, below ``/api/v1``, ``route`` the template that its path
    matches (empty: none), ``query`` the decoded pairs, ``headers`` by lower-case name, ``user`` whose token it was.
    ``status`` is that of the answer, ``None`` while there is none (or where there never was)."""

    method: str
    route: str
    target: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes = b""
    user: str | None = None
    status: int | None = None

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def key(self) -> str:
        return f"{self.method} {self.route or self.path}"

    def json(self) -> object:
        """The request's body."""
        return json.loads(self.body)


@dataclass
class Log:
    """All exchanges since the last reset."""

    exchanges: list[Exchange] = field(default_factory=list)
    max_in_flight: int = 0
    _under_way: set[int] = field(default_factory=set)

    def begin(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        self._under_way.add(id(exchange))
        self.max_in_flight = max(self.max_in_flight, len(self._under_way))

    def end(self, exchange: Exchange) -> None:
        """It is under way no longer, if it still was."""
        self._under_way.discard(id(exchange))

    def forget(self) -> None:
        """Nothing is under way, since the server ended."""
        self._under_way.clear()

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(exchange.key for exchange in self.exchanges))

    def reset(self) -> None:
        self.exchanges = []
        self.max_in_flight = len(self._under_way)
