"""The task journal in the cache file, and the right to file a text, which a lock beside the file stands for.

The lock tells who may act and the row what is known, so no row has to say whose it is or whether its owner lives: the
lock of one that died is free. A row without a kind says that a request was sent; its outcome was lost with whoever
sent it, or is still to come.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

from cache import recovery
from cache.connect import failures
from cache.database import Database
from cache.errors import StoreFailure
from cache.interface import Claim, Filed, Mine, Pending
from cache.lease import Held, exclusive
from cache.model import SAME_TASK, FiledTask, ProjectKey, TaskKind
from cache.schema import Connection
from cache.text import storable

_STRIPE = 3  # hexadecimal digits that tell locks apart: those that killed processes leave behind stay few


class Journal:
    """The journal in ``database``. Thread-safe; ``clock`` gives seconds since the UTC epoch.

    What was noted for a time ``SAME_TASK`` or more from now, before or after it, counts as long ago: a clock that is
    set right by a few seconds forgets nothing, and one that was years ahead leaves nothing that lasts for years."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._rights: dict[Mine, ExitStack] = {}
        self._numbers = count(1)

    def claim(self, key: ProjectKey, digest: str) -> Claim:
        with ExitStack() as right:
            held = self._lock(right, key, digest)
            # Read under the lock: what its last holder noted is there.
            at, task = self._database.read(_entry, key, digest, self._clock())
            if task is not None:
                return Filed(task)
            if not held:
                return Pending(at)
            mine = Mine(key, digest, at, next(self._numbers))
            self._rights[mine] = right.pop_all()
            return mine

    def note_sending(self, claim: Mine) -> None:
        if claim not in self._rights:
            raise StoreFailure("the right to file this task was given back — file it again")
        self._database.write(_note, claim, None, self._clock())

    def settle(self, claim: Mine, task: FiledTask) -> None:
        try:
            self._database.write(_note, claim, task, self._clock())
        finally:
            self._give_back(claim)

    def release(self, claim: Mine, *, refused: bool) -> None:
        try:
            if refused and claim in self._rights:
                self._database.write(_forget, claim)
        finally:
            self._give_back(claim)

    def close(self) -> None:
        """Give back all rights."""
        while self._rights:
            self._rights.popitem()[1].close()

    def _lock(self, right: ExitStack, key: ProjectKey, digest: str) -> bool:
        """Lay the lock of a text on ``right``. ``False``: somebody has it, or that of the rare text that shares it."""
        path = self._database.path
        name = hashlib.sha256(f"{key.forge} {key.id} {digest}".encode("utf-8", "surrogatepass")).hexdigest()[:_STRIPE]
        lock = path.with_name(f"{path.name}.task-{name}")
        try:
            with failures():
                recovery.make_folder(path.parent)
                right.enter_context(exclusive(lock))
        except Held:
            return False
        right.callback(_remove, lock)
        return True

    def _give_back(self, claim: Mine) -> None:
        right = self._rights.pop(claim, None)
        if right is not None:
            right.close()


def _remove(lock: Path) -> None:
    """Remove a lock's file while it is locked: who opened it before finds that it is not the one in place."""
    with suppress(OSError):
        lock.unlink()


def _entry(connection: Connection, key: ProjectKey, digest: str, now: float) -> tuple[float | None, FiledTask | None]:
    """When a request was last sent for the text, and as what it was filed; neither when that is long ago."""
    row = connection.execute(
        "SELECT at, kind, number, path, url FROM task_journal WHERE forge = ? AND forge_id = ? AND digest = ?",
        (key.forge, key.id, digest),
    ).fetchone()
    if row is None or abs(now - row[0]) >= SAME_TASK:
        return None, None
    at, kind, number, path, url = row
    return at, None if kind is None else FiledTask(TaskKind(kind), at, number, path, url)


def _note(connection: Connection, claim: Mine, task: FiledTask | None, now: float) -> None:
    """Note that a request is sent (``None``), or what the text was filed as: by this machine's clock not later than
    now. What is long ago goes."""
    connection.execute("DELETE FROM task_journal WHERE abs(? - at) >= ?", (now, SAME_TASK))
    values: tuple[object, ...] = (now, None, None, None, None)
    if task is not None:
        path, url = (None if text is None else storable(text) for text in (task.path, task.url))
        values = (min(task.filed_at, now), task.kind.value, task.number, path, url)
    connection.execute(
        "INSERT OR REPLACE INTO task_journal (forge, forge_id, digest, at, kind, number, path, url)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (claim.key.forge, claim.key.id, claim.digest, *values),
    )


def _forget(connection: Connection, claim: Mine) -> None:
    """Forget that a request was sent."""
    connection.execute(
        "DELETE FROM task_journal WHERE forge = ? AND forge_id = ? AND digest = ?",
        (claim.key.forge, claim.key.id, claim.digest),
    )
