"""``gateway cache``: look into the cache file."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from cache.interface import StoreNotice
from cache.times import timestamp
from gateway import app, places
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.settings import Settings
from gateway.wording import counted

verb = new_verb("Look into the cache file. It can always be made anew: gateway sync.")


def _settings(config: ConfigOption) -> Settings:
    loaded = places.configured(config)
    return Settings() if loaded is None else loaded.settings


@verb.command(epilog=example("gateway cache info"))
def info(config: ConfigOption = None, verbose: VerboseOption = False) -> Exit:
    """Say where it lies, what it holds and how the last syncs went."""
    log_to_stderr(verbose=verbose)
    with app.open_store(_settings(config)) as store:
        found = store.info()
    print(f"{found.path}: {found.bytes} bytes, schema {found.schema}")
    print(f"{counted(found.projects, 'project')}, {counted(found.pages, 'page')}, {found.bodies} bodies")
    for links in found.broken_links:
        print(f"{links.project}: {counted(links.dead, 'dead link')} in its index, {links.ambiguous} ambiguous")
    for run in found.runs:
        end = "did not finish" if run.finished_at is None else "complete" if run.complete else "incomplete"
        counts = f"{run.listed} listed, {run.changed} read, {run.failed} failed, {run.removed} gone"
        print(f"sync of {run.forge} at {timestamp(run.started_at)}: {end}; {counts}")
    return Exit.OK


@verb.command(epilog=example("gateway cache check"))
def check(config: ConfigOption = None, verbose: VerboseOption = False) -> Exit:
    """Read everything, and say what is wrong with it.

    Exits 0 when all is well, 3 when not.
    """
    log_to_stderr(verbose=verbose)
    notices: list[StoreNotice] = []
    with app.open_store(_settings(config), on_notice=notices.append) as store:
        problems = store.check()
    for problem in (*(notice.message for notice in notices), *problems):
        print(problem)
    if problems:
        print("gateway: the cache is damaged — run gateway cache clear, then gateway sync", file=sys.stderr)
        return Exit.FAILED
    if notices:
        print("gateway: the cache was damaged — run gateway sync", file=sys.stderr)
        return Exit.FAILED
    print("ok")
    return Exit.OK


@verb.command(epilog=example("gateway cache clear --yes"))
def clear(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.", show_default=False)] = False,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Forget all projects; the next sync reads them anew."""
    log_to_stderr(verbose=verbose)
    if not (yes or _confirmed("Forget all projects in the cache?")):
        print("gateway: nothing was forgotten", file=sys.stderr)
        return Exit.NOTHING
    with app.open_store(_settings(config)) as store:
        forgotten = store.info().projects
        store.clear()
    print(f"forgot {counted(forgotten, 'project')}: gateway sync reads them anew")
    return Exit.OK


def _confirmed(question: str) -> bool:
    try:
        return typer.confirm(question)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        print()  # the question stands there without an answer
        raise typer.BadParameter("nobody to ask: say --yes") from None


@verb.command(epilog=example("gateway cache export > fleet.json"))
def export(config: ConfigOption = None, verbose: VerboseOption = False) -> Exit:
    """Print what it holds as JSON, project by project."""
    log_to_stderr(verbose=verbose)
    with app.open_store(_settings(config)) as store:
        print('{"projects": [', end="")
        for number, project in enumerate(store.export()):
            print((",\n" if number else "\n") + json.dumps(project), end="")
        print("\n]}")
    return Exit.OK
