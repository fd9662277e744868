"""``knowledge.ingest``: one page and its line in the index, written by one commit, and known to the cache at once.

What is written where, and what comes of it, is :mod:`sync.ingest`'s and its drivers'. Here it is checked whether it may
be, callers of one gateway take turns at a wiki, and what was written is noted.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from cache.errors import KnowledgeError, StoreFailure
from cache.interface import Store
from cache.model import Project, ProjectKey, WikiWrite
from gateway.answers import IngestAnswer, Proposal
from gateway.live import look_through, unconfigured
from gateway.naming import Names
from gateway.pages import file_url, page_path
from gateway.secrets import refuse_secrets
from gateway.write_policy import WritePolicy
from sync import page
from sync.forge.writing import Unsettled, WritableForge
from sync.ingest import Draft, Scene
from sync.ingest_commit import Deadline, Job, Outcome
from sync.ingest_proposal import Rehearsal, rehearse, write
from sync.look import read_written

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """A page as a caller wants it, who has read it at ``expected_revision`` or takes it for new. ``dry_run``: only tell
    what would be written."""

    slug: str
    title: str
    body: str
    type: str | None = None
    description: str = ""
    expected_revision: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Ingester:
    """Writes each page within ``deadline`` seconds, where ``policy`` lets it; settling what came of a lost answer may
    take as long again. ``clock`` gives seconds since the UTC epoch."""

    store: Store
    forges: Mapping[str, WritableForge]
    names: Names
    policy: WritePolicy
    clock: Callable[[], float]
    deadline: float
    _turns: defaultdict[ProjectKey, anyio.Lock] = field(default_factory=lambda: defaultdict(anyio.Lock))

    async def ingest(self, project: Project, request: IngestRequest) -> IngestAnswer:
        """Write a page, propose it where the default branch is protected, or find that all is there.

        Raises ``InvalidArgument`` and ``TooLarge`` for what is no page, ``Denied`` for what may not be written there,
        ``Conflict`` where the page or the index is in the way, ``Unsettled`` where nobody knows what came of it, and
        the forge's errors.
        """
        name = self.names.spell(project)
        self.policy.refuse(name)
        forge = self.forges.get(project.key.forge)
        if forge is None:
            raise unconfigured(project.key.forge)
        draft = await look_through(len(request.body), self._draft, request)
        deadline = Deadline(self.deadline)
        job = Job(forge, project.repo, name, draft, request.expected_revision, self.clock, deadline)
        if request.dry_run:
            return self._rehearsed(project, await rehearse(job))
        async with self._turn(project.key, deadline):
            try:
                outcome = await write(job)
            except Unsettled:
                await self._look_soon(project)
                raise
            await self._note(project, job, outcome)
        return self._answer(project, outcome)

    def _draft(self, request: IngestRequest) -> Draft:
        draft = Draft.of(request.slug, request.type, request.title, request.body, request.description)
        if not self.policy.allow_secrets:
            texts = {"slug": draft.slug, "title": draft.title, "body": draft.body, "description": draft.description}
            refuse_secrets(texts)
        return draft

    @asynccontextmanager
    async def _turn(self, key: ProjectKey, deadline: Deadline) -> AsyncIterator[None]:
        """Those who write to one wiki at once would only be in each other's way."""
        turn = self._turns[key]
        await deadline.within(turn.acquire())
        try:
            yield
        finally:
            turn.release()

    async def _note(self, project: Project, job: Job, outcome: Outcome) -> None:
        """Tell the cache what the wiki is now, or at least that it is another one. What keeps it from knowing does not
        undo what was written."""
        if outcome.branch.name is not None:
            return
        job.deadline.extend()
        try:
            if outcome.scene is not None:
                seen = await job.deadline.within(self._seen(job, outcome.scene))
                await anyio.to_thread.run_sync(self.store.note_write, seen)
                return
        except KnowledgeError as error:
            logger.warning("%s was written, and the cache learns it by the next sync: %s", job.name, error.message)
        await self._look_soon(project)

    async def _seen(self, job: Job, scene: Scene) -> WikiWrite:
        """The wiki of ``scene`` as a sync would read it."""
        bodies = {} if scene.page is None else {scene.page.sha: scene.page.data.decode()}
        own = await anyio.to_thread.run_sync(lambda: {sha: page.facts(body) for sha, body in bodies.items()})
        known = await anyio.to_thread.run_sync(self.store.facts, {entry.sha for entry in scene.tree})
        facts = {**known, **own}
        wiki = await read_written(job.forge, job.repo, scene.commit or "", scene.tree, scene.index, facts)
        return WikiWrite(job.repo.key, scene.at, wiki, scene.commit, scene.uncommitted, bodies, own)

    async def _look_soon(self, project: Project) -> None:
        with suppress(StoreFailure):
            await anyio.to_thread.run_sync(self.store.mark_stale, project.key)

    def _rehearsed(self, project: Project, rehearsal: Rehearsal) -> IngestAnswer:
        return IngestAnswer(
            self.names.spell(project),
            rehearsal.slug,
            rehearsal.revision,
            rehearsal.created,
            dry_run=True,
            diff=rehearsal.diff,
            next_action_hint="it would be proposed by a pull request" if rehearsal.proposes else None,
        )

    def _answer(self, project: Project, outcome: Outcome) -> IngestAnswer:
        branch = outcome.branch
        proposal = None if branch.pull is None else Proposal(branch.pull.number, branch.pull.url)
        return IngestAnswer(
            self.names.spell(project),
            outcome.slug,
            outcome.revision,
            outcome.created,
            dry_run=False,
            commit=outcome.commit,
            url=file_url(project, page_path(outcome.slug), branch.name),
            pull_request=proposal,
            next_action_hint=_hint(project, outcome, proposal),
        )


def _hint(project: Project, outcome: Outcome, proposal: Proposal | None) -> str | None:
    if proposal is not None:
        return f"it is proposed: others see it once pull request {proposal.number} is merged"
    if not outcome.changed:
        return "all of it was there already: nothing was written"
    return "it is in the working tree: commit it there" if project.url is None else None
