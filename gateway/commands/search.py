"""``gateway search``: what an agent's ``knowledge.search`` would find."""

from __future__ import annotations

from typing import Annotated

import anyio
import typer

from gateway import app, places, render
from gateway.answers import SearchAnswer
from gateway.commands.options import (
    ONE_QUESTION,
    ConfigOption,
    QueryArgument,
    VerboseOption,
    example,
    log_to_stderr,
    new_verb,
    refuse_more_words,
)
from gateway.exits import Exit
from gateway.settings import Settings

verb = new_verb()


@verb.command(context_settings=ONE_QUESTION, epilog=example("gateway search 'release checklist'"))
def search(
    context: typer.Context,
    query: QueryArgument,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=50, help="Matches to show.")] = 10,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Search the shared wiki, [wiki] shared in auth.toml.

    Exits 0 when something was found, 1 when nothing was.
    """
    refuse_more_words(context)
    log_to_stderr(verbose=verbose)
    answer = anyio.run(_search, places.require(config).settings, query, limit)
    render.show(render.console(), render.search_lines(answer))
    return Exit.OK if answer.matches else Exit.NOTHING


async def _search(settings: Settings, query: str, limit: int) -> SearchAnswer:
    async with app.open_federation(settings) as federation:
        return await federation.search(query, limit=limit)
