"""The pages of a project in the cache file: reading them, and writing those that changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cache.model import Page, ProjectKey, TextFile
from cache.rows import PAGE_COLUMNS, TEXT_COLUMNS, Row, page_of, text_of
from cache.schema import PROJECT_SHIFT, Connection
from cache.search.query import fold
from cache.search.terms import length, page_terms
from cache.text import storable

_ALL = PAGE_COLUMNS + ", kind, names, terms, length"
_INSERT = f"INSERT INTO page ({_ALL}, id, project) VALUES "  # noqa: S608
_VALUES = f"({', '.join('?' * 17)})"
_ROWS_AT_ONCE = 64  # a power of two
_SETTERS = ", ".join(f"{column.strip()} = ?" for column in _ALL.split(","))
# A body that the page had before is not its body any more.
_UPDATE = f"UPDATE page SET {_SETTERS}, body_length = iif(sha = ?, body_length, NULL) WHERE id = ?"  # noqa: S608


def project_range(project: int) -> tuple[int, int]:
    """The first and the last id that a page of the project can have."""
    return project << PROJECT_SHIFT, (project + 1 << PROJECT_SHIFT) - 1


def project_id(connection: Connection, key: ProjectKey) -> int | None:
    """The id in the cache file of the project that the forge knows as ``key``."""
    row = connection.execute("SELECT id FROM project WHERE forge = ? AND forge_id = ?", (key.forge, key.id)).fetchone()
    return None if row is None else int(row[0])


def all_pages(connection: Connection, key: ProjectKey) -> tuple[Page, ...]:
    """Ordered by position."""
    project = project_id(connection, key)
    if project is None:
        return ()
    statement = f"SELECT {PAGE_COLUMNS} FROM page WHERE id BETWEEN ? AND ? ORDER BY position"  # noqa: S608
    return tuple(map(page_of, connection.execute(statement, project_range(project))))


def one_page(connection: Connection, key: ProjectKey, slug: str) -> Page | None:
    statement = f"SELECT {PAGE_COLUMNS} FROM page WHERE project = ? AND slug = ?"  # noqa: S608
    row = connection.execute(statement, (project_id(connection, key), storable(slug))).fetchone()
    return None if row is None else page_of(row)


def text_file(connection: Connection, key: ProjectKey, role: str) -> TextFile | None:
    """The project's ``status`` or ``index``."""
    statement = f"SELECT {TEXT_COLUMNS} FROM text_file WHERE project = ? AND role = ?"  # noqa: S608
    row = connection.execute(statement, (project_id(connection, key), role)).fetchone()
    return None if row is None else text_of(row)


def write_text_file(connection: Connection, project: int, role: str, file: TextFile | None) -> None:
    if file is None:
        connection.execute("DELETE FROM text_file WHERE project = ? AND role = ?", (project, role))
        return
    connection.execute(
        f"INSERT INTO text_file (project, role, {TEXT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
        " ON CONFLICT (project, role) DO UPDATE SET path = excluded.path, sha = excluded.sha, text = excluded.text,"
        " uncommitted = excluded.uncommitted WHERE (path, sha, uncommitted)"
        " <> (excluded.path, excluded.sha, excluded.uncommitted)",
        (project, role, storable(file.path), file.sha, storable(file.text), file.uncommitted),
    )


def replace_pages(connection: Connection, project: int, pages: Iterable[Page]) -> set[str]:
    """Make ``pages`` the project's pages; only those that differ are written. Returns the blob shas they let go."""
    before = _rows_by_slug(connection, project)
    after = {row[0]: row for row in map(_row, pages)}
    gone = [row for slug, row in before.items() if slug not in after]
    connection.executemany("DELETE FROM page WHERE id = ?", [(row[-1],) for row in gone])
    changed = [(row, before[slug]) for slug, row in after.items() if slug in before and before[slug][:-1] != row]
    for row, old in changed:
        _update(connection, row, old)
    number = max([row[-1] for row in before.values()], default=project_range(project)[0]) + 1
    added = [row for slug, row in after.items() if slug not in before]
    _insert(connection, [(*row, *_derived(row), number + at, project) for at, row in enumerate(added)])
    return {row[1] for row in gone} | {old[1] for row, old in changed if old[1] != row[1]}


def _insert(connection: Connection, rows: Sequence[Row]) -> None:
    """Many rows a statement: at each the interpreter's lock is given up, and had back only when others let it go.
    There are few different statements, which stay prepared."""
    start, size = 0, _ROWS_AT_ONCE
    while start < len(rows):
        while size > len(rows) - start:
            size //= 2
        chunk = rows[start : start + size]
        connection.execute(_INSERT + ", ".join([_VALUES] * size), [value for row in chunk for value in row])
        start += size


def update_pages(connection: Connection, project: int, pages: Iterable[Page]) -> set[str]:
    """Note what a live read told of pages that are known: sha, size, type, title. Returns the shas they let go."""
    before = _rows_by_slug(connection, project)
    dropped: set[str] = set()
    for page in pages:
        old = before.get(storable(page.slug))
        if old is None:
            continue
        known = page_of(old[:-1])
        row = _row(
            replace(known, sha=page.sha, size=page.size, type=page.type, title=page.title, uncommitted=page.uncommitted)
        )
        if row != old[:-1]:
            _update(connection, row, old)
            if row[1] != old[1]:
                dropped.add(old[1])
    return dropped


def _rows_by_slug(connection: Connection, project: int) -> Mapping[str, Row]:
    """The columns of ``PAGE_COLUMNS`` and the id."""
    statement = f"SELECT {PAGE_COLUMNS}, id FROM page WHERE id BETWEEN ? AND ?"  # noqa: S608
    return {row[0]: row for row in connection.execute(statement, project_range(project))}


def _update(connection: Connection, row: Row, old: Row) -> None:
    connection.execute(_UPDATE, (*row, *_derived(row), row[1], old[-1]))


def _row(page: Page) -> Row:
    """The values of ``PAGE_COLUMNS``."""
    link_title = None if page.link_title is None else storable(page.link_title)
    texts = map(storable, (page.type, page.title, page.description, page.section))
    flags = (int(page.listed), page.position, int(page.uncommitted))
    return (storable(page.slug), page.sha, page.size, *texts, link_title, *flags)


def _derived(row: Row) -> Row:
    """What a page is found by: kind, names, terms, length."""
    slug, _, _, page_type, title, description, *_ = row
    terms = page_terms(slug, title, description)
    return fold(page_type), f"{fold(slug)}\n{fold(title)}", terms, length(terms)
