"""``gateway serve``: answer MCP clients."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated, Literal

import anyio
import typer

from gateway import places
from gateway.commands.options import ConfigOption, RootOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.server import build_server
from gateway.settings import Settings, ToolsetName
from gateway.tools.registry import Listing, NameForm
from gateway.toolsets import TOOLSETS, Endpoint, assemble, configured
from gateway.transports import serve_http, serve_stdio
from gateway.version import version


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
        str, typer.Option(metavar="A,B", help=f"Only these toolsets: {', '.join(TOOLSETS)}.", show_default=False)
    ] = "",
    root: RootOption = None,
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
    settings = settings.model_copy(update={"engineering": settings.engineering.at(root)})
    form = NameForm(tool_names or settings.gateway.tool_names or ("dotted" if http is None else "underscore"))
    listing = Listing(form, read_only or settings.gateway.read_only)
    names = _chosen(toolsets) or settings.gateway.toolsets or configured(settings)
    anyio.run(serve_toolsets, settings, names, listing, http)
    return Exit.OK


def _chosen(text: str) -> tuple[ToolsetName, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if unknown := [word for word in words if word not in TOOLSETS]:
        raise typer.BadParameter(f"no toolset is called {unknown[0]}; there is: {', '.join(TOOLSETS)}")
    return tuple(name for name in TOOLSETS if name in words)


async def serve_toolsets(
    settings: Settings, names: Sequence[ToolsetName], listing: Listing, http: Address | None
) -> None:
    """Serve until the client goes, or for ever: over stdio, or at the address ``http``."""
    async with AsyncExitStack() as stack:
        served = assemble(settings, names, Endpoint(listing, stack, remote=http is not None))
        server = build_server(
            served.registry, name="knowledge-gateway", version=version(), instructions=served.instructions
        )
        if http is None:
            if sys.stdin.isatty():
                _tell_a_person()
            await serve_stdio(server)
        else:
            await serve_http(server, http.host, http.port, on_ready=_announce)


def _tell_a_person() -> None:
    print("gateway: an MCP client starts this (see gateway client-config); Ctrl-C ends it", file=sys.stderr)


def _announce(url: str) -> None:
    print(f"gateway: serving at {url}", file=sys.stderr)
