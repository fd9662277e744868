"""Opening the cache file: created when missing, migrated when old, read as well as may be when read-only; and what
SQLite's failures mean. Besides the schema, this is the one module that knows ``sqlite3``."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_from_bytes

from cache import recovery, schema
from cache.errors import StoreFailure
from cache.lease import Held, exclusive
from cache.recovery import Identity
from cache.schema import Connection

QUICK_CHECK = 4 * 1024 * 1024  # bytes of a file that is checked when opened; damage of a larger one shows in use
_SETTINGS = ("synchronous = NORMAL", "foreign_keys = ON", "temp_store = MEMORY", "journal_size_limit = 16777216")
_OPENING = threading.Lock()  # see cache.recovery: a file just created is closed before any thread opens it

_BUSY = "another process holds the cache for too long — try again, or end that process"
_READ_ONLY = "the cache file is read-only — make it and its folder writable, or set [cache] file"
_FULL = "no space is left for the cache — free some, or set [cache] file to another disk"
_DAMAGED = "the cache file is damaged and cannot be replaced now — remove it, then run gateway sync"
_REMEDIES = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: "the cache file cannot be read or written — check the disk, or set [cache] file to another",
    sqlite3.SQLITE_CANTOPEN: "the cache file cannot be opened — check its permissions, or set [cache] file",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection with the file that it is one to. ``lasting``: it can be kept, and the file replaced if damaged.
    ``unwritable`` is what to say to whoever tries to write by it nevertheless."""

    connection: Connection
    file: Identity
    lasting: bool = True
    unwritable: str = _READ_ONLY


class Damaged(Exception):
    """The file of ``opened`` is no sound database; ``failure`` is what to say when nothing can be done about it.

    The connection is still open: closing it would take the write-ahead log away, unless the file is moved first."""

    def __init__(self, opened: Opened) -> None:
        super().__init__(_DAMAGED)
        self.opened = opened
        self.failure = StoreFailure(_DAMAGED)


@contextmanager
def failures(opened: Opened | None = None) -> Iterator[None]:
    """Turn what goes wrong in the block into ``StoreFailure``, or :class:`Damaged` where a file can be replaced."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary one of an extended code
        if opened is not None and opened.lasting and code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise Damaged(opened) from error
        if opened is not None and code == sqlite3.SQLITE_READONLY:
            raise StoreFailure(opened.unwritable) from error
        raise StoreFailure(_REMEDIES.get(code) or f"the cache failed: {error} — run gateway cache check") from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise StoreFailure(f"the cache cannot be used: {why} — check its folder, or set [cache] file") from error


@dataclass(slots=True)
class Opener:
    """Opens the file at ``path``, waiting up to ``busy_timeout`` seconds for others."""

    path: Path
    busy_timeout: float
    _checked: Identity | None = field(default=None, init=False)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude the other processes that create, migrate or replace the file."""
        try:
            with exclusive(self.path.with_name(self.path.name + ".lock"), wait=self.busy_timeout):
                yield
        except Held:
            raise StoreFailure(_BUSY) from None

    def open(self) -> Opened:
        """Raises ``StoreFailure`` (``NewerStore``), :class:`Damaged`."""
        if sqlite3.sqlite_version_info < schema.OLDEST_SQLITE:
            raise StoreFailure(f"SQLite {sqlite3.sqlite_version} is too old — run the gateway with 3.40 or newer")
        with _OPENING, failures():
            for _ in range(5):
                opened = self._open()
                if opened is None:
                    continue
                if recovery.identity(self.path) == opened.file:
                    return opened
                opened.connection.close()  # it was replaced meanwhile
        raise StoreFailure("the cache file is replaced all the time — see what else writes it")

    def _open(self) -> Opened | None:
        """``None`` when the file went away while it was being opened."""
        file = recovery.identity(self.path)
        if file is None:
            file = self._create()
        elif not os.access(self.path.parent, os.W_OK):
            return self._open_unwritable(file)
        try:
            opened = Opened(self._connect("mode=rw"), file)
        except sqlite3.OperationalError:
            if recovery.identity(self.path) == file:
                raise
            return None  # another process or thread has just set it aside
        with _closed_on_error(opened), failures(opened):
            try:
                self._prepare(opened)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_IOERR_SHMSIZE:
                    raise
                opened.connection.close()  # the disk is too full for what a writer would need; read all the same
                return self._open_unwritable(file, _FULL)
        return opened

    def _create(self) -> Identity:
        recovery.make_folder(self.path.parent)
        with self.alone():
            if recovery.identity(self.path) is None:
                recovery.create(self.path)
        file = recovery.identity(self.path)
        if file is None:
            raise FileNotFoundError("it is removed as soon as it is made")
        return file

    def _open_unwritable(self, file: Identity, why: str = _READ_ONLY) -> Opened:
        """In a folder that cannot be written SQLite reads beside a living writer's log, or else only a file of which
        it is told that it never changes: what others write later shows in a connection opened later."""
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            opened = Opened(self._connect(mode), file, lasting=False, unwritable=why)
            with _closed_on_error(opened):
                try:
                    version = schema.version_of(opened.connection)
                except sqlite3.OperationalError:
                    opened.connection.close()
                    continue
                if version == schema.VERSION:
                    return opened
                raise StoreFailure("the cache is not of this version, and its folder is read-only — make it writable")
        raise StoreFailure(_REMEDIES[sqlite3.SQLITE_CANTOPEN])

    def _prepare(self, opened: Opened) -> None:
        connection = opened.connection
        if schema.version_of(connection) < schema.VERSION:
            with self.alone():
                connection.execute("PRAGMA journal_mode = WAL")
                schema.migrate(connection)
                if os.geteuid() == self.path.stat().st_uid:
                    self.path.chmod(0o600)  # an empty file may have been there before
        if opened.file != self._checked:
            small = self.path.stat().st_size <= QUICK_CHECK
            if small and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise Damaged(opened)
            self._checked = opened.file
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")

    def _connect(self, mode: str) -> Connection:
        return sqlite3.connect(
            f"file://{quote_from_bytes(os.fsencode(self.path))}?{mode}",
            uri=True,
            timeout=self.busy_timeout,
            isolation_level=None,
            check_same_thread=False,
        )


@contextmanager
def _closed_on_error(opened: Opened) -> Iterator[None]:
    try:
        yield
    except Damaged:
        raise
    except BaseException:
        opened.connection.close()
        raise
