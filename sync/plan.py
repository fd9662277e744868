"""What is known and what is listed, turned into what to look at, rename and drop. Pure: no clock, no I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from cache.model import Known, Listed, ProjectKey
from sync.forge.base import SETTLE
from sync.wiki_index import READER_VERSION


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """Which repositories a sync looks at and what it keeps of them.

    ``pages`` says whose page bodies are kept beside the index: nobody's (``"index"``), everybody's (``"all"``), or
    the named projects'; those of the ``shared`` wiki always are, and all of them with ``mirror_everything``.
    ``include`` and ``exclude`` are globs on ``owner/name``, compared without case; no ``include`` admits all.
    ``status_paths`` are tried in order.
    """

    pages: Literal["index", "all"] | tuple[str, ...] = "index"
    shared: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    archived: bool = True
    forks: bool = True
    status_paths: tuple[str, ...] = (".tasks/STATUS.md", "STATUS.md")
    mirror_everything: bool = False

    def selects(self, listed: Listed) -> bool:
        """Whether a listed repository belongs to the fleet."""
        if (listed.archived and not self.archived) or (listed.fork and not self.forks):
            return False
        name = listed.repo.name
        if self.include and not fits(name, self.include):
            return False
        return not fits(name, self.exclude)

    def mirrors(self, name: str) -> bool:
        """Whether the page bodies of the project called ``name`` are kept."""
        if self.mirror_everything or self.pages == "all":
            return True
        return any(means(word, name) for word in (self.shared, *(() if self.pages == "index" else self.pages)))

    def fingerprint(self, name: str) -> str:
        """What, besides the repository itself, decides what a look at the project called ``name`` brings."""
        return _digest(READER_VERSION, self.mirrors(name), *self.status_paths)


@cache
def _digest(*parts: int | str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def means(word: str, name: str) -> bool:
    """Whether ``word`` (``owner/name``, or the last part of a name) means the project called ``name``, without case."""
    folded, wanted = name.casefold(), word.casefold()
    return bool(word) and (folded == wanted or folded.endswith(f"/{wanted}"))


def fits(name: str, globs: Sequence[str]) -> bool:
    """Whether one of ``globs`` fits a project's name, compared without case."""
    folded = name.casefold()
    return any(fnmatchcase(folded, glob.casefold()) for glob in globs)


@dataclass(frozen=True, slots=True)
class Rename:
    key: ProjectKey
    name: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one forge's sync has to do. ``keep`` are the ids of all that belong to the fleet: the rest goes."""

    looks: tuple[Listed, ...]
    renames: tuple[Rename, ...]
    keep: frozenset[int]
    unchanged: int


def plan(listed: Sequence[Listed], known: Mapping[int, Known], settings: SyncSettings) -> Plan:
    """Decide from a listing and what is known of each id.

    A repository that a listing names twice (pages may shift while they are read) counts once, as first named.
    """
    fleet: dict[int, Listed] = {}
    for item in listed:
        if settings.selects(item):
            fleet.setdefault(item.repo.key.id, item)
    looks = tuple(
        item
        for item in fleet.values()
        if needs_look(item, known.get(item.repo.key.id), settings.fingerprint(item.repo.name))
    )
    renames = tuple(
        Rename(item.repo.key, item.repo.name, item.url)
        for item in fleet.values()
        if (before := known.get(item.repo.key.id)) is not None and before.listed_name != item.repo.name
    )
    return Plan(looks, renames, frozenset(fleet), len(fleet) - len(looks))


def needs_look(listed: Listed, known: Known | None, fingerprint: str) -> bool:
    """Whether a repository may hold something that the cache does not."""
    if known is None or known.failed or known.settings != fingerprint:
        return True
    if not listed.stamp or listed.stamp != known.stamp:
        return True
    return listed.updated_at is not None and known.looked_at - listed.updated_at < SETTLE
