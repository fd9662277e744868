"""The ladder over the cache file: SQL that fetches what one project offers, ranked by ``cache.search.rank``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from cache.interface import Match, Matches
from cache.model import Page, ProjectKey
from cache.pages import project_range
from cache.rows import PAGE_COLUMNS, chunks, marks, page_of
from cache.schema import PROJECT_SHIFT, Connection
from cache.search.query import Query, fold
from cache.search.rank import Collected, Hit, Sizes, Terms, ladder

_HIDDEN = "raw"  # the type that only shows when it is asked for
_WORDS_COMPARED = 16  # of a query, where the whole fleet is asked

_LONG = range(3, 6)  # words of a question of which a body may lack one; more would take too long to look for

_NAMED = "SELECT id, position, kind, '', 0 FROM page WHERE id BETWEEN ? AND ? AND instr(names, ?) > 0"
_WORDED = (
    "SELECT page.id, position, kind, page.terms, length FROM page_text JOIN page ON page.id = page_text.rowid"
    " WHERE page_text MATCH ? AND page_text.rowid BETWEEN ? AND ?"
)
_BODIES = (
    "SELECT page.id, position, kind, repeats, body_length FROM body_text JOIN page ON page.id = body_text.rowid"
    " JOIN body ON body.sha = page.sha WHERE body_text MATCH ? AND body_text.rowid BETWEEN ? AND ?"
)
_FREQUENCY = "SELECT count(*) FROM body_text WHERE body_text MATCH ? AND rowid BETWEEN ? AND ?"


def match(
    connection: Connection, keys: Sequence[ProjectKey], query: Query, types: frozenset[str] | None, limit: int | None
) -> dict[ProjectKey, Matches]:
    """Each project's matches by the ladder of the tool contract; none for an unknown project or an empty query."""
    terms = Terms.of(query)
    return {key: _match_one(connection, key, query.whole, terms, types, limit) for key in keys}


def projects_knowing(connection: Connection, query: Query, limit: int) -> list[ProjectKey]:
    """The projects whose pages know the most of the query's words by slug, title or description; of those that know
    equally many, those with the most such pages."""
    words: dict[int, int] = defaultdict(int)
    pages: dict[int, int] = defaultdict(int)
    for term in Terms.of(query).content[:_WORDS_COMPARED]:
        rows = connection.execute(
            f"SELECT rowid >> {PROJECT_SHIFT}, count(*) FROM page_text WHERE page_text MATCH ? GROUP BY 1",  # noqa: S608
            (term.phrase,),
        )
        for project, count in rows:
            words[project] += 1
            pages[project] += count
    best = sorted(words, key=lambda project: (-words[project], -pages[project], project))
    keys: list[ProjectKey] = []
    for project in best:
        if len(keys) >= limit:
            break
        row = connection.execute("SELECT forge, forge_id FROM project WHERE id = ? AND named", (project,)).fetchone()
        if row is not None:
            keys.append(ProjectKey(*row))
    return keys


def _match_one(
    connection: Connection,
    key: ProjectKey,
    whole: str,
    terms: Terms,
    types: frozenset[str] | None,
    limit: int | None,
) -> Matches:
    row = connection.execute(
        "SELECT id, pages, page_terms, bodies, body_terms FROM project WHERE forge = ? AND forge_id = ?",
        (key.forge, key.id),
    ).fetchone()
    if row is None or not whole:
        return Matches()
    project, *sizes = row
    found = _collect(connection, project_range(project), whole, terms, Sizes(*sizes))
    places, total = ladder(terms, found, shows=_shows(types), limit=limit)
    pages = _pages(connection, [page for *_, page in places])
    best = tuple(Match(pages[page], step, -minus_score) for step, minus_score, _, page in places)
    return Matches(best, total)


def _collect(connection: Connection, here: tuple[int, int], whole: str, terms: Terms, sizes: Sizes) -> Collected:
    named = _hits(connection, _NAMED, *here, whole)
    if not terms.content:
        return Collected(sizes, named)
    phrases = [term.phrase for term in terms.content]
    worded = _hits(connection, _WORDED, " OR ".join(phrases), *here)
    bodies = _hits(connection, _BODIES, " AND ".join(phrases), *here) if sizes.bodies else []
    if not bodies:
        nearly = (
            _hits(connection, _BODIES, _all_but_one(phrases), *here) if sizes.bodies and len(phrases) in _LONG else []
        )
        return Collected(sizes, named, worded, nearly=nearly)
    frequency = [int(connection.execute(_FREQUENCY, (phrase, *here)).fetchone()[0]) for phrase in phrases]
    return Collected(sizes, named, worded, bodies, frequency=frequency)


def _all_but_one(phrases: Sequence[str]) -> str:
    """What has all of ``phrases``, of which there are several, but one. Halved, since each phrase that is looked up
    takes time: one half has all of its own and the other lacks one."""
    if len(phrases) == 2:
        return " OR ".join(phrases)
    if len(phrases) == 3:
        first, second, third = phrases
        return f"({first} AND ({second} OR {third})) OR ({second} AND {third})"
    middle = len(phrases) // 2
    left, right = phrases[:middle], phrases[middle:]
    halves = ((left, right), (right, left))
    return " OR ".join(f"({' AND '.join(whole)} AND ({_all_but_one(rest)}))" for whole, rest in halves)


def _hits(connection: Connection, statement: str, *values: object) -> list[Hit]:
    return connection.execute(statement, values).fetchall()


def _shows(types: frozenset[str] | None) -> Callable[[str], bool]:
    if types is None:
        return lambda kind: kind != _HIDDEN
    return frozenset(map(fold, types)).__contains__


def _pages(connection: Connection, ids: Sequence[int]) -> dict[int, Page]:
    pages: dict[int, Page] = {}
    for chunk in chunks(ids):
        rows = connection.execute(f"SELECT {PAGE_COLUMNS}, id FROM page WHERE id IN ({marks(chunk)})", chunk)  # noqa: S608
        pages.update((row[-1], page_of(row[:-1])) for row in rows)
    return pages
