"""A page on its way into a wiki whose branch takes no direct commit: a branch of its own and a pull request. A thin
driver over :mod:`sync.ingest_commit`; :mod:`sync.proposal_branch` names the branches.

What is proposed is over what the default branch holds. Where the branch is there already, it is

* added to, while its pull request is open. Its page is somebody's work like any other: to change that, the caller names
  its revision, which is what the first proposal returned, and what a conflict tells;
* proposed as it is, if it holds just what would be written: a proposal that was interrupted;
* left alone otherwise: it was merged or closed, or nobody knows what it is for. The next branch is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread

from cache.errors import Conflict, KnowledgeError, shown
from sync.forge.writing import BranchExists, Protected, PullRequest, Unsettled, Written
from sync.ingest import Plan, Scene, blobs_after, revision_of, shown_as_diff
from sync.ingest_commit import DEFAULT, Branch, Committer, Job, Outcome, Tries
from sync.proposal_branch import branch_name

BRANCHES: Final = 9  # of one page, all but the last of no use

_MAX_TITLE = 255  # code points; what forges take
_BODY = "A page of the wiki and its line in the index, proposed since the default branch takes no direct commits.\n"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What writing the page at ``slug`` would come to: the ``diff``, and the ``revision`` that the page would have.
    ``proposes``: on another branch, by a pull request."""

    slug: str
    revision: str
    created: bool
    diff: str
    proposes: bool


async def write(job: Job) -> Outcome:
    """Write the page of ``job``, or propose it where the default branch is protected. Raises as
    :meth:`Committer.commit`."""
    committer = Committer(job)
    proposer = Proposer(committer)
    branch, scene = await proposer.begin()
    try:
        return await committer.commit(scene, branch)
    except Protected:
        if branch.name is not None:
            raise
        return await proposer.propose(scene)


async def rehearse(job: Job) -> Rehearsal:
    """What :func:`write` would do. Raises what it would raise, as far as that can be told without writing."""
    committer = Committer(job)
    proposer = Proposer(committer)
    branch, scene = await proposer.begin()
    planned = await committer.decide(scene, branch, Tries())
    proposes = branch.name is not None
    if planned.changes:
        try:
            await job.deadline.within(job.forge.rehearse(job.repo, planned.edit(scene.slug, branch=branch.name)))
        except Protected:
            if proposes:
                raise
            proposes = True
            branch, scene = await proposer.find(scene) or (branch, scene)
            planned = await committer.decide(scene, branch, Tries())
    diff = await anyio.to_thread.run_sync(shown_as_diff, planned, scene)
    is_new = scene.page is None and bool(planned.changes)
    return Rehearsal(scene.slug, revision_of(planned, scene), is_new, diff, proposes)


class Proposer:
    """Proposes what ``committer`` may not commit."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self._job = committer.job

    async def begin(self) -> tuple[Branch, Scene]:
        """Where the page is to be written: over the default branch, or over an open proposal if it is the page of that
        which the caller has read."""
        scene = await self._committer.read()
        expected = self._job.expected
        if expected in (None, scene.revision):
            return DEFAULT, scene
        found = await self.find(scene)
        if found is None or (found[1].revision != expected and scene.page is not None):
            return DEFAULT, scene
        return found  # also at another revision, if it is only there that they can have read it

    async def find(self, scene: Scene) -> tuple[Branch, Scene] | None:
        """The open proposal of the page in ``scene``, and the wiki as it would be."""
        for number in range(1, BRANCHES + 1):
            name = branch_name(scene.slug, number)
            if not await self._exists(name):
                return None
            if (pull := await self._pull(name)) is not None:
                branch = Branch(name, pull)
                return branch, await self._committer.read(branch)
        return None

    async def propose(self, scene: Scene) -> Outcome:
        """Propose the page over ``scene``, which was read of the default branch. Raises as :meth:`Committer.commit`."""
        tries = Tries()
        for number in range(1, BRANCHES + 1):
            outcome = await self._propose_on(branch_name(scene.slug, number), scene, tries)
            if outcome is not None:
                return outcome
        first, last = branch_name(scene.slug), branch_name(scene.slug, BRANCHES)
        raise Conflict(
            f"{self._job.name} has branches {first} to {last} without an open pull request — delete those of no use"
        )

    async def _propose_on(self, name: str, scene: Scene, tries: Tries) -> Outcome | None:
        """Propose the page on the branch ``name``; ``None`` where that is of no use."""
        while True:
            planned = await self._committer.decide(scene, DEFAULT, tries)
            if not planned.changes:
                return await self._committer.settled(scene, DEFAULT, tries)
            edit = planned.edit(scene.slug, new_branch=name)
            tries.begin(scene, edit)
            answer = await self._committer.attempt(edit)
            if isinstance(answer, Written):
                revision = answer.shas.get(scene.place.paths[0], scene.revision or "")
                made = Outcome(scene.slug, revision, True, tries.creates, answer.commit)
                return await self._open_pull(name, edit.message, made)
            if isinstance(answer, BranchExists) or (
                isinstance(answer, Unsettled) and await self._was_made(name, answer)
            ):
                return await self._take_up(name, scene, planned, tries)
            tries.fail(answer)
            scene = await self._committer.look_again(scene, DEFAULT, tries)
            tries.lost = None  # it went to a branch that is not there

    async def _was_made(self, name: str, lost: Unsettled) -> bool:
        """Whether there is a branch ``name`` after an attempt to make it whose answer was ``lost``."""
        try:
            return await self._exists(name)
        except KnowledgeError:
            raise lost from None

    async def _exists(self, name: str) -> bool:
        return await self._job.deadline.within(self._job.forge.branch_head(self._job.repo, name)) is not None

    async def _take_up(self, name: str, scene: Scene, planned: Plan, tries: Tries) -> Outcome | None:
        """Go on with a branch that is there, if it is one to go on with."""
        branch = Branch(name, await self._pull(name))
        there = await self._committer.read(branch)
        if branch.pull is not None:
            return await self._committer.commit(there, branch)
        if there.blobs != blobs_after(scene, planned):
            return None
        made = Outcome(scene.slug, there.revision or "", True, tries.creates, there.commit)
        return await self._open_pull(name, planned.edit(scene.slug).message, made)

    async def _pull(self, name: str) -> PullRequest | None:
        return await self._job.deadline.within(self._job.forge.open_pull(self._job.repo, name))

    async def _open_pull(self, name: str, message: str, made: Outcome) -> Outcome:
        title = shown(message, _MAX_TITLE)
        pull = await self._job.deadline.within(self._job.forge.propose(self._job.repo, name, title=title, body=_BODY))
        return replace(made, branch=Branch(name, pull))
