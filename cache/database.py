"""The cache file in use: connections for many threads, transactions, and mending.

Work is a function of a connection. :meth:`Database.read` and :meth:`Database.write` run it in one transaction, on a
connection that no other thread uses meanwhile. When the file turns out to be damaged it is set aside, and the work
runs once more on a new one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from cache import recovery
from cache.connect import Damaged, Opened, Opener, failures
from cache.errors import StoreFailure
from cache.interface import StoreNotice
from cache.recovery import Identity
from cache.schema import Connection

P = ParamSpec("P")
T = TypeVar("T")

_IDLE = 4  # connections that are kept for later


class Database:
    """The database at ``path``, opened when first used. ``busy_timeout`` is in seconds; ``clock`` tells the time;
    ``on_notice`` hears, in the thread where it happens, what was done unasked."""

    def __init__(
        self, path: Path, *, clock: Callable[[], float], on_notice: Callable[[StoreNotice], None], busy_timeout: float
    ) -> None:
        self.path = Path(os.path.realpath(path))
        self._opener = Opener(self.path, busy_timeout)
        self._clock = clock
        self._on_notice = on_notice
        self._guard = threading.Lock()  # of the three below
        self._idle: list[Opened] = []
        self._file: Identity | None = None
        self._closed = False
        self._writers = threading.Lock()  # threads queue here: SQLite would wait in growing steps, and give up

    def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work`` on one state of the database."""
        return self._run("BEGIN", lambda connection: work(connection, *args, **kwargs))

    def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work``: all that it writes is there afterwards, or nothing when it raises."""
        with self._writers:
            return self._run("BEGIN IMMEDIATE", lambda connection: work(connection, *args, **kwargs))

    def shrink(self) -> None:
        """Give back to the disk what is no longer used, if nobody else is writing."""
        with suppress(StoreFailure):
            self._run(None, lambda connection: connection.execute("VACUUM"))
            self._run(None, lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())

    def close(self) -> None:
        """Close the connections, those in use as soon as they are free."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.connection.close()

    def _run(self, begin: str | None, work: Callable[[Connection], T]) -> T:
        try:
            return self._transact(begin, work)
        except Damaged as damaged:
            self._replace(damaged)
        try:
            return self._transact(begin, work)
        except Damaged as damaged:
            damaged.opened.connection.close()
            raise damaged.failure from damaged

    def _transact(self, begin: str | None, work: Callable[[Connection], T]) -> T:
        with self._lend() as opened, failures(opened):
            connection = opened.connection
            if begin is not None:
                connection.execute(begin)
            try:
                result = work(connection)
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
            return result

    def _replace(self, damaged: Damaged) -> None:
        try:
            with self._opener.alone():
                aside = recovery.set_aside(self.path, damaged.opened.file, now=self._clock())
        except OSError as error:
            raise damaged.failure from error
        finally:
            damaged.opened.connection.close()
        if aside is not None:
            message = f"the cache file was damaged: it is now {aside.name}, and a new one is filled by the next sync"
            self._on_notice(StoreNotice(message, {"file": aside.name}))

    @contextmanager
    def _lend(self) -> Iterator[Opened]:
        opened = self._take() or self._opener.open()
        try:
            yield opened
        except Damaged:
            raise
        except StoreFailure:
            opened.connection.close()  # in whatever state it is
            raise
        except BaseException:
            self._give_back(opened)
            raise
        self._give_back(opened)

    def _take(self) -> Opened | None:
        """A connection to the file that is there now, if one is kept."""
        with failures():
            file = recovery.identity(self.path)
        with self._guard:
            if self._closed:
                raise StoreFailure("the cache is closed")
            outdated: list[Opened] = []
            if file != self._file:
                outdated, self._idle, self._file = self._idle, [], file
            opened = self._idle.pop() if self._idle else None
        for other in outdated:
            other.connection.close()
        return opened

    def _give_back(self, opened: Opened) -> None:
        with self._guard:
            if self._file is None:
                self._file = opened.file  # the first one, which has just been created
            keep = opened.lasting and opened.file == self._file and not self._closed and len(self._idle) < _IDLE
            if keep:
                self._idle.append(opened)
        if not keep:
            opened.connection.close()
