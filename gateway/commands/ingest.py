"""``gateway ingest``: a file becomes a page of a project's wiki."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import anyio
import typer

from gateway import app, places, render
from gateway.answers import IngestAnswer
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb, read_text
from gateway.exits import Exit
from gateway.ingest import IngestRequest
from gateway.pages import page_path
from gateway.render import Line, line
from gateway.settings import Settings
from gateway.wording import printable_lines
from sync import page
from sync.page_edit import MAX_BODY

STDIN: Final = Path("-")

verb = new_verb()


@verb.command(
    epilog=example(
        "gateway ingest cache-keys.md -p web --type concepts --dry-run",
        "gateway ingest - --slug concepts/cache-keys --title 'Cache keys' < notes",
    )
)
def ingest(  # noqa: PLR0913, PLR0917 the options of a command
    file: Annotated[Path, typer.Argument(help="The page, Markdown; - reads it from stdin.", show_default=False)],
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", metavar="PROJECT", help="Whose wiki; else the shared one.", show_default=False),
    ] = None,
    type_: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="entities, concepts, packages, sources or raw.", show_default=False
        ),
    ] = None,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Its name; else that of the file.", show_default=False)
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TITLE", help="Else as the page says.", show_default=False)
    ] = None,
    description: Annotated[
        str, typer.Option(metavar="WORDS", help="What the index says of it.", show_default=False)
    ] = "",
    expected_revision: Annotated[
        str | None,
        typer.Option(metavar="SHA", help="To change a page: its revision as it was read.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the diff, and write nothing.", show_default=False)
    ] = False,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Write a page and its line in the index of a wiki, in one commit.

    A local repository's working tree is written, and nothing is committed.
    """
    log_to_stderr(verbose=verbose)
    settings = places.require(config).settings
    body = _read(file)
    request = IngestRequest(
        _slug(file) if slug is None else slug,
        _title(body) if title is None else title,
        body,
        type_,
        description,
        expected_revision,
        dry_run,
    )
    answer = anyio.run(_ingest, settings, project, request)
    if answer.diff is not None:
        sys.stdout.write(printable_lines(answer.diff) if sys.stdout.isatty() else answer.diff)
    render.show(render.console(stderr=answer.dry_run), _lines(answer))
    return Exit.OK


async def _ingest(settings: Settings, project: str | None, request: IngestRequest) -> IngestAnswer:
    async with app.open_federation(settings) as federation:
        return await federation.ingest(project, request)


def _read(file: Path) -> str:
    try:
        return read_text(file, MAX_BODY)
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {(error.strerror or 'input error').lower()}") from None


def _slug(file: Path) -> str:
    if file == STDIN:
        raise typer.BadParameter("name the page by --slug: stdin has no name to take it from")
    return file.stem


def _title(body: str) -> str:
    found = page.facts(body)
    title = found.title or found.heading
    if title is None:
        raise typer.BadParameter("give a --title: there is none in the page, in front matter or as a # heading")
    return title


def _lines(answer: IngestAnswer) -> Iterator[Line]:
    """What became of the page, for a person."""
    mark = ("" if not answer.created else "  would be new" if answer.dry_run else "  created", "green")
    yield line(f"{answer.project}/{page_path(answer.slug)}", "bold", mark)
    for told in (f"revision {answer.revision}", answer.url, answer.pull_request and answer.pull_request.url):
        if told:
            yield line(told, indent=2, whole=True)
    if answer.next_action_hint:
        yield line(answer.next_action_hint, "yellow", indent=2)
