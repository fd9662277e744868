"""The last sync runs, as the cache file remembers them."""

from __future__ import annotations

from dataclasses import replace

from cache.interface import RunSummary
from cache.rows import Row
from cache.schema import Connection

KEPT = 50

_COLUMNS = "forge, started_at, finished_at, listed, changed, failed, removed, complete"


def start(connection: Connection, forge: str, at: float) -> int:
    row = connection.execute("INSERT INTO run (forge, started_at) VALUES (?, ?) RETURNING id", (forge, at)).fetchone()
    connection.execute("DELETE FROM run WHERE id NOT IN (SELECT id FROM run ORDER BY id DESC LIMIT ?)", (KEPT,))
    return int(row[0])


def finish(connection: Connection, run: int, summary: RunSummary) -> None:
    """Note how the run ended; a run that the file does not know (any more) is left out."""
    connection.execute(
        f"UPDATE run SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ? AND started_at = ?",  # noqa: S608
        (
            summary.forge,
            summary.started_at,
            summary.finished_at,
            summary.listed,
            summary.changed,
            summary.failed,
            summary.removed,
            summary.complete,
            run,
            summary.started_at,
        ),
    )


def latest(connection: Connection) -> tuple[RunSummary, ...]:
    """The newest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM run ORDER BY id DESC")  # noqa: S608
    return tuple(_summary(row) for row in rows)


def _summary(row: Row) -> RunSummary:
    *others, complete = row
    return replace(RunSummary(*others), complete=bool(complete))
