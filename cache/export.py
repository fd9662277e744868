"""The cache for people: each project with its pages as ``gateway cache export`` prints them."""

from __future__ import annotations

from collections.abc import Mapping

from cache import pages, projects
from cache.model import Project, ProjectState
from cache.projects import Place
from cache.schema import Connection
from cache.times import timestamp

_AT_ONCE = 20  # projects that are read in one transaction


def batch(connection: Connection, after: Place | None) -> tuple[list[Mapping[str, object]], Place | None]:
    """The next projects, and the place of the last of them; ``None`` when there are none."""
    found = projects.page_of_projects(connection, query=None, limit=_AT_ONCE, after=after)
    (forges,) = connection.execute("SELECT count(DISTINCT forge) FROM project").fetchone()
    entries = [_entry(connection, project, several_forges=forges > 1) for project in found]
    return entries, projects.place_of(found[-1]) if found else None


def _entry(connection: Connection, project: Project, *, several_forges: bool) -> Mapping[str, object]:
    status = pages.text_file(connection, project.key, "status")
    return {
        "name": f"{project.key.forge}:{project.name}" if several_forges else project.name,
        "state": f"failed: {project.failure}" if project.state is ProjectState.FAILED else project.state.value,
        "status": None if status is None else status.text,
        "updated_at": timestamp(project.updated_at),
        "synced_at": timestamp(project.synced_at),
        "pages": [
            {"slug": page.slug, "type": page.type, "title": page.title, "listed": page.listed, "sha": page.sha}
            for page in pages.all_pages(connection, project.key)
        ],
    }
