"""What sync, live reads and writes to a wiki bring, put into the cache file: one function, one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cache import bodies
from cache.model import Page, PageFacts, ProjectKey, ProjectState, Snapshot, Wiki, WikiWrite
from cache.pages import project_id, project_range, replace_pages, update_pages, write_text_file
from cache.rows import UNKNOWN_TREE, Row, chunks, marks
from cache.schema import Connection
from cache.search.query import fold
from cache.text import storable


@dataclass(frozen=True, slots=True)
class Times:
    """When the listing that a write goes by was read, and the time now, by the clock of this machine. What was noted
    for a time after now was noted before that clock was set back: it counts as long ago."""

    listed_at: float
    now: float


def commit(connection: Connection, snapshot: Snapshot, body_rows: Sequence[Row], times: Times) -> bool:
    """Make ``snapshot`` what is known of its project; ``body_rows`` are its bodies by ``bodies.body_rows``."""
    if _is_outdated(connection, snapshot, times):
        return False
    project = _write_listing(connection, snapshot, snapshot.state)
    written = connection.total_changes
    dropped: set[str] = set()
    if snapshot.wiki is not None:
        dropped |= replace_pages(connection, project, snapshot.wiki.pages)
        write_text_file(connection, project, "index", snapshot.wiki.index)
    write_text_file(connection, project, "status", snapshot.status)
    bodies.add_facts(connection, project, snapshot.facts)
    complete = not snapshot.partial
    if snapshot.mirrored:
        bodies.add_bodies(connection, project, body_rows)
        complete = complete and not bodies.lacking(connection, snapshot.held)
    else:
        dropped |= bodies.let_go(connection, project)
    bodies.collect(connection, dropped)
    if connection.total_changes > written:
        _count(connection, project)
    _write_outcome(connection, project, snapshot, now=times.now)
    if not complete:
        _look_again(connection, project, now=times.now)
    return True


def record_failure(connection: Connection, snapshot: Snapshot, failure: str, state: ProjectState, times: Times) -> None:
    if not _is_outdated(connection, snapshot, times):
        project = _write_listing(connection, snapshot, state)
        connection.execute(
            "UPDATE project SET state = ?, failure = ? WHERE id = ?", (state.value, storable(failure), project)
        )


def rename(connection: Connection, key: ProjectKey, name: str, url: str | None) -> None:
    """Does nothing for a project that is not known."""
    name = storable(name)
    _free_name(connection, key, name)
    connection.execute(
        "UPDATE project SET name = ?, folded_name = ?, bare_name = ?, named = 1, url = ?"
        " WHERE forge = ? AND forge_id = ?",
        (name, *_folded(name), None if url is None else storable(url), key.forge, key.id),
    )


def prune(connection: Connection, forge: str, keep: Collection[int], hidden: Sequence[str], times: Times) -> int:
    """Forget the projects that a complete listing of ``forge`` does not show. Returns how many went."""
    kept, out_of_sight = frozenset(keep), tuple(map(storable, hidden))
    rows = connection.execute(
        "SELECT id, forge_id, name FROM project WHERE forge = ? AND (first_looked_at <= ? OR first_looked_at > ?)",
        (forge, times.listed_at, times.now),
    )
    return _forget(
        connection, [project for project, id_, name in rows if id_ not in kept and not name.startswith(out_of_sight)]
    )


def retain_forges(connection: Connection, names: Collection[str]) -> int:
    """Forget the projects of all other forges. Returns how many went."""
    rows = connection.execute(f"SELECT id FROM project WHERE forge NOT IN ({marks(names)})", (*names,))  # noqa: S608
    return _forget(connection, [project for (project,) in rows])


def remember(
    connection: Connection,
    key: ProjectKey,
    pages: Iterable[Page],
    body_rows: Sequence[Row],
    facts: Mapping[str, PageFacts],
) -> None:
    """Note what a live read told of pages that are known."""
    project = project_id(connection, key)
    if project is None:
        return
    dropped = update_pages(connection, project, pages)
    bodies.add_facts(connection, project, facts)
    (mirrored,) = connection.execute("SELECT mirrored FROM project WHERE id = ?", (project,)).fetchone()
    if mirrored:
        bodies.add_bodies(connection, project, body_rows)
    if dropped:
        bodies.collect(connection, dropped)
        # The pages are newer than the tree they came with: the next look must not take them for it.
        connection.execute("UPDATE project SET wiki_tree = ? WHERE id = ?", (UNKNOWN_TREE, project))
    _count(connection, project)


def note_write(connection: Connection, write: WikiWrite, body_rows: Sequence[Row], *, now: float) -> bool:
    """Make what a write left what is known of its project; ``body_rows`` are its bodies by ``bodies.body_rows``."""
    row = connection.execute(
        "SELECT id, mirrored, synced_at, written_at FROM project WHERE forge = ? AND forge_id = ?",
        (write.key.forge, write.key.id),
    ).fetchone()
    if row is None:
        return False
    project, mirrored, *others = row
    outdated = any(at is not None and write.written_at < at <= now for at in others)
    dropped: set[str] = set()
    if not outdated:
        dropped = replace_pages(connection, project, write.wiki.pages)
        write_text_file(connection, project, "index", write.wiki.index)
        _write_ours(connection, project, write)
    bodies.add_facts(connection, project, write.facts)
    if mirrored:
        bodies.add_bodies(connection, project, body_rows)
    bodies.collect(connection, dropped)
    _count(connection, project)
    return not outdated


def _write_ours(connection: Connection, project: int, write: WikiWrite) -> None:
    """Note what a write made of the project. The next look reads all of the wiki: what others changed meanwhile may
    have the same time-stamp, and the tree has a name that we do not know."""
    values: dict[str, object] = {
        "state": ProjectState.OK.value,
        "failure": None,
        "uncommitted": write.uncommitted,
        "wiki_tree": UNKNOWN_TREE,
        "written_at": write.written_at,
        "stale_since": write.written_at,
        **_wiki_values(write.wiki),
    }
    if write.revision is not None:
        values["revision"] = write.revision
    connection.execute(
        f"UPDATE project SET {', '.join(f'{name} = ?' for name in values)} WHERE id = ?",  # noqa: S608
        (*values.values(), project),
    )


def _look_again(connection: Connection, project: int, *, now: float) -> None:
    """Have the next look read the wiki anew: this one has not fetched all bodies yet, or one that it found here went
    meanwhile, with the last project that had it."""
    connection.execute("UPDATE project SET wiki_tree = ?, stale_since = ? WHERE id = ?", (UNKNOWN_TREE, now, project))


def mark_stale(connection: Connection, key: ProjectKey, *, now: float) -> None:
    connection.execute("UPDATE project SET stale_since = ? WHERE forge = ? AND forge_id = ?", (now, key.forge, key.id))


def clear(connection: Connection) -> None:
    """Forget all projects and runs. The task journal stays."""
    for table in ("project", "body", "fact", "run"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608
    for index in ("page_text", "body_text"):  # which keeps what it deletes until it is merged
        connection.execute(f"INSERT INTO {index} ({index}) VALUES ('delete-all')")  # noqa: S608


def _is_outdated(connection: Connection, look: Snapshot, times: Times) -> bool:
    """Whether, after its project was listed, we wrote to it, or another look began than the one that ``look`` is a
    part of."""
    key, since = look.listed.repo.key, (times.listed_at, times.now)
    row = connection.execute(
        "SELECT 1 FROM project WHERE forge = ? AND forge_id = ?"
        " AND (looked_at > ? AND looked_at <= ? AND looked_at <> ? OR written_at > ? AND written_at <= ?)",
        (key.forge, key.id, *since, look.looked_at, *since),
    ).fetchone()
    return row is not None


def _write_listing(connection: Connection, snapshot: Snapshot, state: ProjectState) -> int:
    """Note how the forge lists the project, and that it was looked at; returns its id in the cache file. ``state`` is
    for a project that is new."""
    listed = snapshot.listed
    name = storable(listed.repo.name)
    _free_name(connection, listed.repo.key, name)
    folded_name, bare_name = _folded(name)
    values: dict[str, object] = {
        "name": name,
        "folded_name": folded_name,
        "bare_name": bare_name,
        "named": 1,
        "default_branch": storable(listed.repo.default_branch),
        "url": None if listed.url is None else storable(listed.url),
        "archived": listed.archived,
        "fork": listed.fork,
        "stamp": storable(listed.stamp),
        "updated_at": listed.updated_at,
        "settings": snapshot.settings,
        "looked_at": snapshot.looked_at,
    }
    new: dict[str, object] = {
        "forge": listed.repo.key.forge,
        "forge_id": listed.repo.key.id,
        "state": state.value,
        "first_looked_at": snapshot.looked_at,
    }
    row = connection.execute(
        f"INSERT INTO project ({', '.join(values | new)}) VALUES ({marks(values | new)})"  # noqa: S608
        f" ON CONFLICT (forge, forge_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in values)}"
        " RETURNING id",
        tuple((values | new).values()),
    ).fetchone()
    return int(row[0])


def _write_outcome(connection: Connection, project: int, snapshot: Snapshot, *, now: float) -> None:
    values: dict[str, object] = {
        "state": snapshot.state.value,
        "failure": None,
        "revision": snapshot.revision,
        "synced_at": snapshot.looked_at,
        "uncommitted": snapshot.uncommitted,
        "mirrored": snapshot.mirrored,
        "has_status": snapshot.status is not None,
    }
    if snapshot.wiki is not None:
        values |= _wiki_values(snapshot.wiki)
    connection.execute(
        f"UPDATE project SET {', '.join(f'{name} = ?' for name in values)},"  # noqa: S608
        # Pages that stay as they are stay newer than their tree, and a mark set while this look went on stays.
        " wiki_tree = iif(? AND wiki_tree = ?, wiki_tree, ?),"
        " stale_since = iif(stale_since > ? AND stale_since <= ?, stale_since, NULL) WHERE id = ?",
        (*values.values(), snapshot.wiki is None, UNKNOWN_TREE, snapshot.wiki_tree, snapshot.looked_at, now, project),
    )


def _wiki_values(wiki: Wiki) -> dict[str, object]:
    """What a project's row says of its wiki."""
    return {
        "has_index": wiki.index is not None,
        "index_problem": None if wiki.problem is None else storable(wiki.problem),
        "dead_links": wiki.dead,
        "ambiguous_links": wiki.ambiguous,
    }


