"""Which toolsets one endpoint serves, as one list of tools with one introduction.

A toolset is a line in ``TOOLSETS``. Making its tools opens and imports nothing that only calls need: a start is owed to
the client's handshake (``gateway.tools.federation`` has the pattern: the tools hold a source, which opens at the first
call).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import anyio

from gateway.settings import Settings, ToolsetName
from gateway.tools import engineering, federation, swarmkit
from gateway.tools.registry import Listing, Registry, Tool

if TYPE_CHECKING:
    from gateway.federation import Federation
    from sync.corpora.engineering.base import KnowledgeBase
    from sync.corpora.swarmkit.corpus import Corpus

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where tools are served: listed as ``listing`` says, and if ``remote`` to callers who may be others than the user
    of this machine. What they open when they are called is closed with ``stack``."""

    listing: Listing
    stack: AsyncExitStack
    remote: bool = False


@dataclass(frozen=True, slots=True)
class Toolset:
    """``is_configured`` tells whether the settings name what it serves; without that its tools are there too, and say
    what is missing."""

    is_configured: Callable[[Settings], bool]
    tools: Callable[[Settings, Endpoint], tuple[Tool, ...]]
    instructions: Callable[[Listing], str]


@dataclass(frozen=True, slots=True)
class Assembled:
    """The tools that one endpoint serves, and what a client shows its model of them."""

    registry: Registry
    instructions: str


class Once(Generic[T]):
    """What ``make`` makes, made when it is first asked for, and again after a failure."""

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._making = anyio.Lock()
        self._made: list[T] = []

    async def get(self) -> T:
        async with self._making:
            if not self._made:
                self._made.append(await self._make())
            return self._made[0]


def _federation_tools(settings: Settings, endpoint: Endpoint) -> tuple[Tool, ...]:
    async def opening() -> Federation:
        from gateway.app import open_federation  # noqa: PLC0415 a start is quicker without cache and forges

        return await endpoint.stack.enter_async_context(open_federation(settings))

    source = Once(opening).get if settings.fleet else federation.unconfigured
    return federation.federation_tools(source, endpoint.listing)


def _swarmkit_tools(settings: Settings, endpoint: Endpoint) -> tuple[Tool, ...]:
    async def opening() -> Corpus:
        from gateway.corpora import open_swarmkit  # noqa: PLC0415 as above

        return endpoint.stack.enter_context(open_swarmkit(settings.swarmkit, anywhere=not endpoint.remote))

    return swarmkit.swarmkit_tools(Once(opening).get)


def _engineering_tools(settings: Settings, _: Endpoint) -> tuple[Tool, ...]:
    async def opening() -> KnowledgeBase:
        from gateway.engineering import open_engineering  # noqa: PLC0415 as above

        return open_engineering(settings.engineering)

    return engineering.engineering_tools(Once(opening).get)


TOOLSETS: Final[Mapping[ToolsetName, Toolset]] = {
    "federation": Toolset(lambda settings: bool(settings.fleet), _federation_tools, federation.instructions),
    "swarmkit": Toolset(lambda settings: bool(settings.swarmkit.repo), _swarmkit_tools, swarmkit.instructions),
    "engineering": Toolset(
        lambda settings: bool(settings.engineering.root), _engineering_tools, engineering.instructions
    ),
}


def configured(settings: Settings) -> tuple[ToolsetName, ...]:
    """What is served where nobody chooses: all that is configured, and without anything the first, which says so."""
    return tuple(name for name, each in TOOLSETS.items() if each.is_configured(settings)) or ("federation",)


def assemble(settings: Settings, names: Sequence[ToolsetName], endpoint: Endpoint) -> Assembled:
    """The toolsets called ``names`` together, in the order of ``TOOLSETS``."""
    chosen = [each for name, each in TOOLSETS.items() if name in names]
    tools = tuple(tool for each in chosen for tool in each.tools(settings, endpoint))
    texts = (each.instructions(endpoint.listing) for each in chosen)
    return Assembled(Registry(tools, endpoint.listing), "\n\n".join(texts))
