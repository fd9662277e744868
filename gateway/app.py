"""The composition root: which parts there are, made from which settings."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cache.errors import StoreFailure
from cache.interface import Store, StoreNotice
from cache.store import SqliteStore
from gateway.federation import Federation, Policy
from gateway.naming import Names
from gateway.places import user_places
from gateway.settings import ForgeSettings, GiteaForgeSettings, LocalForgeSettings, Settings
from gateway.write_policy import WritePolicy
from sync.forge.local import LocalForge
from sync.forge.writing import WritableForge
from sync.plan import SyncSettings

if TYPE_CHECKING:
    from sync.forge.gitea.probe import Found, Prober

ENGINE: Final = SqliteStore.engine  # of the cache
SERVING: Final = 1.0  # seconds that a forge which goes down is waited for while somebody waits for the answer
SYNCING: Final = 30.0  # the same while a sync can sit its restart out

logger = logging.getLogger(__name__)


def cache_file(settings: Settings) -> Path:
    """Where the cache lies. Raises ``StoreFailure`` where there is no home to put it in."""
    path = Path(settings.cache.file) if settings.cache.file else user_places().cache
    if not path.is_absolute():
        raise StoreFailure("no home folder for the cache: set HOME, or [cache] file")
    return path


def _tell(notice: StoreNotice) -> None:
    logger.warning("%s", notice.message)


@contextmanager
def open_store(settings: Settings, *, on_notice: Callable[[StoreNotice], None] = _tell) -> Iterator[Store]:
    """The cache, opened for the block. What it does by itself is told to ``on_notice``, or else to the log."""
    store = SqliteStore(cache_file(settings), clock=time.time, on_notice=on_notice)
    try:
        yield store
    finally:
        store.close()


@asynccontextmanager
async def open_forges(settings: Settings, *, patience: float = SERVING) -> AsyncIterator[Mapping[str, WritableForge]]:
    """Every configured forge by its name, open for the block. One that goes down is waited for ``patience`` seconds."""
    async with AsyncExitStack() as stack:
        forges = {}
        for name, section in settings.fleet.items():
            forges[name] = _forge(name, section, settings, patience)
            stack.push_async_callback(forges[name].aclose)
        yield forges


def _forge(name: str, section: ForgeSettings, settings: Settings, patience: float) -> WritableForge:
    if isinstance(section, LocalForgeSettings):
        return LocalForge(
            name, section.roots, status_paths=settings.sync.status_paths, max_in_flight=section.max_in_flight
        )
    from gateway.gitea import Wiring  # noqa: PLC0415 local repositories need no HTTP

    return Wiring(os.environ, patience).forge(name, section, orgs_of(name, settings))


async def locate(urls: Sequence[str], ca_file: str) -> Found:
    """The first of ``urls`` at which a Gitea or Forgejo server answers; ``ca_file`` is absolute or empty.

    Raises what is wrong with the first one: the errors of :mod:`sync.forge.base`, or ``NotConfigured``.
    """
    from gateway.gitea import Wiring  # noqa: PLC0415 local repositories need no HTTP

    return await Wiring(os.environ, SERVING).locate(urls, ca_file)


@asynccontextmanager
async def open_prober(name: str, section: GiteaForgeSettings, settings: Settings) -> AsyncIterator[Prober]:
    """What surveys the server that ``section`` describes, for the block."""
    from gateway.gitea import Wiring  # noqa: PLC0415 local repositories need no HTTP

    async with Wiring(os.environ, SERVING).prober(section, orgs_of(name, settings)) as prober:
        yield prober


def sync_settings(settings: Settings) -> Mapping[str, SyncSettings]:
    """What a sync of each forge looks at and keeps. Every body of a local one is at hand, so all are mirrored."""
    return {name: _sync_settings(name, forge, settings) for name, forge in settings.fleet.items()}


def _sync_settings(name: str, forge: ForgeSettings, settings: Settings) -> SyncSettings:
    section = settings.sync
    return SyncSettings(
        pages=_meant_for(name, section.pages, settings) if isinstance(section.pages, tuple) else section.pages,
        shared="".join(_meant_for(name, [settings.wiki.shared], settings)),
        include=section.include,
        exclude=section.exclude,
        archived=section.archived,
        forks=section.forks,
        status_paths=section.status_paths,
        mirror_everything=isinstance(forge, LocalForgeSettings),
    )


def orgs_of(forge: str, settings: Settings) -> tuple[str, ...]:
    """The organizations that are listed beside what the forge called ``forge`` lists of itself."""
    return _meant_for(forge, settings.sync.orgs, settings)


def _meant_for(forge: str, words: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Those of ``words`` that name something of ``forge``: all that name no other, without the forge's name."""
    names = Names(tuple(settings.fleet))
    return tuple(rest for owner, rest in map(names.split, words) if owner in (None, forge))


@asynccontextmanager
async def open_federation(settings: Settings) -> AsyncIterator[Federation]:
    """The federation over this user's cache and forges, open for the block."""
    section = settings.gateway
    policy = Policy(
        shared=settings.wiki.shared,
        deadline=section.deadline,
        max_age=section.max_age,
        stale_after=section.stale_after,
        sync=sync_settings(settings),
        write=WritePolicy.of(settings),
    )
    with open_store(settings) as store:
        async with open_forges(settings) as forges:
            yield Federation(store, forges, policy, clock=time.time)
