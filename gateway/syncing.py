"""One sync of every configured forge, under the lease of the cache."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import anyio.to_thread

from cache.errors import StoreFailure
from cache.interface import Store
from gateway.exits import Exit
from sync.forge.base import Forge
from sync.plan import SyncSettings
from sync.worker import Progress, SyncReport, sync_forge

logger = logging.getLogger(__name__)

Watch = Callable[[str], AbstractContextManager[Progress]]  # who watches the sync of the forge of that name


async def sync_fleet(
    store: Store,
    forges: Mapping[str, Forge],
    settings: Mapping[str, SyncSettings],
    watch: Watch,
    *,
    clock: Callable[[], float],
) -> tuple[SyncReport, ...]:
    """Sync the forges one after the other, each by its ``settings``, and forget those that are configured no longer.
    One that fails does not keep the others from being synced.

    Raises ``SyncRunning`` at once when another sync holds the lease, ``StoreFailure``.
    """
    with store.lease():
        await anyio.to_thread.run_sync(store.retain_forges, tuple(forges))
        reports = []
        for name, forge in forges.items():
            with watch(name) as progress:
                try:
                    report = await sync_forge(forge, store, settings[name], clock=clock, progress=progress)
                except StoreFailure:
                    raise
                except Exception as error:  # a fault of one forge, ours included, must not stop the others
                    logger.exception("internal error while syncing %s", name)
                    report = SyncReport(
                        name, 0.0, listing_error=f"internal error ({type(error).__name__}), see the log"
                    )
            reports.append(report)
        return tuple(reports)


def exit_code(reports: Sequence[SyncReport]) -> Exit:
    """How a sync ended: a forge that could not be listed outweighs projects that failed."""
    if any(report.listing_error is not None for report in reports):
        return Exit.UNLISTED
    return Exit.FAILED if any(report.failed for report in reports) else Exit.OK
