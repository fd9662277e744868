"""Writing pages into a wiki on a fake forge, each time as a gateway that was just started would."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from cache.errors import KnowledgeError
from cache.interface import Store
from cache.model import RepoRef
from gateway.answers import IngestAnswer
from gateway.ingest import Ingester, IngestRequest
from gateway.naming import Names
from gateway.write_policy import WritePolicy
from sync.forge.blobs import blob_sha
from sync.forge.writing import Edit, Unsettled, WritableForge, Written
from tests.fake_gitea import FakeGitea, Repo
from tests.support.forges import Faulty
from tests.support.gitea_fleet import GiteaFleet
from tests.support.wikis import read

INDEX: Final = "# Wiki\n\n## Concepts\n\n- [One](concepts/one.md) — the first\n\n## Raw\n\n- [Log](raw/log.md)\n"
WIKI: Final = {
    ".wiki/index.md": INDEX,
    ".wiki/concepts/one.md": "# One\n\nAll of one.\n",
    ".wiki/raw/log.md": "# Log\n",
    "README.md": "# Web\n",
}
REQUEST: Final = IngestRequest(
    "keys", "Cache keys", "Each build has its own.\n", "concepts", "what a cache is found by"
)
PAGE: Final = "# Cache keys\n\nEach build has its own.\n"
LINE: Final = "- [Cache keys](concepts/keys.md) — what a cache is found by\n"
COMMIT: Final = "POST /repos/{owner}/{repo}/contents"
PULL: Final = "POST /repos/{owner}/{repo}/pulls"


@dataclass
class Interfering(Faulty):
    """A forge at which somebody is faster: before each write the next thing in ``meanwhile`` happens."""

    meanwhile: list[Callable[[], object]] = field(default_factory=list)

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return await super().write(repo, edit)


Fate = Literal["answered", "done", "undone", "late"]


@dataclass
class Losing(Faulty):
    """A forge whose answers to the first writes get lost; their ``fates`` tell what became of the requests. A ``late``
    one is carried out just before the next write. ``then`` happens as soon as one is lost."""

    fates: list[Fate] = field(default_factory=list)
    then: Callable[[], object] = lambda: None
    late: tuple[RepoRef, Edit] | None = None

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        if self.late is not None:
            with suppress(KnowledgeError):
                await self.inner.write(*self.late)
            self.late = None
        fate = self.fates.pop(0) if self.fates else "answered"
        if fate == "answered":
            return await super().write(repo, edit)
        if fate == "done":
            await self.inner.write(repo, edit)
        elif fate == "late":
            self.late = repo, edit
        self.then()
        raise Unsettled(f"{self.host} did not tell", host=self.host)


@dataclass
class Desk:
    """Where pages are written. ``store`` and ``forge`` are the fleet's unless told otherwise."""

    fleet: GiteaFleet
    policy: WritePolicy = field(default_factory=WritePolicy)
    deadline: float = 20.0
    store: Store | None = None
    forge: WritableForge | None = None

    @property
    def ingester(self) -> Ingester:
        forge = self.forge or self.fleet.client
        store = self.store or self.fleet.store
        return Ingester(store, {forge.name: forge}, Names((forge.name,)), self.policy, self.fleet.clock, self.deadline)

    async def ingest(
        self,
        slug: str | None = None,
        *,
        project: str = "acme/web",
        request: IngestRequest = REQUEST,
        body: str | None = None,
        expected: str | None = None,
        dry_run: bool = False,
    ) -> IngestAnswer:
        """Write ``request``, but for what is told otherwise."""
        request = replace(request, expected_revision=expected, dry_run=dry_run)
        request = replace(request, slug=request.slug if slug is None else slug)
        request = replace(request, body=request.body if body is None else body)
        return await self.ingester.ingest(self.fleet.project(project), request)

    def meanwhile(self, *things: Callable[[], object]) -> Desk:
        """The same, but before each write one of ``things`` happens."""
        return replace(self, forge=Interfering(self.fleet.client, meanwhile=list(things)))

    def losing(self, *fates: Fate, then: Callable[[], object] = lambda: None) -> Desk:
        """The same, but the answers to the first writes get lost."""
        return replace(self, forge=Losing(self.fleet.client, fates=[*fates], then=then))

    @property
    def server(self) -> FakeGitea:
        return self.fleet.forge

    @property
    def repo(self) -> Repo:
        return self.server.repo("acme/web")

    @property
    def commits(self) -> int:
        """How many commits the repository has."""
        return len(self.repo.objects.commits)

    @property
    def posts(self) -> int:
        """How many requests went out that would make one."""
        return self.server.counts.get(COMMIT, 0)

    def page(self, slug: str = "concepts/keys", *, branch: str | None = None) -> str | None:
        data = self.repo.read(f".wiki/{slug}.md", branch)
        return None if data is None else data.decode()

    def index(self, *, branch: str | None = None) -> str:
        data = self.repo.read(".wiki/index.md", branch)
        return "" if data is None else data.decode()

    def listed(self, *, branch: str | None = None) -> list[str]:
        """The slugs that the index lists, in order."""
        tip = self.repo.tip(branch)
        assert tip is not None
        inside = {path.removeprefix(".wiki/"): "" for path in tip.snapshot.files if path.startswith(".wiki/")}
        return [page.slug for page in read({**inside, "index.md": self.index(branch=branch)}).pages if page.listed]


def revision(text: str) -> str:
    """The revision of a page with this ``text``."""
    return blob_sha(text.encode())
