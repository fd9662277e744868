"""``gateway sync``: bring the cache up to date, once or again and again."""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import anyio
import anyio.abc
import typer

from cache.errors import StoreFailure, SyncRunning
from cache.interface import Store
from gateway import app, places, progress, render
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.settings import Settings, seconds
from gateway.syncing import exit_code, sync_fleet
from sync.forge.base import Forge

logger = logging.getLogger(__name__)


def _pause(text: str) -> float:
    try:
        return max(seconds(text), 1.0)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


verb = new_verb()


@verb.command(epilog=example("gateway sync", "gateway sync --watch 5m"))
def sync(
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.", show_default=False)] = False,
    watch: Annotated[
        float | None,
        typer.Option(parser=_pause, metavar="EVERY", help="Stay, and sync this often (5m).", show_default=False),
    ] = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Bring the cache up to date with the configured forges.

    Where output is no terminal, such as under cron, it is silent unless something is wrong.
    Exits 0 when complete, 3 when some projects failed, 4 when a forge could not be listed, 75 when another sync runs.
    """
    log_to_stderr(verbose=verbose)
    settings = places.require(config).settings
    with app.open_store(settings) as store:
        run = _Run(settings, store, as_json, tells_all=as_json or verbose or sys.stdout.isatty())
        return anyio.run(run.once) if watch is None else anyio.run(run.again_and_again, watch)


@dataclass(frozen=True, slots=True)
class _Run:
    """``tells_all``: also that all went well, which cron would send by mail each time."""

    settings: Settings
    store: Store
    as_json: bool
    tells_all: bool

    async def once(self) -> Exit:
        async with app.open_forges(self.settings, patience=app.SYNCING) as forges:
            return await self._sync(forges)

    async def again_and_again(self, pause: float) -> Exit:
        """Sync, and again ``pause`` seconds after each end, until a signal asks for a clean end."""
        async with app.open_forges(self.settings, patience=app.SYNCING) as forges, anyio.create_task_group() as group:
            group.start_soon(_cancel_on_signal, group.cancel_scope)
            while True:
                try:
                    await self._sync(forges)
                except SyncRunning:
                    logger.warning("another sync is running on this cache; trying again later")
                except StoreFailure as failure:  # a disk that is full now may not be so later
                    logger.warning("%s; trying again later", failure.message)
                await anyio.sleep(pause)
        return Exit.OK

    async def _sync(self, forges: Mapping[str, Forge]) -> Exit:
        bars = render.console(stderr=True)
        reports = await sync_fleet(
            self.store,
            forges,
            app.sync_settings(self.settings),
            lambda forge: progress.watch(forge, bars),
            clock=time.time,
        )
        code = exit_code(reports)
        if self.tells_all or code is not Exit.OK:
            print(progress.as_json(reports) if self.as_json else progress.summary(reports), flush=True)
        for line in () if self.as_json else progress.failures(reports):
            print(line, file=sys.stderr)
        return code


async def _cancel_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
