"""``gateway projects``: the fleet as the cache knows it."""

from __future__ import annotations

from typing import Annotated

import anyio
import typer

from gateway import app, places, render
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.settings import Settings

PAGE = 500  # projects at a time

verb = new_verb()


@verb.command(epilog=example("gateway projects", "gateway projects web"))
def projects(
    query: Annotated[
        str | None, typer.Argument(help="Only those whose name contains this.", show_default=False)
    ] = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """List the projects that are known, with what the last sync found."""
    log_to_stderr(verbose=verbose)
    return anyio.run(_list, places.require(config).settings, query)


async def _list(settings: Settings, query: str | None) -> Exit:
    out = render.console()
    async with app.open_federation(settings) as federation:
        cursor = None
        while True:
            page = await federation.projects(query, limit=PAGE, cursor=cursor)
            render.show(out, map(render.project_line, page.projects))
            cursor = page.next_cursor
            if cursor is None:
                return Exit.OK
