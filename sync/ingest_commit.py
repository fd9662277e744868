"""One page on its way into one repository's wiki: read, decide, write, and settle what came of it. A thin driver:
:mod:`sync.ingest` decides.

What is written names the blobs that were read, so a forge carries it out over these or not at all. Hence

* an index that somebody else changed meanwhile is read again, and the line added to that;
* an attempt whose answer was lost is settled by looking. If all is there, it was carried out. If the page is untouched,
  the attempt may be made again: should the first one arrive after all, the second is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from cache.errors import Conflict, KnowledgeError, TimedOut
from cache.model import MAX_PAGE, RepoRef, TreeEntry
from sync.forge.base import Absent, Answer
from sync.forge.writing import Edit, LastChange, Moved, PullRequest, Unsettled, WritableForge, Written
from sync.ingest import (
    Clash,
    Draft,
    Finding,
    Place,
    Plan,
    Scene,
    conflict,
    file_of,
    find_place,
    find_place_again,
    plan,
)

MERGES: Final = 3  # times that an index which changed meanwhile is read again
RESENDS: Final = 2  # times that an attempt is repeated whose answer was lost and of which nothing is to be seen

T = TypeVar("T")


class Deadline:
    """How long a caller waits: ``seconds``, and as long again for what there is to do once something was sent."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = anyio.current_time()
        self.at = self._began + seconds

    def extend(self) -> None:
        self.at = self._began + 2 * self.seconds

    async def within(self, work: Coroutine[None, None, T]) -> T:
        """What ``work`` brings. Raises ``TimedOut`` past the deadline."""
        with anyio.CancelScope(deadline=self.at):
            return await work
        raise TimedOut(self.seconds)


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be written where, for a caller who has read the page at revision ``expected`` (``None``: to whom it is
    new). ``name`` is what errors call the repository; ``clock`` gives seconds since the UTC epoch."""

    forge: WritableForge
    repo: RepoRef
    name: str
    draft: Draft
    expected: str | None
    clock: Callable[[], float]
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class Branch:
    """Where commits go, ``None`` for the default branch; ``pull`` is the open proposal of another one."""

    name: str | None = None
    pull: PullRequest | None = None


DEFAULT: Final = Branch()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The page at ``slug`` is at ``revision`` now. ``changed``: by this call, which made it (``created``) or changed it
    or its line in the index, by ``commit`` (``None``: only in a working tree, or nobody can tell).

    ``scene`` is the wiki of the default branch, where that is known and is where the page went. ``branch`` is where it
    went."""

    slug: str
    revision: str
    changed: bool = False
    created: bool = False
    commit: str | None = None
    scene: Scene | None = None
    branch: Branch = DEFAULT


class Tries:
    """What became of the attempts so far, each of which was decided by what was read just before."""

    def __init__(self) -> None:
        self.creates = False
        self.edit: Edit | None = None
        self.lost: Unsettled | None = None
        self._last_lost: Unsettled | None = None
        self._moves = self._losses = 0

    def begin(self, scene: Scene, edit: Edit) -> None:
        """Note that ``edit`` is sent next, over ``scene``. Raises where that was done often enough."""
        if self._last_lost is not None and self._losses > RESENDS:
            raise self._last_lost
        if self._moves > MERGES:
            raise Conflict(f"{scene.place.paths[1]} changed {self._moves} times meanwhile — try again")
        if self.edit is None:
            self.creates = scene.page is None
        self.edit = edit

    def fail(self, failure: Moved | Unsettled) -> None:
        if isinstance(failure, Unsettled):
            self.lost = self._last_lost = failure
            self._losses += 1
        else:
            self._moves += 1


