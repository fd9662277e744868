"""``gateway serve``: answer MCP clients."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

import anyio
import typer

from gateway import places
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.server import build_server
from gateway.settings import Settings
from gateway.tools.federation import federation_tools, instructions, unconfigured
from gateway.tools.registry import Listing, NameForm, Registry, Tool
from gateway.transports import serve_http, serve_stdio
from gateway.version import version

if TYPE_CHECKING:
    from gateway.federation import Federation

TOOLSETS: Final = ("federation",)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 takes a free one."""

    host: str
    port: int


def _address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise typer.BadParameter("write HOST:PORT, such as 127.0.0.1:8321")
    return Address(host, int(port))


verb = new_verb()


@verb.command(epilog=example("gateway serve", "gateway serve --http 127.0.0.1:8321"))
def serve(
    http: Annotated[
        Address | None,
        typer.Option(
            parser=_address, metavar="HOST:PORT", help="Over HTTP, on a loopback address.", show_default=False
        ),
    ] = None,
    toolsets: Annotated[
        str, typer.Option(metavar="A,B", help="Only these toolsets (there is: federation).", show_default=False)
    ] = "",
    tool_names: Annotated[
        Literal["dotted", "underscore"] | None, typer.Option(help="How tools are listed.", show_default=False)
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Without tools that write.", show_default=False)
    ] = False,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Answer MCP clients over stdio, or over HTTP at /mcp.

    Clients start it themselves: gateway client-config writes the entry.
    """
    log_to_stderr(verbose=verbose)
    loaded = places.configured(config)
    settings = Settings() if loaded is None else loaded.settings
    form = NameForm(tool_names or settings.gateway.tool_names or ("dotted" if http is None else "underscore"))
    listing = Listing(form, read_only or settings.gateway.read_only)
    serving = _Serving(settings, _chosen(toolsets) or settings.gateway.toolsets, listing)
    anyio.run(serving.serve, http)
    return Exit.OK


def _chosen(toolsets: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in toolsets.split(",") if name.strip())
    if unknown := [name for name in names if name not in TOOLSETS]:
        raise typer.BadParameter(f"no toolset is called {unknown[0]}; there is: {', '.join(TOOLSETS)}")
    return names


@dataclass(frozen=True, slots=True)
class _Serving:
    """What is served: the ``toolsets`` (none named: all), listed as ``listing`` says."""

    settings: Settings
    toolsets: tuple[str, ...]
    listing: Listing

    async def serve(self, http: Address | None) -> None:
        async with AsyncExitStack() as stack:
            server = build_server(
                Registry(self._tools(stack), self.listing),
                name="knowledge-gateway",
                version=version(),
                instructions=instructions(self.listing),
            )
            if http is None:
                if sys.stdin.isatty():
                    _tell_a_person()
                await serve_stdio(server)
            else:
                await serve_http(server, http.host, http.port, on_ready=_announce)

    def _tools(self, stack: AsyncExitStack) -> tuple[Tool, ...]:
        if self.toolsets and "federation" not in self.toolsets:
            return ()
        source = _Federation(self.settings, stack).get if self.settings.fleet else unconfigured
        return federation_tools(source, self.listing)


class _Federation:
    """The federation of these settings, opened by the first call that needs it and closed with ``stack``."""

    def __init__(self, settings: Settings, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._stack = stack
        self._opening = anyio.Lock()
        self._opened: Federation | None = None

    async def get(self) -> Federation:
        async with self._opening:
            if self._opened is None:
                from gateway.app import open_federation  # noqa: PLC0415 a start is quicker without cache and forges

                self._opened = await self._stack.enter_async_context(open_federation(self._settings))
            return self._opened


def _tell_a_person() -> None:
    print("gateway: an MCP client starts this (see gateway client-config); Ctrl-C ends it", file=sys.stderr)


def _announce(url: str) -> None:
    print(f"gateway: serving at {url}", file=sys.stderr)
