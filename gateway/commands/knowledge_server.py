"""``gateway knowledge-server``: answer MCP clients about a SwarmKit checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import anyio
import typer

from gateway import places
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.commands.serve import serve_toolsets
from gateway.exits import Exit
from gateway.settings import Settings, SwarmkitSection
from gateway.tools.registry import Listing

verb = new_verb()


@verb.command(epilog=example("gateway knowledge-server --repo ~/src/swarmkit"))
def knowledge_server(
    repo: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The checkout. Else [swarmkit] repo, or the one above the working directory.",
            exists=True,
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    swarmkit_python: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="An interpreter that has swarmkit-runtime.", show_default=False),
    ] = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Answer MCP clients about a SwarmKit checkout, over stdio.

    Its documents, schemas, skills and error codes are read where they lie; workspaces are checked with the real
    resolver, where one is installed.
    """
    log_to_stderr(verbose=verbose)
    loaded = places.configured(config)
    settings = Settings() if loaded is None else loaded.settings
    section = SwarmkitSection(
        repo=settings.swarmkit.repo if repo is None else str(repo.absolute()),
        python=settings.swarmkit.python if swarmkit_python is None else str(swarmkit_python.absolute()),
    )
    anyio.run(serve_toolsets, settings.model_copy(update={"swarmkit": section}), ("swarmkit",), Listing(), None)
    return Exit.OK
