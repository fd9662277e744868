"""The composition root: which parts there are, made from which settings."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from cache.errors import StoreFailure
from cache.interface import Store, StoreNotice
from cache.store import SqliteStore
from gateway.federation import Federation, Policy
from gateway.places import user_places
from gateway.settings import Settings
from sync.forge.base import Forge
from sync.forge.local import LocalForge
from sync.plan import SyncSettings

logger = logging.getLogger(__name__)


def cache_file(settings: Settings) -> Path:
    """Where the cache lies. Raises ``StoreFailure`` where there is no home to put it in."""
    path = Path(settings.cache.file) if settings.cache.file else user_places().cache
    if not path.is_absolute():
        raise StoreFailure("no home folder for the cache: set HOME, or [cache] file")
    return path


@contextmanager
def open_store(settings: Settings) -> Iterator[Store]:
    """The cache, opened for the block."""

    def tell(notice: StoreNotice) -> None:
        logger.warning("%s", notice.message)

    store = SqliteStore(cache_file(settings), clock=time.time, on_notice=tell)
    try:
        yield store
    finally:
        store.close()


@asynccontextmanager
async def open_forges(settings: Settings) -> AsyncIterator[Mapping[str, Forge]]:
    """Every configured forge by its name, open for the block."""
    forges = {
        name: LocalForge(name, forge.roots, status_paths=settings.sync.status_paths, max_in_flight=forge.max_in_flight)
        for name, forge in settings.fleet.items()
    }
    try:
        yield forges
    finally:
        for forge in forges.values():
            await forge.aclose()


def sync_settings(settings: Settings) -> SyncSettings:
    """What a sync of a local forge looks at and keeps: there every body is at hand, so all are mirrored."""
    section = settings.sync
    return SyncSettings(
        pages=section.pages,
        shared=settings.wiki.shared,
        include=section.include,
        exclude=section.exclude,
        archived=section.archived,
        forks=section.forks,
        status_paths=section.status_paths,
        mirror_everything=True,
    )


@asynccontextmanager
async def open_federation(settings: Settings) -> AsyncIterator[Federation]:
    """The federation over this user's cache and forges, open for the block."""
    section = settings.gateway
    policy = Policy(
        shared=settings.wiki.shared,
        deadline=section.deadline,
        max_age=section.max_age,
        stale_after=section.stale_after,
        sync=dict.fromkeys(settings.fleet, sync_settings(settings)),
    )
    with open_store(settings) as store:
        async with open_forges(settings) as forges:
            yield Federation(store, forges, policy, clock=time.time)