def _free_name(connection: Connection, key: ProjectKey, name: str) -> None:
    """Take ``name`` from another project of the forge: it has been renamed or deleted since it had it. Until the forge
    says which, it has no name, and is found by its key only."""
    connection.execute(
        "UPDATE project SET named = 0 WHERE named AND forge = ? AND name = ? AND forge_id <> ?",
        (key.forge, name, key.id),
    )


def _folded(name: str) -> tuple[str, str]:
    folded = fold(name)
    return folded, folded.rpartition("/")[2]


def _forget(connection: Connection, projects: Sequence[int]) -> int:
    dropped: set[str] = set()
    for project in projects:
        rows = connection.execute("SELECT sha FROM page WHERE id BETWEEN ? AND ?", project_range(project))
        dropped.update(sha for (sha,) in rows)
    for chunk in chunks(projects):
        connection.execute(f"DELETE FROM project WHERE id IN ({marks(chunk)})", chunk)  # noqa: S608
    bodies.collect(connection, dropped)
    return len(projects)


def _count(connection: Connection, project: int) -> None:
    """Bring the numbers that ranking needs up to date."""
    connection.execute(
        "UPDATE project SET (pages, page_terms, bodies, body_terms) = ("
        "SELECT count(*), ifnull(sum(length), 0), count(body_length), ifnull(sum(body_length), 0)"
        " FROM page WHERE id BETWEEN ? AND ?) WHERE id = ?",
        (*project_range(project), project),
    )
