"""The two forms that a task is filed in: an issue, or a file below ``.tasks/``. Each looks for one task in one project,
and files it once; whether and when is :mod:`gateway.filing`'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from cache.errors import Conflict, Denied
from cache.model import SAME_TASK, FiledTask, Project, TaskKind
from gateway.live import look_through
from gateway.pages import file_url
from sync import task_files
from sync.forge.base import Absent, Answer, File, Refused
from sync.forge.writing import Change, Edit, Issue, Protected, WritableForge
from sync.tasks import MAX_BODY, Task, find_marker, marker_of, resolve_labels, with_marker

DAY: Final = 24 * 3600.0  # seconds
NAMES_AT_ONCE: Final = 4  # of a day, that are looked at together
MOST_NAMES: Final = 40  # of one title on one day


@dataclass(frozen=True, slots=True)
class Seen:
    """A task as it was filed, now or before. ``warning`` is what it lacks of what was asked for."""

    task: FiledTask
    warning: str | None = None


class Form(Protocol):
    """One task as it is, or is to be, in one project. Raises the forge's errors."""

    @property
    def kind(self) -> TaskKind: ...

    @property
    def is_unique(self) -> bool:
        """Whether the forge refuses the second of two that are filed at the same moment."""

    @property
    def path(self) -> str | None:
        """Where :meth:`send` would put it, by the last look; an issue gets its number then."""

    async def look(self) -> tuple[Seen, ...]:
        """What the task was filed as in the last ``SAME_TASK``, the oldest first."""

    async def rehearse(self) -> None:
        """Raise what :meth:`send` would raise, as far as that can be told without filing anything."""

    async def send(self) -> Seen:
        """File it, by one request. Raises ``Unsettled`` if nobody knows whether it was, and ``Moved`` if it was not,
        since somebody else took its name after the last look."""


async def issue_form(forge: WritableForge, project: Project, task: Task, clock: Callable[[], float]) -> IssueForm:
    """The task as an issue. Raises ``InvalidArgument`` for a label that the project does not have."""
    labels = resolve_labels(task.labels, await forge.labels(project.repo)) if task.labels else {}
    marker = marker_of(task)
    body = await look_through(len(task.body), with_marker, task.body, marker)
    return IssueForm(forge, project, task.title, body, labels, marker, clock)


@dataclass(frozen=True, slots=True)
class IssueForm:
    """An issue, whose ``body`` ends with its ``marker``. ``labels`` are names as the forge has them, and ids."""

    forge: WritableForge
    project: Project
    title: str
    body: str
    labels: Mapping[str, int]
    marker: str
    clock: Callable[[], float]

    @property
    def kind(self) -> TaskKind:
        return TaskKind.ISSUE

    @property
    def is_unique(self) -> bool:
        return False

    @property
    def path(self) -> None:
        return None

    async def look(self) -> tuple[Seen, ...]:
        now = self.clock()
        issues = await self.forge.recent_issues(self.project.repo, since=now - SAME_TASK)
        found = await look_through(sum(len(issue.body) for issue in issues), self._find, issues, now)
        return tuple(self._seen(issue, issue.at) for issue in found)

    def _find(self, issues: Sequence[Issue], now: float) -> tuple[Issue, ...]:
        return find_marker(issues, self.marker, now=now)

    async def rehearse(self) -> None:
        await self.forge.demand_issues(self.project.repo)

    async def send(self) -> Seen:
        ids = list(self.labels.values())
        issue = await self.forge.file_issue(self.project.repo, title=self.title, body=self.body, labels=ids)
        return self._seen(issue, self.clock())  # by the clock that will tell when it is a day old

    def _seen(self, issue: Issue, at: float) -> Seen:
        missing = [name for name in self.labels if name not in issue.labels]
        told = f"#{issue.number} is without {', '.join(missing)}: labels take a token that may write issues there"
        return Seen(FiledTask(TaskKind.ISSUE, at, issue.number, url=issue.url), told if missing else None)


class FileForm:
    """A file whose name is the day and the title, and a number where that is taken."""

    def __init__(self, forge: WritableForge, project: Project, task: Task, clock: Callable[[], float]) -> None:
        self._forge = forge
        self._project = project
        self._task = task
        self._clock = clock
        self._path, self._now = "", 0.0  # of the last look

    @property
    def kind(self) -> TaskKind:
        return TaskKind.FILE

    @property
    def is_unique(self) -> bool:
        return True

    @property
    def path(self) -> str:
        return self._path

    async def look(self) -> tuple[Seen, ...]:
        """Raises ``Conflict`` where all names of the day are taken."""
        self._now = self._clock()
        names = islice(task_files.paths(self._task.title, self._now), MOST_NAMES)
        before = task_files.paths(self._task.title, self._now - DAY)
        asked = [*islice(before, NAMES_AT_ONCE)]
        while today := [*islice(names, NAMES_AT_ONCE)]:
            answers = await self._forge.read(self._project.repo, [*today, *asked], limit=2 * MAX_BODY)
            size = sum(len(answer.data) for answer in answers if isinstance(answer, File))
            if found := await look_through(size, self._find, answers):
                return found
            if (free := _free(answers[: len(today)])) is not None:
                self._path = free
                return ()
            asked = []
        raise Conflict(f"{MOST_NAMES} tasks of this title were filed today — give it another title")

    def _find(self, answers: Sequence[Answer]) -> tuple[Seen, ...]:
        files = [answer for answer in answers if isinstance(answer, File)]
        texts = {file.path: file.data.decode("utf-8", "replace") for file in files}
        times = {path: task_files.filed_at(text, self._task, self._now) for path, text in texts.items()}
        found = sorted((at, path) for path, at in times.items() if at is not None)
        return tuple(self._seen(path, at) for at, path in found)

    async def rehearse(self) -> None:
        try:
            await self._forge.rehearse(self._project.repo, self._edit())
        except Protected as error:
            raise self._kept_out(error) from None

    async def send(self) -> Seen:
        try:
            await self._forge.write(self._project.repo, self._edit())
        except Protected as error:
            raise self._kept_out(error) from None
        return self._seen(self._path, self._now)

    def _edit(self) -> Edit:
        text = task_files.text_of(self._task, self._now)
        return Edit(f"task: {self._task.title}", (Change(self._path, text.encode(), None),))

    def _seen(self, path: str, at: float) -> Seen:
        return Seen(FiledTask(TaskKind.FILE, at, path=path, url=file_url(self._project, path)))

    def _kept_out(self, error: Protected) -> Denied:
        remedy = 'set [tasks] filing to "issue" for it, or let this token push there'
        return Denied(f"the default branch of {self._project.name} is protected — {remedy}", host=error.host)


def _free(answers: Sequence[Answer]) -> str | None:
    """The first path at which there is nothing. Where no file can be at any, the first: writing to it tells why."""
    if all(isinstance(answer, Refused) for answer in answers):
        return answers[0].path
    return next((answer.path for answer in answers if isinstance(answer, Absent)), None)
