"""Snapshots of projects in a few words, for tests of the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from cache.model import Listed, Page, PageFacts, ProjectKey, ProjectState, RepoRef, Snapshot, TextFile, Wiki

FORGE = "git"
NOW = 1_800_000_000.0  # what the clock of a store in tests says


def sha_of(text: str) -> str:
    """A name for a blob of ``text``, of the length of git's."""
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def key(number: int, forge: str = FORGE) -> ProjectKey:
    return ProjectKey(forge, number)


def page(slug: str, title: str = "", description: str = "", *, body: str = "", position: int = 0) -> Page:
    """A listed page whose blob is ``body``, and whose type is its first folder."""
    folder, slash, last = slug.partition("/")
    return Page(
        slug=slug,
        sha=sha_of(body or slug),
        size=len(body.encode()),
        type=folder if slash else "other",
        title=title or last or slug,
        description=description,
        link_title=title or None,
        listed=True,
        position=position,
    )


def pages(*titles: str, folder: str = "concepts") -> tuple[Page, ...]:
    """One page for each title, in that order."""
    return tuple(
        page(f"{folder}/{at}", title, body=f"# {title}\n", position=at) for at, title in enumerate(titles, start=1)
    )


def wiki(*members: Page, index: str | None = "# Index\n", problem: str | None = None) -> Wiki:
    """A wiki of pages in this order."""
    file = None if index is None else TextFile(".wiki/index.md", sha_of(index), index)
    return Wiki(members, file, problem)


def listed(name: str, number: int = 1, *, forge: str = FORGE, stamp: str = "stamp", archived: bool = False) -> Listed:
    return Listed(
        RepoRef(key(number, forge), name, "main"),
        stamp,
        updated_at=1_700_000_000.0,
        url=f"https://git.example.test/{name}",
        archived=archived,
    )


def snapshot(
    name: str = "acme/web",
    number: int = 1,
    *,
    forge: str = FORGE,
    of: Wiki | None = None,
    at: float = 100.0,
    bodies: Mapping[str, str] | None = None,
    facts: Mapping[str, PageFacts] | None = None,
    status: str | None = None,
    stamp: str = "stamp",
    settings: str = "settings",
) -> Snapshot:
    """A look at a project at time ``at``; mirrored where ``bodies`` are given: texts by slug."""
    members = () if of is None else of.pages
    texts = {member.sha: bodies[member.slug] for member in members if member.slug in bodies} if bodies else {}
    return Snapshot(
        listed(name, number, forge=forge, stamp=stamp),
        ProjectState.OK,
        at,
        settings,
        revision=sha_of(f"{name} {at}"),
        wiki_tree=sha_of(repr(of)),
        wiki=of,
        status=None if status is None else TextFile("STATUS.md", sha_of(status), status),
        mirrored=bodies is not None,
        bodies=texts,
        facts=facts or {},
    )
