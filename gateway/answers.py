"""What the federation answers, in the field names of the tool contract. ``None`` means that the field is left out.

Times are RFC 3339 in UTC, ages seconds. ``content`` turns any answer into the JSON object that a tool returns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PageMatch:
    """A page that answers a question put to several projects. ``age_s`` is of a copy, in seconds since it was seen."""

    slug: str
    type: str
    title: str
    snippet: str
    listed: bool
    revision: str
    url: str | None = None
    stale: bool | None = None
    age_s: int | None = None
    uncommitted: bool | None = None


@dataclass(frozen=True, slots=True)
class ProjectMatches:
    """One project's answer; ``more`` counts the matches beyond the limit."""

    project: str
    matches: tuple[PageMatch, ...]
    more: int
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectError:
    """Why one project gave no answer."""

    project: str
    error: str
    did_you_mean: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AskAnswer:
    """``asked_projects`` repeats the caller's words; ``results`` has one entry for each different project."""

    asked_projects: tuple[str, ...]
    results: tuple[ProjectMatches | ProjectError, ...]

    @property
    def found(self) -> bool:
        return any(isinstance(entry, ProjectMatches) and entry.matches for entry in self.results)


@dataclass(frozen=True, slots=True)
class SharedMatch:
    """A page of the shared wiki that answers a query; ``score`` lies between 0 and 1, higher for better ones."""

    slug: str
    type: str
    title: str
    snippet: str
    score: float
    listed: bool
    revision: str
    uncommitted: bool | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    query: str
    matches: tuple[SharedMatch, ...]
    total: int
    revision: str
    synced_at: str
    stale: bool
    suggested_projects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """A page, or a part of it. ``chars`` is the length in code points of the page or of the section asked for,
    ``offset`` where ``text`` begins in that, ``next_offset`` where the rest does."""

    text: str
    project: str
    slug: str
    title: str
    revision: str
    url: str | None
    chars: int
    offset: int
    next_offset: int | None
    headings: tuple[str, ...]
    stale: bool
    age_s: int
    uncommitted: bool | None = None


@dataclass(frozen=True, slots=True)
class PageEntry:
    slug: str
    type: str
    title: str
    listed: bool


@dataclass(frozen=True, slots=True)
class PageList:
    project: str
    pages: tuple[PageEntry, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    project: str
    state: str
    archived: bool
    has_status: bool
    has_wiki: bool
    pages: int
    updated_at: str | None = None
    synced_at: str | None = None
    uncommitted: bool | None = None


@dataclass(frozen=True, slots=True)
class ProjectList:
    projects: tuple[ProjectEntry, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """A project's STATUS file as it was at ``synced_at``, cut at a bound; ``chars`` is its whole length."""

    text: str
    project: str
    path: str
    revision: str
    chars: int
    truncated: bool
    synced_at: str | None = None
    uncommitted: bool | None = None


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """A task: the issue ``number``, or the file at ``path``. ``created``: this call filed it, or (``dry_run``) would;
    otherwise the same text was filed before. ``warning`` is what did not come out as asked."""

    project: str
    kind: str
    created: bool
    dry_run: bool
    number: int | None = None
    path: str | None = None
    url: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """An open pull request."""

    number: int
    url: str


@dataclass(frozen=True, slots=True)
class IngestAnswer:
    """A page that was written, by the ``commit`` that it took, or that was there already (no ``commit``).

    ``created``: it is new. ``pull_request``: it was proposed; ``commit`` and ``url`` are of that branch. In a
    ``dry_run`` ``revision`` is the one that the page would have, and ``diff`` what would change."""

    project: str
    slug: str
    revision: str
    created: bool
    dry_run: bool
    commit: str | None = None
    url: str | None = None
    pull_request: Proposal | None = None
    diff: str | None = None
    next_action_hint: str | None = None


def content(answer: object) -> dict[str, Any]:
    """An answer as a JSON object, without the fields that are ``None``."""
    if not dataclasses.is_dataclass(answer) or isinstance(answer, type):
        raise TypeError("an answer is a dataclass instance")
    return {
        item.name: _plain(value)
        for item in dataclasses.fields(answer)
        if (value := getattr(answer, item.name)) is not None
    }


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return content(value) if dataclasses.is_dataclass(value) else value
