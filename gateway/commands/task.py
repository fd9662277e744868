"""``gateway task``: a text becomes a task of a project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import anyio
import typer

from gateway import app, places, render
from gateway.answers import TaskAnswer
from gateway.commands.options import (
    ONE_QUESTION,
    ConfigOption,
    VerboseOption,
    example,
    log_to_stderr,
    new_verb,
    read_text,
    refuse_more_words,
)
from gateway.exits import Exit
from gateway.filing import TaskRequest
from gateway.render import Line, line
from gateway.settings import Settings
from sync.tasks import MAX_BODY

verb = new_verb()


@verb.command(
    context_settings=ONE_QUESTION,
    epilog=example("gateway task web 'Say in the wiki how yarn runs on Windows'", "gateway task web - < task.md"),
)
def task(  # noqa: PLR0913, PLR0917 the options of a command
    context: typer.Context,
    project: Annotated[str, typer.Argument(help="Who has to do it.", show_default=False)],
    text: Annotated[str, typer.Argument(help="What is to be done; - reads it from stdin.", show_default=False)],
    title: Annotated[
        str | None, typer.Option(metavar="TITLE", help="Else the first heading or line.", show_default=False)
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="LABEL", help="A label; repeat it.", show_default=False)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would be filed, and file nothing.", show_default=False)
    ] = False,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """File a task in a project: an issue, or a file where it keeps .tasks/ or is a local repository.

    The same text is filed once in 24 hours.
    """
    refuse_more_words(context, "put the text in quotes")
    log_to_stderr(verbose=verbose)
    settings = places.require(config).settings
    body = read_text(Path(text), MAX_BODY) if text == "-" else text
    answer = anyio.run(_file, settings, project, TaskRequest(body, title, tuple(label or ()), dry_run))
    render.show(render.console(), _lines(answer))
    return Exit.OK


async def _file(settings: Settings, project: str, request: TaskRequest) -> TaskAnswer:
    async with app.open_federation(settings) as federation:
        return await federation.file_task(project, request)


def _lines(answer: TaskAnswer) -> Iterator[Line]:
    """What became of the task, for a person."""
    if answer.path is not None:
        name = f"{answer.project}/{answer.path}"
    else:
        name = f"{answer.project}, an issue" if answer.number is None else f"{answer.project}#{answer.number}"
    became = "filed before" if not answer.created else "would be filed" if answer.dry_run else "filed"
    yield line(name, "bold", (f"  {became}", "green" if answer.created else "dim"))
    if answer.url is not None:
        yield line(answer.url, indent=2, whole=True)
    if answer.warning is not None:
        yield line(answer.warning, "yellow", indent=2)
