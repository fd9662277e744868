"""``tasks.create``: files a task in another project, and the same text once a day.

The journal in the cache gives the right to file a text (:class:`cache.interface.JournalStore`), so that those who share
it file one task between them; what others filed is looked for before anything is sent. A request goes out once. Where
its answer is lost, the task is looked for, and whoever asks again looks first, too: nothing is sent again as long as
that request may still be on its way. What remains is that gateways with separate caches look, and then file, at the
same moment: the later one finds both and says so.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from cache.errors import Conflict, KnowledgeError, StoreFailure, TimedOut, Unavailable
from cache.interface import Filed, Mine, Pending, Store
from cache.model import FiledTask, Project, TaskKind
from gateway.answers import TaskAnswer
from gateway.live import look_through, unconfigured
from gateway.naming import Names
from gateway.secrets import refuse_secrets
from gateway.task_forms import FileForm, Form, Seen, issue_form
from gateway.write_policy import WritePolicy
from sync.forge.writing import Moved, Unsettled, WritableForge
from sync.task_files import FOLDER
from sync.tasks import Task, checked_body, checked_labels, checked_title, may_send, title_of

POLL: Final = 0.1  # seconds between two looks whether somebody else is done
MOST_SENT: Final = 5  # requests for one task, all but the last of which were certainly not carried out
SENDING: Final = 0.75  # of the time there is; the rest is for finding out what came of a request
PAUSES: Final = (0.5, 2.0)  # seconds before looking again for a task of which nobody knows whether it was filed

T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What a caller wants filed; without ``title`` it is taken from the body. ``dry_run``: only tell what would be."""

    body: str
    title: str | None = None
    labels: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(slots=True)
class _Outcome:
    """What is known when the right to file is given back: the task, or that what was sent ``is_refused``."""

    task: FiledTask | None = None
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class _Job:
    """A task on its way to the forge ``host``. ``until`` is when no more is sent, ``end`` when no more is looked for,
    both by the event loop's clock."""

    form: Form
    host: str
    until: float
    end: float
    claim: Mine
    outcome: _Outcome = field(default_factory=_Outcome)