class Committer:
    """Carries out one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._place: Place | None = None

    async def commit(self, scene: Scene, branch: Branch) -> Outcome:
        """Write over ``scene``, which was read of ``branch``.

        Raises ``Conflict`` where the page is not what the caller has read, ``Unsettled`` where nobody can tell what
        came of it, and the errors of :class:`sync.forge.writing.Writer`."""
        tries = Tries()
        while True:
            planned = await self.decide(scene, branch, tries)
            if not planned.changes:
                return await self.settled(scene, branch, tries)
            edit = planned.edit(scene.slug, branch=branch.name)
            tries.begin(scene, edit)
            answer = await self.attempt(edit)
            if isinstance(answer, Written):
                return await self._written(scene, branch, edit, answer, created=tries.creates)
            tries.fail(answer)
            scene = await self.look_again(scene, branch, tries)

    async def read(self, branch: Branch = DEFAULT) -> Scene:
        """The wiki of ``branch`` as it is now."""
        return await self.job.deadline.within(self._read(branch))

    async def decide(self, scene: Scene, branch: Branch, tries: Tries) -> Plan:
        """What is to be written over ``scene``. Raises ``Conflict`` where the page is not what it should be."""
        job, sent = self.job, tries.lost is not None
        decision = await anyio.to_thread.run_sync(lambda: plan(job.draft, scene, job.expected, sent=sent))
        if isinstance(decision, Clash):
            raise await self._conflict(decision, scene, branch, tries)
        return decision

    async def attempt(self, edit: Edit) -> Written | Moved | Unsettled:
        """Send ``edit`` once. A caller's patience that ends meanwhile tells as little as a lost answer."""
        deadline = self.job.deadline
        try:
            return await deadline.within(self.job.forge.write(self.job.repo, edit))
        except TimedOut:
            deadline.extend()
            host = self.job.forge.host
            return Unsettled(
                f"{host} did not tell within {deadline.seconds:g} s whether it was carried out — look before sending it"
                " again",
                host=host,
            )
        except Unsettled as lost:
            deadline.extend()
            return lost
        except Moved as moved:
            return moved

    async def look_again(self, before: Scene, branch: Branch, tries: Tries) -> Scene:
        """The wiki after an attempt that failed or whose answer was lost."""
        try:
            now = await self.read(branch)
            touched = tries.lost is not None and await self._was_touched(before, now, branch)
        except KnowledgeError:
            if tries.lost is None:
                raise
            raise tries.lost from None
        if touched:
            where = f"{self.job.name}/{now.place.paths[0]}"
            raise Conflict(f"{where} changed meanwhile and changed back — look before sending it again")
        return now

    async def settled(self, scene: Scene, branch: Branch, tries: Tries) -> Outcome:
        """The outcome where all is there: as ever, or after an attempt whose answer was lost."""
        found = Outcome(scene.slug, scene.revision or "", scene=scene if branch == DEFAULT else None, branch=branch)
        if tries.edit is None or tries.lost is None:
            return found
        change = await self._last_change(tries.edit.changes[0].path, branch)
        commit = None if change is None else change.commit or None
        return replace(found, changed=True, created=tries.creates, commit=commit)

    async def _written(self, scene: Scene, branch: Branch, edit: Edit, written: Written, *, created: bool) -> Outcome:
        revision = written.shas.get(scene.place.paths[0], scene.revision or "")
        made = Outcome(scene.slug, revision, True, created, written.commit, branch=branch)
        if written.commit is not None:
            now = scene.after(edit, written.commit, written.shas, at=self.job.clock())
            return replace(made, scene=now if branch == DEFAULT else None)
        with suppress(KnowledgeError):  # a working tree may show the same under another name: it converts line ends
            now = await self.read(branch)
            return replace(made, revision=now.revision or revision, scene=now)
        return made

    async def _conflict(self, clash: Clash, scene: Scene, branch: Branch, tries: Tries) -> Conflict:
        path = scene.place.paths[0]
        where = f"{self.job.name}/{path}"
        if branch.name is not None:
            where += f" on branch {branch.name}"
        if branch.pull is not None:
            where += f" (pull request {branch.pull.number})"
        change = await self._last_change(path, branch)
        meanwhile, sent = tries.edit is not None, tries.lost is not None
        return conflict(Finding(where, self.job.expected, clash, change, meanwhile=meanwhile, sent=sent))

    async def _last_change(self, path: str, branch: Branch) -> LastChange | None:
        """Who changed a file last, as far as it can be learned: it is told, nothing depends on it."""
        with suppress(KnowledgeError):
            change = self.job.forge.last_change(self.job.repo, path, branch=branch.name)
            return await self.job.deadline.within(change)
        return None

    async def _was_touched(self, before: Scene, now: Scene, branch: Branch) -> bool:
        """Whether the page, which is what it was, was something else in between: our own, then."""
        if before.revision != now.revision or before.commit == now.commit:
            return False
        path, change, within = now.place.paths[0], self.job.forge.last_change, self.job.deadline.within
        latest = await within(change(self.job.repo, path, branch=branch.name))
        if before.commit is None:
            return latest is not None
        return latest != await within(change(self.job.repo, path, branch=before.commit))

    async def _read(self, branch: Branch) -> Scene:
        forge, repo, at = self.job.forge, self.job.repo, self.job.clock()
        if branch.name is not None:
            tip = await forge.branch_head(repo, branch.name)
            if tip is None:
                raise Conflict(f"branch {branch.name} of {self.job.name} went meanwhile — try again")
            repo = replace(repo, default_branch=tip)  # a commit is read as a branch of that name would be
        head = await forge.head(repo)
        if branch.name is not None and (head is None or head.commit != repo.default_branch):
            raise Conflict(f"branch {branch.name} of {self.job.name} changed meanwhile — try again")
        if head is None:
            return Scene(None, (), self._find_place(()), None, None, at)
        tree = await forge.wiki_tree(repo, head)
        place = self._find_place(tree)
        answers: Sequence[Answer] = [Absent(path) for path in place.paths]
        if tree:
            answers = await forge.read(repo, place.paths, ref=head.commit, limit=MAX_PAGE)
        page, index = map(file_of, answers)
        return Scene(head.commit, tree, place, page, index, at, head.uncommitted)

    def _find_place(self, tree: Sequence[TreeEntry]) -> Place:
        if self._place is not None:
            return find_place_again(self._place, tree)
        self._place = find_place(self.job.draft, tree)
        return self._place
