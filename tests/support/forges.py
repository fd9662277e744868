"""A forge that breaks on demand, wrapped around a real one, and fleets of real repositories to read through it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from cache.errors import KnowledgeError
from cache.model import Listed, RepoRef, TreeEntry
from sync.forge.base import Answer, File, Head, ListingPage, Unchanged
from sync.forge.local import LocalForge
from sync.forge.writing import Edit, Issue, LastChange, PullRequest, WritableForge, Written
from sync.plan import SyncSettings
from tests.support.repos import make_repo

LOCAL = SyncSettings(mirror_everything=True)
WEB: dict[str, str | bytes] = {
    "STATUS.md": "# Status\n\nGreen.\n",
    ".wiki/index.md": (
        "# Wiki\n\n## Concepts\n\n- [Windows yarn exec](concepts/windows-yarn-exec.md) — yarn spawn on Windows\n"
        "- [Caching](concepts/caching.md)\n\n## Raw\n\n- [Chat log](raw/chat.md)\n"
    ),
    ".wiki/concepts/windows-yarn-exec.md": "# Windows yarn exec\n\nOn Windows, run yarn through `cmd.exe /c yarn`.\n",
    ".wiki/concepts/caching.md": "# Caching\n\nEvery build keeps its cache keys in one file.\n",
    ".wiki/raw/chat.md": "# Chat\n\nSomebody asked about yarn.\n",
    ".wiki/notes/unlisted.md": "---\ntitle: Kept aside\ntype: concept\n---\n\n# Another name\n\nNothing links here.\n",
}
API: dict[str, str | bytes] = {
    ".wiki/index.md": "# Wiki\n\n- [Rate limits](concepts/rate-limits.md): how many calls a minute\n",
    ".wiki/concepts/rate-limits.md": "# Rate limits\n\nSixty calls a minute for each token.\n",
}
NO_WIKI: dict[str, str | bytes] = {"README.md": "# Tool\n"}


def make_fleet(root: Path, repositories: Mapping[str, Mapping[str, str | bytes]]) -> LocalForge:
    """Real working repositories below ``root`` by path, and the forge that reads them."""
    for path, files in repositories.items():
        make_repo(root / path, files)
    return LocalForge("default", [root], status_paths=LOCAL.status_paths)


@dataclass
class Faulty:
    """``inner``, but what is named here fails. ``broken``: every access to the project of that name raises.
    ``unread``: reading its files does. ``slow``: reading takes that many seconds. ``listing_error`` comes after
    ``listing_pages`` pages. ``calls`` counts what was asked of each project."""

    inner: WritableForge
    broken: dict[str, Exception] = field(default_factory=dict)
    unread: dict[str, Exception] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    listing_error: KnowledgeError | None = None
    listing_pages: int = 0
    calls: list[tuple[str, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def host(self) -> str:
        return self.inner.host

    async def listing(self) -> AsyncIterator[ListingPage]:
        seen = 0
        async for page in self.inner.listing():
            if self.listing_error is not None and seen >= self.listing_pages:
                raise self.listing_error
            seen += 1
            yield page
        if self.listing_error is not None:
            raise self.listing_error

    async def find(self, name: str) -> Listed:
        self._note("find", name)
        return await self.inner.find(name)

    async def head(self, repo: RepoRef) -> Head | None:
        self._note("head", repo.name)
        return await self.inner.head(repo)

    async def wiki_tree(self, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
        self._note("wiki_tree", repo.name)
        return await self.inner.wiki_tree(repo, head)

    async def read(
        self, repo: RepoRef, paths: Sequence[str], *, ref: str | None = None, limit: int
    ) -> tuple[Answer, ...]:
        self._note("read", repo.name)
        await anyio.sleep(self.slow.get(repo.name, 0))
        if repo.name in self.unread:
            raise self.unread[repo.name]
        return await self.inner.read(repo, paths, ref=ref, limit=limit)

    async def revalidate(self, repo: RepoRef, path: str, sha: str, *, limit: int) -> Answer | Unchanged:
        (answer,) = await self.read(repo, [path], limit=limit)
        same = isinstance(answer, File) and answer.sha == sha and not answer.uncommitted
        return Unchanged(path, sha) if same else answer

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        self._note("write", repo.name)
        return await self.inner.write(repo, edit)

    async def rehearse(self, repo: RepoRef, edit: Edit) -> None:
        self._note("rehearse", repo.name)
        await self.inner.rehearse(repo, edit)

    async def branch_head(self, repo: RepoRef, branch: str) -> str | None:
        self._note("branch_head", repo.name)
        return await self.inner.branch_head(repo, branch)

    async def last_change(self, repo: RepoRef, path: str, *, branch: str | None = None) -> LastChange | None:
        self._note("last_change", repo.name)
        return await self.inner.last_change(repo, path, branch=branch)

    async def open_pull(self, repo: RepoRef, branch: str) -> PullRequest | None:
        self._note("open_pull", repo.name)
        return await self.inner.open_pull(repo, branch)

    async def propose(self, repo: RepoRef, branch: str, *, title: str, body: str) -> PullRequest:
        self._note("propose", repo.name)
        return await self.inner.propose(repo, branch, title=title, body=body)

    async def labels(self, repo: RepoRef) -> Mapping[str, int]:
        self._note("labels", repo.name)
        return await self.inner.labels(repo)

    async def demand_issues(self, repo: RepoRef) -> None:
        self._note("demand_issues", repo.name)
        await self.inner.demand_issues(repo)

    async def file_issue(self, repo: RepoRef, *, title: str, body: str, labels: Sequence[int]) -> Issue:
        self._note("file_issue", repo.name)
        return await self.inner.file_issue(repo, title=title, body=body, labels=labels)

    async def recent_issues(self, repo: RepoRef, *, since: float) -> Sequence[Issue]:
        self._note("recent_issues", repo.name)
        return await self.inner.recent_issues(repo, since=since)

    async def aclose(self) -> None:
        await self.inner.aclose()

    def _note(self, what: str, name: str) -> None:
        self.calls.append((what, name))
        if name in self.broken:
            raise self.broken[name]
