"""What a forge's answers mean: status, headers and body turned into data, or into one of our errors. Pure.

Every function takes any response at all. What no forge would send, HTML from a proxy or half of a JSON text, becomes
``Unreachable``; nothing else than the errors of :mod:`sync.forge.base` is raised.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TypeVar

from cache.model import Listed, ProjectKey, RepoRef
from sync.exchange import Response
from sync.forge.base import SETTLE, Absent, Answer, File, Refused, TooBig
from sync.forge.blobs import blob_sha
from sync.forge.gitea import shapes
from sync.forge.gitea.calls import REPO_PAGE, is_full_name
from sync.forge.gitea.failures import failure, unexpected
from sync.forge.gitea.paging import Paging
from sync.forge.gitea.shapes import Malformed
from sync.forge.gitea.site import Site
from sync.retry import http_date

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RepoPage:
    """One page of a listing. ``more``: another follows; ``last`` is the number of the last one, where told. ``total``
    is a hint."""

    repos: tuple[Listed, ...]
    more: bool
    last: int | None
    total: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a tree: ``kind`` is ``"blob"``, ``"tree"`` or ``"commit"`` (a submodule)."""

    path: str
    mode: int
    kind: str
    sha: str
    size: int


@dataclass(frozen=True, slots=True)
class TreePage:
    """One page of a tree. ``sha`` is the commit's where a branch was asked for. ``more``: another page follows;
    ``total`` counts the entries of all, where told."""

    sha: str
    entries: tuple[Entry, ...]
    more: bool
    total: int | None


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is there, but too big for a batch."""

    path: str


@dataclass(frozen=True, slots=True)
class NotModified:
    """The blob is the one that the caller knows."""


def repo_page(response: Response, site: Site, forge: str) -> RepoPage:
    """A page of any of the listings of repositories. An entry that is ``null`` is passed over."""

    def read() -> RepoPage:
        entries = shapes.a_list(shapes.parse(response.body))
        now = _sent_at(response)
        repos = tuple(_listed(shapes.an_object(entry), forge, now) for entry in entries if entry is not None)
        paging = Paging.of(response.headers)
        # A proxy may have taken the headers away: better one request too many than the rest of a fleet forgotten.
        full = not paging.links and len(entries) >= REPO_PAGE
        return RepoPage(repos, bool(entries) and (full or paging.goes_on(len(entries))), paging.last, paging.total)

    return checked(response, site, read)


def repo(response: Response, site: Site, forge: str) -> Listed:
    """One repository."""

    def read() -> Listed:
        return _listed(shapes.an_object(shapes.parse(response.body)), forge, _sent_at(response))

    return checked(response, site, read)


def tree_page(response: Response, site: Site) -> TreePage:
    """A page of a tree."""

    def read() -> TreePage:
        record = shapes.an_object(shapes.parse(response.body))
        entries = tuple(_entry(shapes.an_object(item)) for item in shapes.a_list(record.get("tree")))
        total = shapes.count(record, "total_count") if "total_count" in record else None
        return TreePage(shapes.sha(record), entries, shapes.flag(record, "truncated"), total)

    return checked(response, site, read)


def file_contents(response: Response, site: Site, paths: Sequence[str], limit: int) -> tuple[Answer | Unread, ...]:
    """The answers to the first of ``paths``: a forge may answer fewer than it was asked for."""

    def read() -> tuple[Answer | Unread, ...]:
        entries = shapes.a_list(shapes.parse(response.body))
        if len(entries) > len(paths):
            raise Malformed("more files than were asked for")
        return tuple(_content(entry, path, limit) for entry, path in zip(entries, paths, strict=False))

    return checked(response, site, read)


def raw(response: Response, site: Site, path: str) -> Answer | NotModified:
    """A file's bytes. The blob's name is the ``ETag``; where a proxy has taken that away, it is computed."""
    if response.status == HTTPStatus.NOT_MODIFIED:
        return NotModified()

    def read() -> Answer:
        kind = response.headers.get("x-gitea-object-type")
        if kind == "symlink":
            return Refused(path, "a symbolic link")
        if kind is None and response.headers.get("content-type", "").startswith("text/html"):
            raise Malformed("HTML")  # a forge serves no file as HTML: it is a proxy's page for people
        etag = response.headers.get("etag", "").removeprefix("W/").strip('"')
        return File(path, etag if shapes.is_sha(etag) else blob_sha(response.body), response.body)

    if response.status == HTTPStatus.NOT_FOUND and b'"getBlobForEntry"' in response.body:
        return Refused(path, "a directory")
    return checked(response, site, read)


def checked(response: Response, site: Site, read: Callable[[], T]) -> T:
    """What ``read`` makes of a success, whose ``Malformed`` is an unexpected answer. Raises the error of any other."""
    if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
        raise failure(response, site)
    try:
        return read()
    except Malformed as malformed:
        raise unexpected(site, str(malformed)) from None


def _listed(record: shapes.Record, forge: str, now: float | None) -> Listed:
    """A repository as it was shown when the forge's clock stood at ``now``."""
    key = ProjectKey(forge, shapes.count(record, "id"))
    name = shapes.text(record, "full_name")
    if not is_full_name(name):
        raise Malformed("no full_name")
    updated, url = shapes.text(record, "updated_at"), shapes.text(record, "html_url", "")
    listed = Listed(
        RepoRef(key, name, shapes.text(record, "default_branch", "")),
        "",
        shapes.seconds(updated),
        url if shapes.is_web_url(url) else None,
        shapes.flag(record, "archived"),
        shapes.flag(record, "fork"),
        shapes.flag(record, "empty"),
    )
    return listed if _is_young(listed, now) else replace(listed, stamp=_stamp(updated, listed))


