"""A fleet on a fake forge with what syncs it and asks it: a client over loopback, a real cache file, a clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from cache.model import Project
from cache.store import SqliteStore
from gateway.federation import Federation, Policy
from sync.forge.gitea.client import GiteaForge
from sync.plan import SyncSettings
from sync.worker import SyncReport, sync_forge
from tests.fake_gitea import FakeGitea
from tests.support.gitea_client import client_of

NOW = 1_900_000_000.0  # seconds since the UTC epoch: long after the fake forge's own time
INDEX = SyncSettings()
MIRRORED = SyncSettings(pages="all")

LISTING = "GET /user/repos"
TREE = "GET /repos/{owner}/{repo}/git/trees/{sha}"
BATCH = "GET /repos/{owner}/{repo}/file-contents"
RAW = "GET /repos/{owner}/{repo}/raw/{filepath}"
REPO = "GET /repos/{owner}/{repo}"

PLAIN = {"README.md": "# Tool\n"}


def wiki(*titles: str, status: str | None = "# Status\n\nGreen.\n", about: str = "") -> dict[str, str]:
    """A repository with a wiki of one concept for each of ``titles``, all listed, that speak of ``about``."""
    slugs = {title: title.lower().replace(" ", "-") for title in titles}
    index = "".join(f"- [{title}](concepts/{slug}.md)\n" for title, slug in slugs.items())
    files = {f".wiki/concepts/{slug}.md": f"# {title}\n\nAll of {title} {about}.\n" for title, slug in slugs.items()}
    return {
        **files,
        ".wiki/index.md": f"# Wiki\n\n{index}",
        **({} if status is None else {"STATUS.md": status}),
    }


@dataclass
class Watcher:
    """Keeps what a progress bar would be told."""

    plans: list[tuple[int, int]] = field(default_factory=list)
    done: dict[str, str | None] = field(default_factory=dict)

    def listed(self, count: int, total: int | None) -> None: ...

    def planned(self, looks: int, unchanged: int) -> None:
        self.plans.append((looks, unchanged))

    def looked(self, name: str, failure: str | None) -> None:
        self.done[name] = failure


@dataclass
class Clock:
    """The gateway's time, in seconds since the UTC epoch. It passes by a millisecond whenever somebody looks."""

    now: float = NOW

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@dataclass
class GiteaFleet:
    """A sync is a minute after the last."""

    forge: FakeGitea
    client: GiteaForge
    store: SqliteStore
    clock: Clock
    settings: SyncSettings = INDEX
    policy: Policy = field(default_factory=Policy)

    async def sync(self, settings: SyncSettings | None = None, watcher: Watcher | None = None) -> SyncReport:
        """Sync as ``gateway sync`` does; what the forge was asked before is forgotten."""
        self.clock.now += 60
        self.forge.reset_counts()
        return await sync_forge(
            self.client, self.store, settings or self.settings, clock=self.clock, progress=watcher or Watcher()
        )

    async def expect_complete(self, settings: SyncSettings | None = None) -> SyncReport:
        report = await self.sync(settings)
        assert report.complete, report
        return report

    @property
    def federation(self) -> Federation:
        """A new process's view of the same cache."""
        policy = replace(self.policy, sync={self.client.name: self.settings})
        return Federation(self.store, {self.client.name: self.client}, policy, clock=self.clock)

    def project(self, name: str) -> Project:
        (project,) = self.store.resolve(name).projects
        return project

    def names(self) -> list[str]:
        return [project.name for project in self.store.projects(limit=1000)]

    def slugs(self, name: str) -> list[str]:
        return [page.slug for page in self.store.pages(self.project(name).key)]

    def texts(self, name: str) -> dict[str, str]:
        """The bodies that the cache holds of a project's pages, by slug."""
        key = self.project(name).key
        pages = self.store.pages(key)
        bodies = self.store.bodies(key, {page.sha for page in pages})
        return {page.slug: bodies[page.sha] for page in pages if page.sha in bodies}


@asynccontextmanager
async def fleet_on(
    forge: FakeGitea,
    folder: Path,
    *,
    repositories: Mapping[str, Mapping[str, str]] | None = None,
    settings: SyncSettings = INDEX,
    max_in_flight: int = 8,
) -> AsyncIterator[GiteaFleet]:
    """A fleet on ``forge``, to which ``repositories`` are added."""
    for name, files in (repositories or {}).items():
        forge.add_repo(name, files)
    clock = Clock()
    store = SqliteStore(folder / "cache.db", clock=clock, on_notice=print)
    try:
        async with client_of(forge, max_in_flight=max_in_flight) as client:
            yield GiteaFleet(forge, client, store, clock, settings)
    finally:
        store.close()
