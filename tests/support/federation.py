"""A federation over a synced fleet of real repositories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cache.model import Project
from cache.store import SqliteStore
from gateway.federation import Federation, Policy
from sync.worker import sync_forge
from tests.support.forges import LOCAL, Faulty, make_fleet

NOW = 4_000_000_000.0  # seconds since the UTC epoch: long after any file of a test was written


@dataclass
class Asked:
    """What a test of the read paths works with; ``now`` is what every clock shows."""

    root: Path
    forge: Faulty
    store: SqliteStore
    policy: Policy
    now: float = NOW

    @property
    def federation(self) -> Federation:
        """A new process's view of the same cache."""
        return Federation(self.store, {self.forge.name: self.forge}, self.policy, clock=lambda: self.now)

    async def sync(self) -> None:
        settings = self.policy.sync[self.forge.name]
        await sync_forge(self.forge, self.store, settings, clock=lambda: self.now)

    def project(self, name: str) -> Project:
        (project,) = self.store.resolve(name).projects
        return project


@asynccontextmanager
async def federation_over(
    folder: Path, repositories: Mapping[str, Mapping[str, str | bytes]], *, mirrored: bool = True, shared: str = "web"
) -> AsyncIterator[Asked]:
    """Make the repositories below ``folder``, sync them, and give what asks them."""
    forge = Faulty(make_fleet(folder / "src", repositories))
    store = SqliteStore(folder / "cache.db", clock=lambda: asked.now, on_notice=print)
    sync = replace(LOCAL, mirror_everything=mirrored, shared=shared)
    asked = Asked(folder / "src", forge, store, Policy(shared=shared, sync={"default": sync}))
    try:
        await asked.sync()
        yield asked
    finally:
        await forge.aclose()
        store.close()
