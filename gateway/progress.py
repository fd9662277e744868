"""What a person or a program sees of a sync: a bar, a line, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Live
from rich.text import Text

from gateway.settings import ONLY_FORGE
from gateway.syncing import exit_code
from gateway.wording import printable
from sync.worker import Progress, Quiet, SyncReport

SHOWN_FAILURES = 20  # lines; the cache remembers all


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.speed or 0.0
        return Text(f"{speed:.{0 if speed >= 10 else 1}f}/s" if speed else "", style="progress.data.speed")


class _Bar:
    """Shows a sync as a bar with rate and estimate."""

    def __init__(self, live: Live, forge: str) -> None:
        self._live = live
        self._of = "" if forge == ONLY_FORGE else f" {forge}"
        self._failed = 0
        self._task = live.add_task("listing" + self._of, total=None)

    def listed(self, count: int, total: int | None) -> None:
        self._live.update(self._task, completed=count, total=total)

    def planned(self, looks: int, unchanged: int) -> None:  # noqa: ARG002 only the work that is left has an end
        self._live.reset(self._task, total=looks, description="reading" + self._of)

    def looked(self, name: str, failure: str | None) -> None:  # noqa: ARG002 which ones failed is told at the end
        self._failed += failure is not None
        if failure is not None:
            self._live.update(self._task, description=f"reading{self._of}, {self._failed} failed")
        self._live.advance(self._task)


@contextmanager
def watch(forge: str, console: Console) -> Iterator[Progress]:
    """A bar where ``console`` is a terminal; elsewhere nothing, until the summary."""
    if not console.is_terminal:
        yield Quiet()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate())
    with Live(*columns, TimeRemainingColumn(), console=console, transient=True) as live:
        yield _Bar(live, forge)


def summary(reports: Sequence[SyncReport]) -> str:
    """How a sync went, in one line."""
    return "; ".join(printable(_sentence(report, named=len(reports) > 1)) for report in reports)


def _sentence(report: SyncReport, *, named: bool) -> str:
    parts = [f"{report.listed} projects in {report.seconds:.1f} s", f"{report.changed} read"]
    counts = (
        (report.unchanged, "unchanged"),
        (report.no_wiki, "of those read have no wiki"),
        (report.renamed, "renamed"),
        (report.removed, "gone"),
        (len(report.failed), "failed"),
    )
    parts += [f"{count} {what}" for count, what in counts if count]
    if report.listing_error is not None:
        parts.append("listing failed")
    return (f"{report.forge}: " if named else "") + ", ".join(parts)


def failures(reports: Sequence[SyncReport]) -> list[str]:
    """A line for each forge that could not be listed, and for each project that failed, up to a bound."""
    unlisted = [f"cannot list {each.forge}: {each.listing_error}" for each in reports if each.listing_error is not None]
    failed = [f"{failure.project}: {failure.reason}" for each in reports for failure in each.failed]
    rest = len(failed) - SHOWN_FAILURES
    more = [f"and {rest} more — see gateway projects"] if rest > 0 else []
    return [printable(line) for line in (*unlisted, *failed[:SHOWN_FAILURES], *more)]


def as_json(reports: Sequence[SyncReport]) -> str:
    """How a sync went, as one line of JSON: ``{"complete", "exit", "forges": [...]}``, times in seconds."""
    forges = [asdict(report) for report in reports]
    return json.dumps(
        {"complete": all(report.complete for report in reports), "exit": exit_code(reports), "forges": forges}
    )
