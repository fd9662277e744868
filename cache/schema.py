"""The tables of the cache file and how an older file becomes the newest: migrations, forward only.

A file says by ``PRAGMA application_id`` that it is ours and by ``PRAGMA user_version`` which of the migrations below
it has seen. Add one at the end for every change, never edit one that was released; one that changes what
``cache.search.terms`` makes of a text deletes the ``project`` rows, so that the next sync indexes everything anew.
"""

from __future__ import annotations

import sqlite3
from typing import TypeAlias

from cache.errors import NewerStore, StoreFailure

Connection: TypeAlias = sqlite3.Connection

OLDEST_SQLITE = (3, 40, 0)
SQLITE_VERSION = sqlite3.sqlite_version_info[:3]  # what this Python was built with, for whoever may not import sqlite3

APPLICATION_ID = 0x4B4E4757  # "KNGW"

# A page's id is its project's id shifted left by PROJECT_SHIFT plus a number, so that the pages of a project lie side
# by side, in the table as in the full-text indexes, and a range of ids is a project.
PROJECT_SHIFT = 32

_FIRST = (
    """
    CREATE TABLE project (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        forge TEXT NOT NULL,
        forge_id INTEGER NOT NULL,
        name TEXT NOT NULL,
        folded_name TEXT NOT NULL,
        bare_name TEXT NOT NULL,      -- the last part of folded_name
        named INTEGER NOT NULL,       -- 0: another project has this name now, the forge's new one is not known yet
        default_branch TEXT NOT NULL,
        url TEXT,
        archived INTEGER NOT NULL,
        fork INTEGER NOT NULL,
        stamp TEXT NOT NULL,
        settings TEXT NOT NULL,
        first_looked_at REAL NOT NULL,
        looked_at REAL NOT NULL,
        stale_since REAL,
        state TEXT NOT NULL,
        failure TEXT,                 -- why the last look failed
        revision TEXT,
        wiki_tree TEXT,
        updated_at REAL,
        synced_at REAL,
        uncommitted INTEGER NOT NULL DEFAULT 0,
        mirrored INTEGER NOT NULL DEFAULT 0,
        has_status INTEGER NOT NULL DEFAULT 0,
        has_index INTEGER NOT NULL DEFAULT 0,
        index_problem TEXT,
        dead_links INTEGER NOT NULL DEFAULT 0,
        ambiguous_links INTEGER NOT NULL DEFAULT 0,
        pages INTEGER NOT NULL DEFAULT 0,
        page_terms INTEGER NOT NULL DEFAULT 0,
        bodies INTEGER NOT NULL DEFAULT 0,
        body_terms INTEGER NOT NULL DEFAULT 0,
        UNIQUE (forge, forge_id)
    )
    """,
    "CREATE UNIQUE INDEX project_name ON project (forge, name) WHERE named",
    "CREATE INDEX project_order ON project (folded_name, forge, forge_id)",
    "CREATE INDEX project_bare_name ON project (bare_name)",
    """
    CREATE TABLE text_file (
        project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
        role TEXT NOT NULL,           -- 'status' or 'index'
        path TEXT NOT NULL,
        sha TEXT NOT NULL,
        uncommitted INTEGER NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (project, role)
    )
    """,
    """
    CREATE TABLE page (
        id INTEGER PRIMARY KEY,
        project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
        position INTEGER NOT NULL,
        kind TEXT NOT NULL,           -- the folded type
        names TEXT NOT NULL,          -- the folded slug, a line feed, the folded title
        terms TEXT NOT NULL,
        length INTEGER NOT NULL,      -- terms in it
        body_length INTEGER,          -- terms in the body; NULL: the body is not in the index
        slug TEXT NOT NULL,
        sha TEXT NOT NULL,
        size INTEGER NOT NULL,
        type TEXT NOT NULL,
        title TEXT NOT NULL,
        description TEXT NOT NULL,
        section TEXT NOT NULL,
        link_title TEXT,
        listed INTEGER NOT NULL,
        uncommitted INTEGER NOT NULL,
        UNIQUE (project, slug)
    )
    """,
    "CREATE INDEX page_sha ON page (sha)",
    "CREATE TABLE fact (sha TEXT PRIMARY KEY, title TEXT, type TEXT, heading TEXT) WITHOUT ROWID",
    """
    CREATE TABLE body (
        id INTEGER PRIMARY KEY,
        sha TEXT NOT NULL UNIQUE,
        length INTEGER NOT NULL,      -- terms in it
        repeats TEXT NOT NULL,        -- the terms that occur more than once, with their counts
        text TEXT NOT NULL,
        terms TEXT NOT NULL
    )
    """,
    # The full-text indexes keep no text of their own. Triggers tell them what goes in the words it came in with,
    # without which a term would stay behind and point nowhere.
    "CREATE VIRTUAL TABLE page_text USING fts5(terms, content = 'page', content_rowid = 'id', tokenize = 'ascii')",
    """
    CREATE TRIGGER page_text_added AFTER INSERT ON page BEGIN
        INSERT INTO page_text (rowid, terms) VALUES (new.id, new.terms);
    END
    """,
    """
    CREATE TRIGGER page_text_changed AFTER UPDATE OF terms ON page WHEN new.terms <> old.terms BEGIN
        INSERT INTO page_text (page_text, rowid, terms) VALUES ('delete', old.id, old.terms);
        INSERT INTO page_text (rowid, terms) VALUES (new.id, new.terms);
    END
    """,
    """
    CREATE TRIGGER page_text_gone AFTER DELETE ON page BEGIN
        INSERT INTO page_text (page_text, rowid, terms) VALUES ('delete', old.id, old.terms);
    END
    """,
    """
    CREATE VIEW page_body AS
        SELECT page.id AS id, body.terms AS terms FROM page JOIN body USING (sha) WHERE page.body_length IS NOT NULL
    """,
    "CREATE VIRTUAL TABLE body_text USING fts5(terms, content = 'page_body', content_rowid = 'id', tokenize = 'ascii')",
    """
    CREATE TRIGGER body_text_added AFTER UPDATE OF body_length ON page
    WHEN old.body_length IS NULL AND new.body_length IS NOT NULL BEGIN
        INSERT INTO body_text (rowid, terms) SELECT new.id, terms FROM body WHERE sha = new.sha;
    END
    """,
    """
    CREATE TRIGGER body_text_dropped AFTER UPDATE OF body_length ON page
    WHEN old.body_length IS NOT NULL AND new.body_length IS NULL BEGIN
        INSERT INTO body_text (body_text, rowid, terms) SELECT 'delete', old.id, terms FROM body WHERE sha = old.sha;
    END
    """,
    """
    CREATE TRIGGER body_text_gone AFTER DELETE ON page WHEN old.body_length IS NOT NULL BEGIN
        INSERT INTO body_text (body_text, rowid, terms) SELECT 'delete', old.id, terms FROM body WHERE sha = old.sha;
    END
    """,
    """
    CREATE TABLE run (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        forge TEXT NOT NULL,
        started_at REAL NOT NULL,
        finished_at REAL,
        listed INTEGER NOT NULL DEFAULT 0,
        changed INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        removed INTEGER NOT NULL DEFAULT 0,
        complete INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE task_journal (
        forge TEXT NOT NULL,
        forge_id INTEGER NOT NULL,
        digest TEXT NOT NULL,
        filed_at REAL NOT NULL,
        outcome TEXT NOT NULL,
        PRIMARY KEY (forge, forge_id, digest)
    ) WITHOUT ROWID
    """,
)

