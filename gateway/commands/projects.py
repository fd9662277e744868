"""``gateway projects``: the fleet as the cache knows it."""

from __future__ import annotations

import sys
from typing import Annotated

import anyio
import typer

from gateway import app, places, render
from gateway.answers import ProjectEntry
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.settings import Settings
from gateway.wording import shown

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
    found = anyio.run(_list, places.require(config).settings, query)
    render.show_projects(render.console(), found)
    if not found:
        why = f"has {shown(query)} in its name" if query else "is known yet — run gateway sync"
        print(f"gateway: no project {why}", file=sys.stderr)
    return Exit.OK


async def _list(settings: Settings, query: str | None) -> list[ProjectEntry]:
    found: list[ProjectEntry] = []
    async with app.open_federation(settings) as federation:
        cursor = None
        while True:
            page = await federation.projects(query, limit=PAGE, cursor=cursor)
            found += page.projects
            cursor = page.next_cursor
            if cursor is None:
                return found
