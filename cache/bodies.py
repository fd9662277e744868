"""Bodies of pages and what they say of themselves, both by blob sha and shared by all projects.

A body is kept as long as a page of a mirrored project has its sha: exactly while some page has a ``body_length``.
What a body says (its facts) is kept as long as any page has its sha.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from cache.model import PageFacts, ProjectKey
from cache.pages import project_id, project_range
from cache.rows import FACT_COLUMNS, Row, chunks, facts_of, marks
from cache.schema import Connection
from cache.search.terms import body_terms, length, repeats
from cache.text import storable


def body_rows(bodies: Mapping[str, str]) -> list[Row]:
    """What :func:`add_bodies` takes. The costly part of it, to be done outside a transaction."""
    rows: list[Row] = []
    for sha, body in bodies.items():
        text = storable(body)
        terms = body_terms(text)
        rows.append((sha, length(terms), repeats(terms), text, terms))
    return rows


def bodies_of(connection: Connection, key: ProjectKey, shas: Collection[str], longest: int | None) -> dict[str, str]:
    """The texts of those blobs that the project refers to as pages or as its index, or their beginnings where they are
    longer than ``longest``. A STATUS file's is none: it need not be UTF-8, and is kept as people may see it."""
    text, bound = ("text", ()) if longest is None else ("substr(text, 1, ?)", (longest,))
    project = project_id(connection, key)
    found: dict[str, str] = {}
    if project is None:
        return found
    for chunk in chunks(shas):
        found |= connection.execute(
            f"SELECT sha, {text} FROM text_file WHERE project = ? AND role = 'index' AND sha IN ({marks(chunk)})",  # noqa: S608
            (*bound, project, *chunk),
        )
        found |= connection.execute(
            f"SELECT sha, {text} FROM body WHERE sha IN ({marks(chunk)})"  # noqa: S608
            " AND EXISTS (SELECT 1 FROM page WHERE page.sha = body.sha AND page.project = ?)",
            (*bound, *chunk, project),
        )
    return found


def lacking(connection: Connection, shas: Collection[str]) -> frozenset[str]:
    """Those of ``shas`` that have no body."""
    held: set[str] = set()
    for chunk in chunks(shas):
        rows = connection.execute(f"SELECT sha FROM body WHERE sha IN ({marks(chunk)})", chunk)  # noqa: S608
        held.update(sha for (sha,) in rows)
    return frozenset(shas) - held


def facts(connection: Connection, shas: Collection[str]) -> dict[str, PageFacts]:
    found: dict[str, PageFacts] = {}
    for chunk in chunks(shas):
        rows = connection.execute(
            f"SELECT sha, {FACT_COLUMNS} FROM fact WHERE sha IN ({marks(chunk)})",  # noqa: S608
            chunk,
        )
        found.update((row[0], facts_of(row[1:])) for row in rows)
    return found


def add_facts(connection: Connection, project: int, known: Mapping[str, PageFacts]) -> None:
    """Keep what is known of blobs that the project's pages have."""
    shas = _shas_of(connection, project)
    rows = [
        (sha, *(None if text is None else storable(text) for text in (fact.title, fact.type, fact.heading)))
        for sha, fact in known.items()
        if sha in shas
    ]
    connection.executemany(
        "INSERT INTO fact (sha, title, type, heading) VALUES (?, ?, ?, ?) ON CONFLICT (sha) DO UPDATE SET"
        " title = excluded.title, type = excluded.type, heading = excluded.heading"
        " WHERE (title, type, heading) IS NOT (excluded.title, excluded.type, excluded.heading)",
        rows,
    )


def add_bodies(connection: Connection, project: int, rows: Sequence[Row]) -> None:
    """Mirror the project: keep the bodies among ``rows`` that its pages have, and have all that are there found."""
    shas = _shas_of(connection, project)
    connection.executemany(
        "INSERT INTO body (sha, length, repeats, text, terms) VALUES (?, ?, ?, ?, ?) ON CONFLICT (sha) DO NOTHING",
        [row for row in rows if row[0] in shas],
    )
    connection.execute(
        "UPDATE page SET body_length = body.length FROM body"
        " WHERE body.sha = page.sha AND page.id BETWEEN ? AND ? AND page.body_length IS NULL",
        project_range(project),
    )


def let_go(connection: Connection, project: int) -> set[str]:
    """Mirror the project no longer. Returns the shas of the bodies that it had."""
    here = ("FROM page WHERE id BETWEEN ? AND ? AND body_length IS NOT NULL", project_range(project))
    shas = {sha for (sha,) in connection.execute(f"SELECT sha {here[0]}", here[1])}
    if shas:
        connection.execute(
            "UPDATE page SET body_length = NULL WHERE id BETWEEN ? AND ? AND body_length IS NOT NULL", here[1]
        )
    return shas


def collect(connection: Connection, dropped: Iterable[str]) -> None:
    """Delete the bodies and facts among ``dropped`` blob shas that nobody needs any more."""
    for chunk in chunks(dropped):
        connection.execute(
            f"DELETE FROM body WHERE sha IN ({marks(chunk)}) AND NOT EXISTS"  # noqa: S608
            " (SELECT 1 FROM page WHERE page.sha = body.sha AND page.body_length IS NOT NULL)",
            chunk,
        )
        connection.execute(
            f"DELETE FROM fact WHERE sha IN ({marks(chunk)}) AND NOT EXISTS"  # noqa: S608
            " (SELECT 1 FROM page WHERE page.sha = fact.sha)",
            chunk,
        )


def _shas_of(connection: Connection, project: int) -> set[str]:
    rows = connection.execute("SELECT DISTINCT sha FROM page WHERE id BETWEEN ? AND ?", project_range(project))
    return {sha for (sha,) in rows}