_WRITING = (
    "ALTER TABLE project ADD COLUMN written_at REAL",  # when a write of ours to its wiki was answered
    "DROP TABLE task_journal",  # into which nothing was ever written
    # What was filed where, so that the same text is not filed twice. It cannot be had again from the forge, so
    # clearing the cache keeps it.
    """
    CREATE TABLE task_journal (
        forge TEXT NOT NULL,
        forge_id INTEGER NOT NULL,
        digest TEXT NOT NULL,         -- of the filed text
        at REAL NOT NULL,             -- when it was filed; where that is not known, when a request was sent
        kind TEXT,                    -- what it was filed as; NULL: not known whether it was
        number INTEGER,
        path TEXT,
        url TEXT,
        PRIMARY KEY (forge, forge_id, digest)
    ) WITHOUT ROWID
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _WRITING)
VERSION = len(MIGRATIONS)


def version_of(connection: Connection) -> int:
    """The version of the file's schema; 0 for a new file. Writes nothing.

    Raises ``NewerStore`` for a file of a newer gateway, ``StoreFailure`` for a database that is somebody else's.
    """
    if connection.in_transaction:
        return _version_of(connection)
    connection.execute("BEGIN")  # another process may be migrating: see all before or all after
    try:
        return _version_of(connection)
    finally:
        connection.rollback()


def _version_of(connection: Connection) -> int:
    # These two numbers are read without the schema, which may hold what this SQLite does not know.
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == APPLICATION_ID:
        if version > VERSION:
            raise NewerStore(
                f"the cache was written by a newer version of the gateway (schema {version}, this one knows {VERSION})"
                " — update the gateway, or name another file by [cache] file"
            )
        return int(version)
    if application or version or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise StoreFailure("the cache file is the database of another program — name another file by [cache] file")
    return 0


def migrate(connection: Connection) -> None:
    """Bring the file to the newest version, in one transaction. Several processes may try at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version_of(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def problems(connection: Connection) -> list[str]:
    """What is wrong with the file, one line each. Reads everything; call it inside a write transaction.

    A search index is compared with its texts by a command that SQLite takes for a write, so not where the file cannot
    be written."""
    try:
        found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            found.append(f"{table} row {row} refers to a {parent} that is not there")
    except sqlite3.DatabaseError as error:
        return [str(error)]
    for index in ("page_text", "body_text"):
        try:
            # rank 1: compare the index with the texts it was made of, too
            connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:  # the primary one of an extended code
                found.append(f"search index {index}: {error}")
    return found
