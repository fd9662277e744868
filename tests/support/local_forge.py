"""Asking a local forge about one repository, and writing to it, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cache.model import Listed, ProjectKey, RepoRef, TreeEntry
from sync.forge.base import Answer, File, Head
from sync.forge.local import LocalForge
from sync.forge.writing import Change, Edit, Written

STATUS_PATHS = (".tasks/STATUS.md", "STATUS.md")
LIMIT = 1024 * 1024  # bytes


def forge_of(*roots: Path) -> LocalForge:
    return LocalForge("home", roots, status_paths=STATUS_PATHS)


def named(name: str) -> RepoRef:
    """A reference as a process that never listed would have it, from its cache."""
    return RepoRef(ProjectKey("home", 1), name, "main")


class Asked:
    """The repository at ``path``, asked afresh each time."""

    def __init__(self, path: Path) -> None:
        self.forge = forge_of(path.parent)
        self.repo = named(f"local/{path.name}")

    async def listed(self) -> Listed:
        return await self.forge.find(self.repo.name)

    async def head(self) -> Head:
        head = await self.forge.head(self.repo)
        assert head is not None
        return head

    async def wiki(self) -> dict[str, TreeEntry]:
        entries = await self.forge.wiki_tree(self.repo, await self.head())
        assert list(entries) == sorted(entries, key=lambda entry: entry.path)
        return {entry.path: entry for entry in entries}

    async def read(self, path: str, *, ref: str | None = None, limit: int = LIMIT) -> Answer:
        (answer,) = await self.forge.read(self.repo, [path], ref=ref, limit=limit)
        assert answer.path == path
        return answer

    async def file(self, path: str, *, ref: str | None = None) -> File:
        answer = await self.read(path, ref=ref)
        assert isinstance(answer, File), answer
        return answer

    async def sha(self, path: str) -> str | None:
        answer = await self.read(path)
        return answer.sha if isinstance(answer, File) else None

    async def edit(self, files: Mapping[str, bytes]) -> Edit:
        """What puts ``files`` over those that are there now."""
        changes = [Change(path, data, await self.sha(path)) for path, data in files.items()]
        return Edit("Change some pages", tuple(changes))

    async def write(self, files: Mapping[str, bytes]) -> Written:
        return await self.forge.write(self.repo, await self.edit(files))
