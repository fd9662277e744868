"""Between rows of the cache file and the vocabulary: which columns make a project or a page, and text that fits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from cache.model import Page, PageFacts, Project, ProjectKey, ProjectState, RepoRef, TextFile

T = TypeVar("T")

Row = tuple[Any, ...]

PROJECT_COLUMNS = (
    "forge, forge_id, name, default_branch, state, failure, url, archived, fork, revision, wiki_tree, updated_at,"
    " synced_at, looked_at, has_status, has_index, index_problem, pages, uncommitted, mirrored"
)
PAGE_COLUMNS = "slug, sha, size, type, title, description, section, link_title, listed, position, uncommitted"
FACT_COLUMNS = "title, type, heading"
TEXT_COLUMNS = "path, sha, text, uncommitted"

# What wiki_tree says of pages that are newer than the tree they came with: no tree has this name.
UNKNOWN_TREE = ""

_CHUNK = 500  # values in one list of a statement, whose length is limited


def project_of(row: Row) -> Project:
    """A project from its ``PROJECT_COLUMNS``."""
    forge, forge_id, name, branch, state, failure, url, archived, fork, revision, tree, updated, synced, looked = row[
        :14
    ]
    has_status, has_index, problem, pages, uncommitted, mirrored = row[14:]
    return Project(
        repo=RepoRef(ProjectKey(forge, forge_id), name, branch),
        state=ProjectState(state),
        failure=failure,
        url=url,
        archived=bool(archived),
        fork=bool(fork),
        revision=revision,
        wiki_tree=tree,
        updated_at=updated,
        synced_at=synced,
        looked_at=looked,
        has_status=bool(has_status),
        has_index=bool(has_index),
        index_problem=problem,
        pages=pages,
        uncommitted=bool(uncommitted),
        mirrored=bool(mirrored),
    )


def page_of(row: Row) -> Page:
    """A page from its ``PAGE_COLUMNS``."""
    slug, sha, size, kind, title, description, section, link_title, listed, position, uncommitted = row
    flags = bool(listed), position, bool(uncommitted)
    return Page(slug, sha, size, kind, title, description, section, link_title, *flags)


def facts_of(row: Row) -> PageFacts:
    """Facts from their ``FACT_COLUMNS``."""
    return PageFacts(*row)


def text_of(row: Row) -> TextFile:
    """A text file from its ``TEXT_COLUMNS``."""
    path, sha, text, uncommitted = row
    return TextFile(path, sha, text, bool(uncommitted))


def chunks(values: Iterable[T]) -> Iterator[Sequence[T]]:
    """``values`` in portions that fit into one statement."""
    iterator = iter(values)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def marks(values: Collection[object]) -> str:
    """The place-holders of a statement's list of ``values``."""
    return ", ".join("?" * len(values))
