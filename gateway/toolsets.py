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
from gateway.tools import federation
from gateway.tools.registry import Listing, Registry, Tool

if TYPE_CHECKING:
    from gateway.federation import Federation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Toolset:
    """``is_configured`` tells whether the settings name what it serves; without that its tools are there too, and say
    what is missing. What ``tools`` open when they are called is closed with the stack."""

    is_configured: Callable[[Settings], bool]
    tools: Callable[[Settings, Listing, AsyncExitStack], tuple[Tool, ...]]
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


def _federation_tools(settings: Settings, listing: Listing, stack: AsyncExitStack) -> tuple[Tool, ...]:
    async def opening() -> Federation:
        from gateway.app import open_federation  # noqa: PLC0415 a start is quicker without cache and forges

        return await stack.enter_async_context(open_federation(settings))

    source = Once(opening).get if settings.fleet else federation.unconfigured
    return federation.federation_tools(source, listing)


TOOLSETS: Final[Mapping[ToolsetName, Toolset]] = {
    "federation": Toolset(lambda settings: bool(settings.fleet), _federation_tools, federation.instructions),
}


def configured(settings: Settings) -> tuple[ToolsetName, ...]:
    """What is served where nobody chooses: all that is configured, and without anything the first, which says so."""
    return tuple(name for name, each in TOOLSETS.items() if each.is_configured(settings)) or ("federation",)


def assemble(settings: Settings, names: Sequence[ToolsetName], listing: Listing, stack: AsyncExitStack) -> Assembled:
    """The toolsets called ``names`` together, in the order of ``TOOLSETS``. ``stack`` closes what their calls open."""
    chosen = [each for name, each in TOOLSETS.items() if name in names]
    tools = [tool for each in chosen for tool in each.tools(settings, listing, stack)]
    return Assembled(Registry(tuple(tools), listing), "\n\n".join(each.instructions(listing) for each in chosen))