@dataclass(frozen=True, slots=True)
class Filer:
    """Files each task within ``deadline`` seconds, where ``policy`` lets it. ``clock`` gives seconds since the UTC
    epoch; ``pauses`` are between looks for a task whose answer was lost."""

    store: Store
    forges: Mapping[str, WritableForge]
    names: Names
    policy: WritePolicy
    clock: Callable[[], float]
    deadline: float
    pauses: Sequence[float] = PAUSES

    async def file(self, project: Project, request: TaskRequest) -> TaskAnswer:
        """File a task, or find that the same text was filed in the last ``SAME_TASK``.

        Raises ``InvalidArgument`` and ``TooLarge`` for what is no task, ``Denied`` for what may not be written there,
        ``TimedOut`` where nothing was filed, ``Unavailable`` where nobody knows, and the forge's errors.
        """
        project_name = self.names.spell(project)
        self.policy.refuse(project_name)
        forge = self.forges.get(project.key.forge)
        if forge is None:
            raise unconfigured(project.key.forge)
        task = await look_through(len(request.body), self._task, request)
        end = anyio.current_time() + self.deadline
        until = end - self.deadline * (1 - SENDING)
        claim = await self._claim(project, task, until)
        if isinstance(claim, Filed):
            return self._answer(project, (Seen(claim.task),), created=False, dry_run=request.dry_run)
        async with self._held(claim) as outcome:
            form = await self._by(until, partial(self._form, project, forge, task))
            every = await self._by(until, form.look)
            if every:
                outcome.task = every[0].task
                return self._answer(project, every, created=False, dry_run=request.dry_run)
            if not may_send(claim.sent_at, self.clock()):
                raise _unknown(forge.host)
            if request.dry_run:
                await self._by(until, form.rehearse)
                return TaskAnswer(project_name, form.kind.value, created=True, dry_run=True, path=form.path)
            every, created = await self._send(_Job(form, forge.host, until, end, claim, outcome))
            outcome.task = every[0].task
            return self._answer(project, every, created=created, dry_run=False)

    def _task(self, request: TaskRequest) -> Task:
        body = checked_body(request.body)
        labels = checked_labels(request.labels)
        title = title_of(body) if request.title is None else checked_title(request.title)
        if not self.policy.allow_secrets:
            refuse_secrets({"body": body, "title": title, "labels": "\n".join(labels)})
        return Task(title, body, labels)

    async def _claim(self, project: Project, task: Task, until: float) -> Mine | Filed:
        """The right to file the task, or what it was filed as; somebody else who has the right is waited for."""
        digest = task.digest
        while True:
            claim = await anyio.to_thread.run_sync(self.store.claim_task, project.key, digest)
            if not isinstance(claim, Pending):
                return claim
            if anyio.current_time() + POLL > until:
                raise Unavailable("another gateway is filing this task right now — ask again in a moment")
            await anyio.sleep(POLL)

    @asynccontextmanager
    async def _held(self, claim: Mine) -> AsyncIterator[_Outcome]:
        """Give the right back at the end of the block, however that ends, with what came of it."""
        outcome = _Outcome()
        try:
            yield outcome
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._give_back, claim, outcome)

    def _give_back(self, claim: Mine, outcome: _Outcome) -> None:
        try:
            if outcome.task is None:
                self.store.release_task(claim, refused=outcome.is_refused)
            else:
                self.store.settle_task(claim, outcome.task)
        except StoreFailure as error:  # the right is given back all the same, and the next holder looks
            logger.warning("%s", error.message)

    async def _by(self, moment: float, work: Callable[[], Awaitable[T]]) -> T:
        with anyio.CancelScope(deadline=moment):
            return await work()
        raise TimedOut(self.deadline * SENDING)

    async def _form(self, project: Project, forge: WritableForge, task: Task) -> Form:
        if await self._kind(project, forge) is TaskKind.FILE:
            return FileForm(forge, project, task, self.clock)
        return await issue_form(forge, project, task, self.clock)

    async def _kind(self, project: Project, forge: WritableForge) -> TaskKind:
        filing = self.policy.filing_of(self.names.spell(project))
        if filing != "auto":
            return TaskKind(filing)
        if project.url is None:  # a local repository
            return TaskKind.FILE
        head = await forge.head(project.repo)
        if head is not None and head.names is None:  # too many to have been learned on the way
            status = await anyio.to_thread.run_sync(self.store.status, project.key)
            return TaskKind.FILE if status is not None and status.path.startswith(FOLDER) else TaskKind.ISSUE
        return TaskKind.FILE if head is not None and head.may_hold(FOLDER) else TaskKind.ISSUE

    async def _send(self, job: _Job) -> tuple[tuple[Seen, ...], bool]:
        """File the task. What it is filed as now, the oldest first, and whether that is by this call."""
        for _ in range(MOST_SENT):
            await anyio.to_thread.run_sync(self.store.note_sending, job.claim)
            job.outcome.is_refused = False
            try:
                seen = await self._by(job.until, job.form.send)
            except Moved:
                job.outcome.is_refused = True
                if found := await self._by(job.until, job.form.look):
                    return found, False
            except (Unsettled, TimedOut) as error:
                logger.debug("%s: %s", job.host, error.message)
                if found := await self._search(job):
                    return found, True
                raise _unknown(job.host) from error
            except KnowledgeError:
                job.outcome.is_refused = True
                raise
            else:
                job.outcome.task = seen.task  # whatever happens from here on
                every = await self._with_others(job, seen)
                return every, every[0].task.number == seen.task.number
        raise Conflict("others keep taking the name of this task — try again")

    async def _search(self, job: _Job) -> tuple[Seen, ...]:
        """The task, if it turns up."""
        with anyio.CancelScope(deadline=job.end):
            for pause in (0.0, *self.pauses):
                await anyio.sleep(pause)
                if found := await self._look(job.form):
                    return found
        return ()

    async def _with_others(self, job: _Job, seen: Seen) -> tuple[Seen, ...]:
        """The task just filed, and those that others filed of the same text since it was looked for."""
        every: tuple[Seen, ...] = ()
        if not job.form.is_unique:
            with anyio.CancelScope(deadline=job.end):
                every = await self._look(job.form)
        return every if any(each.task.number == seen.task.number for each in every) else (seen,)

    async def _look(self, form: Form) -> tuple[Seen, ...]:
        """What is to be seen of the task; nothing where the forge does not let anything be seen."""
        try:
            return await form.look()
        except KnowledgeError as error:
            logger.debug("%s", error.message)
            return ()

    def _answer(self, project: Project, every: tuple[Seen, ...], *, created: bool, dry_run: bool) -> TaskAnswer:
        """The oldest of ``every``, by which all who filed it at the same moment name the task."""
        task = every[0].task
        warnings = [each.warning for each in every[:1] if each.warning is not None]
        if len(every) > 1:
            numbers = [f"#{each.task.number}" for each in every]
            warnings.append(
                f"gateways with separate caches filed it at the same moment, as {' and '.join(numbers)}"
                f" — keep {numbers[0]} and close the other"
            )
        return TaskAnswer(
            self.names.spell(project),
            task.kind.value,
            created,
            dry_run,
            task.number,
            task.path,
            task.url,
            "; ".join(warnings) or None,
        )


def _unknown(host: str) -> Unavailable:
    return Unavailable(
        f"nobody knows yet whether {host} filed this task — ask again in a minute: it is looked for first, and never"
        " filed twice",
        host=host,
    )
