"""``gateway ask``: what an agent's ``knowledge.ask_projects`` would find."""

from __future__ import annotations

from typing import Annotated

import anyio
import typer

from gateway import app, places, render
from gateway.answers import AskAnswer
from gateway.ask import failed
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


@verb.command(context_settings=ONE_QUESTION, epilog=example("gateway ask 'cache keys' -p web -p api"))
def ask(
    context: typer.Context,
    query: QueryArgument,
    project: Annotated[
        list[str],
        typer.Option("--project", "-p", metavar="PROJECT", help="Whom to ask; repeat it.", show_default=False),
    ],
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=20, help="Matches of each project.")] = 5,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Ask the wikis of some projects; matching pages are read live.

    Exits 0 when something was found, 1 when nothing was, 3 when that is because a project could not be asked.
    """
    refuse_more_words(context, "put a question of several words in quotes, and -p before each project")
    log_to_stderr(verbose=verbose)
    answer = anyio.run(_ask, places.require(config).settings, query, project, limit)
    render.show(render.console(), render.ask_lines(answer))
    if answer.found:
        return Exit.OK
    return Exit.FAILED if any(map(failed, answer.results)) else Exit.NOTHING


async def _ask(settings: Settings, query: str, projects: list[str], limit: int) -> AskAnswer:
    async with app.open_federation(settings) as federation:
        return await federation.ask_projects(query, projects, limit=limit)
