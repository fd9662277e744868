"""``gateway get``: a whole page, exactly as it stands."""

from __future__ import annotations

import sys
from typing import Annotated

import anyio
import typer

from gateway import app, places
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.reading import PageRequest
from gateway.settings import Settings
from gateway.wording import printable_lines

verb = new_verb()


@verb.command(epilog=example("gateway get web concepts/cache-keys"))
def get(
    project: Annotated[str, typer.Argument(help="Whose wiki.", show_default=False)],
    slug: Annotated[str, typer.Argument(help="The page's path below .wiki/, without .md.", show_default=False)],
    section: Annotated[
        str | None, typer.Option(metavar="HEADING", help="This section alone.", show_default=False)
    ] = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Read one page of a project's wiki, as it is now.

    The page goes to stdout as it stands; what there is to say about it goes to stderr.
    """
    log_to_stderr(verbose=verbose)
    anyio.run(_get, places.require(config).settings, project, PageRequest(slug, section, max_chars=None))
    return Exit.OK


async def _get(settings: Settings, project: str, request: PageRequest) -> None:
    async with app.open_federation(settings) as federation:
        answer = await federation.get_from(project, request)
        if answer.stale:
            print(f"gateway: a cached copy, {answer.age_s} s old: it could not be read live", file=sys.stderr)
        if answer.uncommitted:
            print("gateway: as it is in the working tree, not committed yet", file=sys.stderr)
        sys.stdout.write(printable_lines(answer.text) if sys.stdout.isatty() else answer.text)
