"""What there is to check a workspace with in this environment: SwarmKit's resolver, its schemas alone, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Protocol


class Engine(Protocol):
    """``name`` is what an answer calls it, ``sources`` the folder of the resolver's sources (or nothing)."""

    name: str
    sources: str

    def check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What is in the workspace of a request, and what is wrong with it."""

    def is_current(self) -> bool:
        """Whether what was imported is still what is installed."""


def load(*, schemas_only: bool) -> Engine | None:
    """The best engine that this environment has, if it has one."""
    if not schemas_only and find_spec("swarmkit_runtime") is not None and find_spec("swarmkit_schema") is not None:
        from .resolver import Resolver  # noqa: PLC0415 it needs packages that may be missing

        return Resolver()
    if find_spec("jsonschema") is not None and find_spec("yaml") is not None:
        from .schemas import SchemasOnly  # noqa: PLC0415 as above

        return SchemasOnly()
    return None