def _is_young(listed: Listed, now: float | None) -> bool:
    """Whether a push that is yet to come could leave ``updated_at`` as it is. Both times are the forge's own, so that
    it does not matter what the clock here shows."""
    return now is not None and listed.updated_at is not None and now - listed.updated_at < SETTLE


def _stamp(updated: str, listed: Listed) -> str:
    """What changes with anything that is kept of a repository, besides its name: not all of it moves ``updated_at``."""
    flags = (("archived", listed.archived), ("fork", listed.fork), ("empty", listed.empty))
    site = (listed.url or "").removesuffix(listed.repo.name)
    return " ".join([updated, listed.repo.default_branch, site, *(word for word, is_so in flags if is_so)])


def _sent_at(response: Response) -> float | None:
    return http_date(response.headers.get("date", ""))


def _entry(record: shapes.Record) -> Entry:
    try:
        mode = int(shapes.text(record, "mode"), 8)
    except ValueError:
        raise Malformed("no mode") from None
    kind = shapes.text(record, "type")
    return Entry(shapes.text(record, "path"), mode, kind, shapes.sha(record), shapes.count(record, "size", 0))


def _content(value: object, path: str, limit: int) -> Answer | Unread:
    if value is None:
        return Absent(path)
    record = shapes.an_object(value)
    if shapes.text(record, "path") != path:
        raise Malformed("another file than was asked for")
    kind = shapes.text(record, "type")
    if kind != "file":
        return Refused(path, {"symlink": "a symbolic link", "dir": "a directory"}.get(kind, "a submodule"))
    sha, size = shapes.sha(record), shapes.count(record, "size")
    if size > limit:
        return TooBig(path, limit)
    if record.get("content") is None:
        return Unread(path) if size else File(path, sha, b"")
    data = _decoded(shapes.text(record, "content"), shapes.text(record, "encoding"))
    if len(data) != size:
        raise Malformed("a file cut short")
    return File(path, sha, data)


def _decoded(content: str, encoding: str) -> bytes:
    if encoding != "base64":
        raise Malformed("an unknown encoding")
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("damaged base64") from None
