"""One sync of every configured forge, under the lease of the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import anyio.to_thread

from cache.interface import Store
from gateway.exits import Exit
from sync.forge.base import Forge
from sync.plan import SyncSettings
from sync.worker import Progress, SyncReport, sync_forge

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
                reports.append(await sync_forge(forge, store, settings[name], clock=clock, progress=progress))
        return tuple(reports)


def exit_code(reports: Sequence[SyncReport]) -> Exit:
    """How a sync ended: a forge that could not be listed outweighs projects that failed."""
    if any(report.listing_error is not None for report in reports):
        return Exit.UNLISTED
    return Exit.FAILED if any(report.failed for report in reports) else Exit.OK
