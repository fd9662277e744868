"""Projects in the cache file: finding them by name, paging through them, and what a sync must know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cache import cursor as cursors
from cache.interface import BrokenLinks, Resolution
from cache.model import Known, Project, ProjectKey, ProjectState
from cache.rows import PROJECT_COLUMNS, project_of
from cache.schema import Connection
from cache.search.query import fold
from cache.suggest import near
from cache.text import storable

MOST_SUGGESTED_FOR = 10  # words of one call
MOST_WITH_BROKEN_LINKS = 5  # projects

_SELECT = f"SELECT {PROJECT_COLUMNS} FROM project"  # noqa: S608
_HERE = "named AND forge = ifnull(?, forge)"

Place = tuple[str, str, int]


def one_project(connection: Connection, key: ProjectKey) -> Project | None:
    row = connection.execute(f"{_SELECT} WHERE forge = ? AND forge_id = ?", (key.forge, key.id)).fetchone()
    return None if row is None else project_of(row)


def resolve_each(connection: Connection, words: Sequence[tuple[str, str | None]]) -> list[Resolution]:
    """What each word means, of one forge or of any. The first few that mean nothing come with near names: to compare
    a word with all names takes some 30 ms where there are 10,000."""
    resolutions = [_resolve(connection, word, forge) for word, forge in words]
    unknown = [at for at, resolution in enumerate(resolutions) if not resolution.projects]
    names: dict[str | None, list[str]] = {}
    for at in unknown[:MOST_SUGGESTED_FOR]:
        word, forge = words[at]
        if forge not in names:
            names[forge] = [name for (name,) in connection.execute(f"SELECT name FROM project WHERE {_HERE}", (forge,))]  # noqa: S608
        resolutions[at] = Resolution(suggestions=near(word, names[forge]))
    return resolutions


def _resolve(connection: Connection, word: str, forge: str | None) -> Resolution:
    """By full name, else by its last part. Where full names differ only in case, the one as typed is meant."""
    for column in ("folded_name", "bare_name"):
        rows = connection.execute(
            f"{_SELECT} WHERE {column} = ? AND {_HERE} ORDER BY folded_name, forge, forge_id", (fold(word), forge)
        )
        found = tuple(map(project_of, rows))
        exact = tuple(project for project in found if project.name == word)
        if found:
            return Resolution(exact or found)
    return Resolution()


def page_of_projects(
    connection: Connection, *, query: str | None, limit: int, after: Place | None
) -> Sequence[Project]:
    """Sorted by folded name, forge and id: those after the place ``after``."""
    rows = connection.execute(
        f"{_SELECT} WHERE named AND instr(folded_name, ?) > 0 AND (folded_name, forge, forge_id) > (?, ?, ?)"
        " ORDER BY folded_name, forge, forge_id LIMIT ?",
        (fold(query or ""), *(after or ("", "", 0)), limit),
    )
    return tuple(map(project_of, rows))


def broken_links(connection: Connection) -> tuple[BrokenLinks, ...]:
    """Of the projects whose indexes have the most of them."""
    rows = connection.execute(
        "SELECT name, dead_links, ambiguous_links FROM project WHERE named AND dead_links + ambiguous_links > 0"
        " ORDER BY dead_links + ambiguous_links DESC, folded_name LIMIT ?",
        (MOST_WITH_BROKEN_LINKS,),
    )
    return tuple(BrokenLinks(*row) for row in rows)


def place_of(project: Project) -> Place:
    """Where the project stands in the order of :func:`page_of_projects`."""
    return fold(project.name), project.key.forge, project.key.id


def cursor_of(place: Place) -> str:
    return cursors.encode(*place)


def place_at(cursor: str) -> Place:
    """The place that :func:`cursor_of` wrote down. Raises ``InvalidArgument``."""
    match cursors.decode(cursor):
        case [str(name), str(forge), int(id_)] if abs(id_) < 1 << 63:
            return storable(name), storable(forge), id_
    raise cursors.foreign()


def known(connection: Connection, forge: str) -> Mapping[int, Known]:
    """By the forge's id. A stale project has no stamp, one whose name another one has now no name."""
    rows = connection.execute(
        "SELECT forge_id, iif(named, name, ''), iif(stale_since IS NULL, stamp, ''), settings, looked_at,"
        " state IN (?, ?), wiki_tree FROM project WHERE forge = ?",
        (ProjectState.FAILED.value, ProjectState.DENIED.value, forge),
    )
    return {
        id_: Known(ProjectKey(forge, id_), name, stamp, settings, looked_at, bool(failed), tree)
        for id_, name, stamp, settings, looked_at, failed, tree in rows
    }
