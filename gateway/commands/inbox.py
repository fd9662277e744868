"""``gateway inbox``: what was captured and is not filed yet."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from cache.errors import NotFound
from gateway.commands.options import ConfigOption, RootOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.engineering import knowledge_folder
from gateway.exits import Exit
from gateway.wording import printable, printable_lines
from sync.corpora.engineering.base import KnowledgeBase
from sync.corpora.engineering.inbox import Entry

WIDTH = 60  # characters of an entry that its line shows

verb = new_verb()


@verb.command(
    epilog=example(
        "gateway inbox",
        "gateway inbox 2",
        "gateway inbox 2 --topic api/limits --heading 'Per client'",
        "gateway inbox 2 --topic api/limits --title 'Rate limits'",
    )
)
def inbox(
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", min=1, help="The entry to show, or to file.", show_default=False)
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(metavar="T", help="The document; else what the entry suggests.", show_default=False),
    ] = None,
    heading: Annotated[
        str | None, typer.Option(metavar="H", help="File it under this heading of the document.", show_default=False)
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TITLE", help="File it as a new document.", show_default=False)
    ] = None,
    root: RootOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """List the notes that were captured; show one; or file it.

    Filing moves a note into a document: under a heading of one that is there, or as a new one with a title.
    """
    log_to_stderr(verbose=verbose)
    base = KnowledgeBase(knowledge_folder(config, root), clock=time.time)
    if number is None:
        if topic or heading or title:
            raise typer.BadParameter("say which entry: gateway inbox shows their numbers", param_hint="N")
        _list(base.inbox())
    elif topic is None and heading is None and title is None:
        _show(base, number)
    else:
        print(f"filed in {base.file(number, topic, heading=heading, title=title)}")
    return Exit.OK


def _list(entries: tuple[Entry, ...]) -> None:
    for entry in entries:
        words = " ".join(entry.content.split())
        shown = words if len(words) <= WIDTH else words[: WIDTH - 1] + "…"
        topic = f"[{entry.topic}]" if entry.topic else None
        print(printable("  ".join(filter(None, (str(entry.number), entry.timestamp, topic, shown)))))
    if not entries:
        print("nothing to file")


def _show(base: KnowledgeBase, number: int) -> None:
    entries = base.inbox()
    if number > len(entries):
        raise NotFound(f"the inbox has no entry {number} — it has {len(entries)}")
    print(printable_lines(entries[number - 1].content))
