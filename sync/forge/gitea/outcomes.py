"""What a forge's answers mean that say how a write came out, or what has to be known around one: status and body
turned into data, or into one of our errors. Pure.

What was written is known only where the answer says so in full: a success that says anything else is ``Unsettled``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Generic, TypeVar

from sync.exchange import Response
from sync.forge.blobs import blob_name
from sync.forge.gitea import shapes
from sync.forge.gitea.calls import is_full_name
from sync.forge.gitea.paging import Paging
from sync.forge.gitea.protocol import checked
from sync.forge.gitea.settling import unsettled
from sync.forge.gitea.shapes import Malformed, Record
from sync.forge.gitea.site import Site
from sync.forge.writing import Edit, Issue, LastChange, PullRequest, Written

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """A repository under its present ``name``, and what can be done in it. ``has_issues``: it keeps issues itself."""

    name: str
    default_branch: str
    archived: bool
    mirror: bool
    may_push: bool
    has_issues: bool
    has_pulls: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch: the commit at its tip, and whether rules, or the lack of a permission, keep the caller from it."""

    commit: str
    protected: bool
    may_push: bool


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request, which may be closed; ``head_repo`` is the id of the repository that its branch is in."""

    request: PullRequest
    is_open: bool
    head_repo: int | None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list: ``count`` entries, some of which may be no ``items``."""

    items: tuple[T, ...]
    count: int
    paging: Paging


def standing(response: Response, site: Site) -> Standing:
    """A repository. What a forge does not tell does not stand in the way."""

    def read() -> Standing:
        record = shapes.an_object(shapes.parse(response.body))
        name = shapes.text(record, "full_name")
        if not is_full_name(name):
            raise Malformed("no full_name")
        permissions = record.get("permissions")
        return Standing(
            name,
            shapes.text(record, "default_branch", ""),
            shapes.flag(record, "archived"),
            shapes.flag(record, "mirror"),
            permissions is None or shapes.flag(shapes.an_object(permissions), "push"),
            shapes.flag(record, "has_issues", default=True) and record.get("external_tracker") is None,
            shapes.flag(record, "has_pull_requests", default=True),
        )

    return checked(response, site, read)


def branch(response: Response, site: Site) -> Branch:
    """A branch."""

    def read() -> Branch:
        record = shapes.an_object(shapes.parse(response.body))
        tip = shapes.sha(shapes.an_object(record.get("commit")), "id")
        return Branch(tip, shapes.flag(record, "protected"), shapes.flag(record, "user_can_push", default=True))

    return checked(response, site, read)


def last_change(response: Response, site: Site) -> LastChange | None:
    """The newest commit of a path's history, ``None`` where there is none. Its author is named as in git."""

    def read() -> LastChange | None:
        commits = shapes.a_list(shapes.parse(response.body))
        if not commits:
            return None
        newest = shapes.an_object(commits[0])
        commit = shapes.an_object(newest.get("commit"))
        author, committer = (shapes.an_object(commit.get(role)) for role in ("author", "committer"))
        name = shapes.printable(shapes.text(author, "name"), 100)
        return LastChange(shapes.sha(newest), name, shapes.moment(committer, "date"))

    return None if response.status == HTTPStatus.CONFLICT else checked(response, site, read)  # no commit at all


def written(response: Response, site: Site, edit: Edit) -> Written:
    """What a commit made: the forge must name each file that was sent, and by the blob that was sent."""

    def read(record: Record) -> Written:
        commit = shapes.sha(shapes.an_object(record.get("commit")))
        files = [shapes.an_object(file) for file in shapes.a_list(record.get("files"))]
        if [shapes.text(file, "path") for file in files] != [change.path for change in edit.changes]:
            raise Malformed("other files than were sent")
        shas = [shapes.sha(file) for file in files]
        if not all(sha == blob_name(change.data, like=sha) for sha, change in zip(shas, edit.changes, strict=True)):
            raise Malformed("another content than was sent")
        return Written(commit, {change.path: sha for sha, change in zip(shas, edit.changes, strict=True)})

    return _made(response, site, read)


def opened(response: Response, site: Site) -> PullRequest:
    """The pull request that was opened."""
    return _made(response, site, lambda record: _pull(record).request)


def filed(response: Response, site: Site) -> Issue:
    """The issue that was filed."""
    return _made(response, site, _issue)


def pull(response: Response, site: Site) -> Pull:
    """A pull request."""
    return checked(response, site, lambda: _pull(shapes.an_object(shapes.parse(response.body))))


def pulls(response: Response, site: Site) -> Page[Pull]:
    """Some pull requests."""
    return _page(response, site, _pull)


def labels(response: Response, site: Site) -> Page[tuple[str, int]]:
    """Some labels, name and id. One that is archived is not for new issues."""
    return _page(
        response,
        site,
        lambda record: (shapes.text(record, "name"), shapes.count(record, "id")),
        lambda record: not shapes.flag(record, "is_archived"),
    )


def issues(response: Response, site: Site) -> Page[Issue]:
    """Some issues. An older forge may list pull requests among them."""
    return _page(response, site, _issue, lambda record: record.get("pull_request") is None)


def _made(response: Response, site: Site, read: Callable[[Record], T]) -> T:
    """What ``read`` makes of the answer of success to a write."""
    try:
        return read(shapes.an_object(shapes.parse(response.body)))
    except Malformed as malformed:
        raise unsettled(site, f"{malformed} where the API's answer was expected") from None


def _page(
    response: Response, site: Site, read: Callable[[Record], T], fits: Callable[[Record], bool] = lambda _: True
) -> Page[T]:
    """Entries that are ``null`` are passed over."""

    def whole() -> Page[T]:
        entries = shapes.a_list(shapes.parse(response.body))
        records: Sequence[Record] = [shapes.an_object(entry) for entry in entries if entry is not None]
        items = tuple(read(record) for record in records if fits(record))
        return Page(items, len(entries), Paging.of(response.headers))

    return checked(response, site, whole)


def _pull(record: Record) -> Pull:
    head = shapes.an_object(record.get("head"))
    request = PullRequest(shapes.count(record, "number"), shapes.web_url(record), shapes.text(head, "ref"))
    repo = shapes.count(head, "repo_id") if head.get("repo_id") is not None else None
    return Pull(request, shapes.text(record, "state") == "open", repo)


def _issue(record: Record) -> Issue:
    return Issue(
        shapes.count(record, "number"),
        shapes.web_url(record),
        shapes.text(record, "title"),
        shapes.text(record, "body", ""),
        shapes.moment(record, "created_at"),
        tuple(shapes.text(shapes.an_object(label), "name") for label in shapes.a_list(record.get("labels") or [])),
    )
