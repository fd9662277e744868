"""``gateway import``: copy a folder of notes into the engineering knowledge base."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gateway.commands.options import ConfigOption, RootOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.engineering import knowledge_folder
from gateway.exits import Exit
from gateway.wording import counted, printable
from sync.corpora.engineering.importing import Copied, LeftOut, import_folder

verb = new_verb()


@verb.command(epilog=example("gateway import ~/notes --root ~/knowledge --dry-run"))
def import_notes(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="The folder with the notes.", exists=True, file_okay=False, show_default=False
        ),
    ],
    area: Annotated[
        str, typer.Option(metavar="NAME", help="Put all of it below knowledge/NAME.", show_default=False)
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.", show_default=False)
    ] = False,
    root: RootOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Copy a folder of notes into the engineering knowledge base.

    Folders become areas; notes at the top go to general/. A note without a title gets one from its file's name, in its
    front matter. Nothing is overwritten, and what is left out is listed.
    """
    log_to_stderr(verbose=verbose)
    into = knowledge_folder(config, root)
    copied: list[Copied] = []
    left_out: list[LeftOut] = []
    for each in import_folder(folder, into, area=area or None, dry_run=dry_run):
        if isinstance(each, Copied):
            copied.append(each)
            if verbose or dry_run:
                print(printable(f"{each.source} → {each.path}{' (with a title)' if each.titled else ''}"))
        else:
            left_out.append(each)
            print(printable(f"left out {each.source}: {each.why}"), file=sys.stderr)
    titled = sum(each.titled for each in copied)
    print(
        f"{counted(len(copied), 'note')} {'would be ' if dry_run else ''}copied, {titled} of them with a title added;"
        f" {len(left_out)} left out"
    )
    return Exit.OK
