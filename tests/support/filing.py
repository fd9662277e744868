"""Filing tasks in the projects of a fleet on a fake forge, each time as a gateway that was just started would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cache.interface import Store
from gateway.answers import TaskAnswer
from gateway.filing import Filer, TaskRequest
from gateway.naming import Names
from gateway.write_policy import WritePolicy
from sync.forge.writing import WritableForge
from tests.fake_gitea import FakeGitea, Repo
from tests.support.gitea_fleet import GiteaFleet

BODY: Final = "# Fix yarn\n\nIt fails on Windows.\n"
POST: Final = "POST /repos/{owner}/{repo}/issues"
LIST: Final = "GET /repos/{owner}/{repo}/issues"
COMMIT: Final = "POST /repos/{owner}/{repo}/contents"


@dataclass
class Desk:
    """Where tasks are filed. ``store`` and ``forge`` are the fleet's unless told otherwise."""

    fleet: GiteaFleet
    policy: WritePolicy = field(default_factory=WritePolicy)
    deadline: float = 20.0
    pauses: Sequence[float] = (0.0,)
    store: Store | None = None
    forge: WritableForge | None = None

    @property
    def filer(self) -> Filer:
        forge = self.forge or self.fleet.client
        names = Names((forge.name,))
        store = self.store or self.fleet.store
        return Filer(store, {forge.name: forge}, names, self.policy, self.fleet.clock, self.deadline, self.pauses)

    async def file(
        self,
        body: str = BODY,
        project: str = "acme/web",
        *,
        title: str | None = None,
        labels: Sequence[str] = (),
        dry_run: bool = False,
    ) -> TaskAnswer:
        return await self.filer.file(self.fleet.project(project), TaskRequest(body, title, tuple(labels), dry_run))

    @property
    def server(self) -> FakeGitea:
        return self.fleet.forge

    @property
    def repo(self) -> Repo:
        return self.server.repo("acme/web")

    @property
    def posts(self) -> int:
        """How many requests went out that file something."""
        return self.server.counts.get(POST, 0) + self.server.counts.get(COMMIT, 0)

    def later(self, seconds: float) -> None:
        """Let time pass, here and there."""
        self.fleet.clock.now += seconds
        self.server.clock.advance(seconds)
