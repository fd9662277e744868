"""Why a forge refused a write, each reason in a line of its own that names the remedy. Pure.

The forge's words tell some reasons; for others, which it words alike or not at all, the state of the repository does.
"""

from __future__ import annotations

from http import HTTPStatus

from cache.errors import Conflict, Denied, InvalidArgument, KnowledgeError, NotFound, Unavailable
from sync.exchange import Response
from sync.forge.gitea import shapes
from sync.forge.gitea.failures import NoRoute, failure
from sync.forge.gitea.outcomes import Branch, Standing
from sync.forge.gitea.shapes import Malformed
from sync.forge.gitea.site import Site
from sync.forge.writing import BranchExists, Edit, Moved, Protected

UNEXPLAINED = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.LOCKED})  # what the repository's state may explain


def of_commit(response: Response, site: Site, name: str, edit: Edit) -> KnowledgeError:
    """Why ``edit`` was not carried out in the repository ``name``, by the forge's words."""
    said, error = _said(response), failure(response, site)
    if response.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return _conflict(said, name, edit) or error
    if isinstance(error, NotFound):
        return _missing(said, name, edit) or error
    if isinstance(error, NoRoute) and error.lasting:
        return Unavailable(f"{site.host} cannot write several files in one commit — update it", host=site.host)
    return error


def of_issue(response: Response, site: Site, name: str) -> KnowledgeError:
    """Why no issue was filed in the repository ``name``."""
    if response.status == HTTPStatus.UNPROCESSABLE_ENTITY and (said := _said(response)):
        return InvalidArgument(f"{site.host} does not take this issue: {shapes.printable(said, 200)}")
    return of_pull(response, site, name)


def of_pull(response: Response, site: Site, name: str) -> KnowledgeError:
    """Why no pull request was opened in the repository ``name``."""
    if response.status == HTTPStatus.LOCKED:
        return in_its_words(archived(name, site), response, site)
    return failure(response, site)


def of_standing(standing: Standing, site: Site) -> Denied | None:
    """Why a repository takes no commit at all."""
    name = standing.name
    if standing.archived:
        return archived(name, site)
    if standing.mirror:
        return Denied(f"{name} is a mirror — write to the repository that it mirrors", host=site.host)
    if not standing.may_push:
        return Denied(f"no more than a read-only collaborator of {name} — ask for write access", host=site.host)
    return None


def of_branch(branch: Branch, name: str, branch_name: str, site: Site) -> Protected | None:
    """Why a branch of the repository ``name`` takes no commit."""
    if not branch.protected and branch.may_push:
        return None
    return Protected(f"branch {branch_name} of {name} is protected — open a pull request", host=site.host)


def in_its_words(reason: Denied, response: Response, site: Site) -> Denied:
    """A ``reason`` that was found behind a refusal, with what the forge itself said: it may know more."""
    said = shapes.printable(_said(response), 200)
    return type(reason)(f"{reason.message} ({site.host}: {said})", host=reason.host) if said else reason


def archived(name: str, site: Site) -> Denied:
    """Nothing can be written to the repository ``name``."""
    return Denied(f"{name} is archived — unarchive it, or write elsewhere", host=site.host)


def no_issues(name: str, site: Site) -> Denied:
    """The repository ``name`` keeps no issues, or keeps them elsewhere."""
    return Denied(f'issues are disabled in {name} — enable them, or set [tasks] filing to "file"', host=site.host)


def no_pull(standing: Standing, base: str, branch: str, site: Site) -> KnowledgeError:
    """Why no pull request can be opened from ``branch`` into ``base``, where the forge did not find something."""
    name = standing.name
    if not standing.has_pulls:
        return Denied(f"pull requests are disabled in {name} — enable them, or merge {branch} by hand", host=site.host)
    if standing.default_branch != base:
        return NotFound(f"{base} is no more the default branch of {name} — refresh the project")
    return NotFound(f"{name} has no branch {branch}")


def _conflict(said: str, name: str, edit: Edit) -> Conflict | None:
    if edit.new_branch is not None and said.startswith("branch already exists"):
        return BranchExists(edit.new_branch)
    if said.startswith("sha does not match"):
        return Moved(_stale(edit, said))
    if said.startswith("repository file already exists"):
        return Moved(_named(edit, said))
    if " exists where " in said:  # a folder where a file is to be, or the other way round
        return Conflict(f"{name}: {shapes.printable(said, 200)}")
    return None


def _missing(said: str, name: str, edit: Edit) -> KnowledgeError | None:
    if said.startswith("branch does not exist"):
        return NotFound(f"{name} has no branch {edit.branch or 'to write to'}")
    if said.startswith(("object does not exist", "repository file does not exist")):
        return Moved(_named(edit, said))
    return None


def _said(response: Response) -> str:
    """The forge's own words, whole."""
    try:
        return shapes.text(shapes.an_object(shapes.parse(response.body)), "message", "")
    except Malformed:
        return ""


def _stale(edit: Edit, said: str) -> tuple[str, ...]:
    """The paths of which the forge says that another blob is there."""
    found = tuple(change.path for change in edit.changes if change.sha and f"given: {change.sha}," in said)
    return found or tuple(change.path for change in edit.changes)


def _named(edit: Edit, said: str) -> tuple[str, ...]:
    """The paths that the forge names, or all where it names none."""
    found = tuple(change.path for change in edit.changes if f"path: {change.path}]" in said)
    return found or tuple(change.path for change in edit.changes)
