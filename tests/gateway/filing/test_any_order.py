"""Whatever happens in whatever order: the same text is an issue once a day, and what is answered is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import anyio
import anyio.lowlevel
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cache.errors import Denied, KnowledgeError
from cache.model import SAME_TASK, Project, ProjectKey, ProjectState, RepoRef
from cache.store import SqliteStore
from gateway.filing import Filer, TaskRequest
from gateway.naming import Names
from gateway.write_policy import WritePolicy
from sync.forge.local import LocalForge
from sync.forge.writing import Issue, Unsettled
from sync.tasks import LATE

Fate = Literal["done", "refused", "lost before", "lost after", "late"]
PROJECT = Project(RepoRef(ProjectKey("main", 1), "acme/web", "main"), ProjectState.OK, url="https://git.example.test/x")
GATEWAYS = 3  # the last one has a cache of its own


@dataclass(frozen=True, slots=True)
class Step:
    """After some ``pause`` a gateway files a text, and this is the ``fate`` of what it sends."""

    gateway: int
    text: int
    fate: Fate
    pause: float


class Tracker(LocalForge):
    """Issues in memory. A request that comes late is carried out half of ``LATE`` after it was sent."""

    def __init__(self, root: Path) -> None:
        super().__init__("main", [root], status_paths=())
        self.now = 1_900_000_000.0
        self.issues: list[Issue] = []
        self.coming: list[tuple[float, str, str]] = []
        self.cache = ""  # of whoever asks now, and of whoever sent what is still to come
        self.coming_from = ""
        self.fate: Fate = "done"

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        due = [each for each in self.coming if each[0] <= self.now]
        self.coming = [each for each in self.coming if each not in due]
        for at, title, body in due:
            self._add(title, body, at)

    def _add(self, title: str, body: str, at: float) -> Issue:
        number = len(self.issues) + 1
        self.issues.append(Issue(number, f"https://git.example.test/x/{number}", title, body, float(int(at))))
        return self.issues[-1]

    async def labels(self, repo: RepoRef) -> Mapping[str, int]:
        return {}

    async def file_issue(self, repo: RepoRef, *, title: str, body: str, labels: Sequence[int]) -> Issue:
        await anyio.lowlevel.checkpoint()
        if self.fate == "refused":
            raise Denied("no")
        if self.fate == "late":
            self.coming.append((self.now + LATE / 2, title, body))
            self.coming_from = self.cache
        if self.fate in ("lost before", "late"):
            raise Unsettled("lost")
        issue = self._add(title, body, self.now)
        if self.fate == "lost after":
            raise Unsettled("lost")
        return issue

    async def recent_issues(self, repo: RepoRef, *, since: float) -> Sequence[Issue]:
        await anyio.lowlevel.checkpoint()
        return [issue for issue in reversed(self.issues) if issue.at >= since]


@dataclass
class World:
    """What the steps happen in, and what must hold of it."""

    tracker: Tracker
    filers: Sequence[Filer]
    last_lost: float = float("-inf")

    async def take(self, step: Step) -> None:
        self.tracker.pass_time(step.pause)
        self.tracker.cache = "own" if step.gateway == GATEWAYS - 1 else "shared"
        if self.tracker.coming and self.tracker.coming_from != self.tracker.cache:
            return  # it does not know what others wait for: the race that remains
        self.tracker.fate = step.fate
        before = len(self.tracker.issues)
        title = f"Text {step.text}"
        try:
            answer = await self.filers[step.gateway].file(PROJECT, TaskRequest(f"{title}\n"))
        except KnowledgeError:
            assert step.fate != "done" or self.tracker.now - self.last_lost < LATE
        else:
            assert answer.number is not None
            assert self.tracker.issues[answer.number - 1].title == title
            assert answer.created == (len(self.tracker.issues) > before)
            assert answer.warning is None
        if step.fate in ("lost before", "late"):
            self.last_lost = self.tracker.now
        self.expect_each_once_a_day()

    def expect_each_once_a_day(self) -> None:
        for title in {issue.title for issue in self.tracker.issues}:
            times = [issue.at for issue in self.tracker.issues if issue.title == title]
            assert all(later - earlier >= SAME_TASK - 1 for earlier, later in pairwise(times))


steps = st.builds(
    Step,
    st.sampled_from([0, 0, 1, 1, 2]),
    st.sampled_from([0, 0, 0, 1]),
    st.sampled_from(["done", "done", "refused", "lost before", "lost after", "late", "late"]),
    st.sampled_from([0.0, 0.0, 1.0, 1.0, LATE / 2, LATE / 2, LATE, SAME_TASK / 2, SAME_TASK, SAME_TASK + LATE]),
)


@example([Step(0, 0, "late", 0.0), Step(1, 0, "done", 1.0), Step(0, 0, "done", LATE)])
@example([Step(0, 0, "lost before", 0.0), Step(1, 0, "done", LATE), Step(2, 0, "done", 0.0)])
@example([Step(2, 0, "late", 0.0), Step(0, 0, "done", 0.0), Step(2, 0, "done", LATE / 2)])
@example([Step(0, 0, "lost after", 0.0), Step(2, 0, "done", 0.0), Step(2, 0, "done", SAME_TASK)])
@settings(max_examples=40, deadline=None)
@given(st.lists(steps, min_size=2, max_size=10))
def test_the_same_text_is_filed_once_a_day(taken: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        tracker = Tracker(Path(folder))
        caches = [Path(folder) / name for name in ("shared.db", "shared.db", "own.db")]
        stores = [SqliteStore(cache, clock=lambda: tracker.now, on_notice=print) for cache in caches]
        policy = WritePolicy(filing="issue")
        world = World(
            tracker,
            [
                Filer(store, {"main": tracker}, Names(("main",)), policy, lambda: tracker.now, 20.0, ())
                for store in stores
            ],
        )

        async def take_all() -> None:
            for step in taken:
                await world.take(step)

        try:
            anyio.run(take_all)
        finally:
            for store in stores:
                store.close()
