"""The forge interface over Gitea's API. A thin driver: ``calls`` says what to ask, ``protocol`` what it means."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from cache.errors import NotFound, Unavailable
from cache.model import Listed, RepoRef, TreeEntry
from sync.concurrency import all_of
from sync.credentials import Credentials, TokenSource
from sync.exchange import Response, Trouble, Unreachable
from sync.forge.base import INVISIBLE, WIKI, Absent, Answer, Head, ListingPage, Unchanged
from sync.forge.gitea import calls, protocol
from sync.forge.gitea.failures import NO_TREE
from sync.forge.gitea.files import FileReader, Wanted
from sync.forge.gitea.listing import Lister, sources
from sync.forge.gitea.protocol import NotModified, TreePage
from sync.forge.gitea.session import Session
from sync.forge.gitea.site import Site
from sync.forge.gitea.writes import GiteaWriter
from sync.forge.writing import Edit, Issue, LastChange, PullRequest, Written
from sync.http import HttpClient

FOLDER = WIKI.rstrip("/")
MOST_TREE_PAGES = 1_000  # a million files


@dataclass(frozen=True, slots=True)
class GiteaSettings:
    """Which forge, and what of it is listed: all that the token lists, or what ``user`` owns; and what ``orgs`` do."""

    url: str
    user: str = ""
    orgs: tuple[str, ...] = ()
    token: TokenSource = field(default_factory=TokenSource)


class GiteaForge:
    """A Gitea or Forgejo server as a :class:`sync.forge.writing.WritableForge`. Raises ``NotConfigured`` if ``url`` is
    no URL."""

    def __init__(self, name: str, http: HttpClient, settings: GiteaSettings) -> None:
        self._name = name
        self._session = Session(Site.of(settings.url), http, Credentials(settings.token))
        self._lister = Lister(self._session, name, sources(settings.user, settings.orgs))
        self._files = FileReader(self._session, self.find)
        self._writer = GiteaWriter(self._session)

    @property
    def name(self) -> str:
        return self._name

    @property
    def host(self) -> str:
        return self._session.site.host

    def listing(self) -> AsyncIterator[ListingPage]:
        return self._lister.pages()

    async def find(self, name: str) -> Listed:
        if not calls.is_full_name(name):
            raise NotFound(INVISIBLE)
        return await self._session.ask(calls.repo(name), partial(protocol.repo, forge=self._name))

    async def head(self, repo: RepoRef) -> Head | None:
        page = await self._root(repo)
        if page is None:
            return None
        commit, entries, number = page.sha, list(page.entries), 1
        while page.more and page.entries and not any(entry.path == FOLDER for entry in page.entries):
            number += 1
            page = await self._tree(repo.name, commit, page=number)
            entries += page.entries
        wiki = next((entry.sha for entry in entries if entry.path == FOLDER and entry.kind == "tree"), None)
        return Head(commit, wiki, names=None if page.more else frozenset(entry.path for entry in entries))

    async def wiki_tree(self, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
        if head.wiki_tree is None:
            return ()
        pages = await self._whole_tree(repo.name, head.wiki_tree)
        entries = {entry.path: entry for page in pages for entry in page.entries}
        total = pages[0].total
        if pages[-1].more or (total is not None and len(entries) != total):
            why = f"it lists {len(entries)} of {'more' if total is None else total} files of {repo.name}"
            raise Unreachable(self.host, Trouble.WRONG, why)
        blobs = (entry for entry in entries.values() if entry.kind == "blob")
        return tuple(
            TreeEntry(entry.path, entry.mode, entry.sha, entry.size)
            for entry in sorted(blobs, key=lambda entry: entry.path)
        )

    async def read(
        self, repo: RepoRef, paths: Sequence[str], *, ref: str | None = None, limit: int
    ) -> tuple[Answer, ...]:
        wanted = tuple(path for path in dict.fromkeys(paths) if calls.is_path(path))
        found: Mapping[str, Answer] = {}
        if wanted:
            answers = await self._files.read(Wanted(repo.name, ref, limit), wanted)
            found = dict(zip(wanted, answers, strict=True))
        return tuple(found.get(path, Absent(path)) for path in paths)

    async def revalidate(self, repo: RepoRef, path: str, sha: str, *, limit: int) -> Answer | Unchanged:
        """The file at ``path`` as it is now, or that it still is the blob ``sha`` that the caller has.

        Raises the errors of :meth:`read`."""
        if not calls.is_path(path):
            return Absent(path)
        answer = await self._files.one(Wanted(repo.name, None, limit), path, known=sha)
        if answer is None:
            await self.find(repo.name)
            return Absent(path)
        return Unchanged(path, sha) if isinstance(answer, NotModified) else answer

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        return await self._writer.write(repo, edit)

    async def rehearse(self, repo: RepoRef, edit: Edit) -> None:
        await self._writer.rehearse(repo, edit)

    async def branch_head(self, repo: RepoRef, branch: str) -> str | None:
        return await self._writer.branch_head(repo, branch)

    async def last_change(self, repo: RepoRef, path: str, *, branch: str | None = None) -> LastChange | None:
        return await self._writer.last_change(repo, path, branch=branch)

    async def open_pull(self, repo: RepoRef, branch: str) -> PullRequest | None:
        return await self._writer.open_pull(repo, branch)

    async def propose(self, repo: RepoRef, branch: str, *, title: str, body: str) -> PullRequest:
        return await self._writer.propose(repo, branch, title=title, body=body)

    async def labels(self, repo: RepoRef) -> Mapping[str, int]:
        return await self._writer.labels(repo)

    async def demand_issues(self, repo: RepoRef) -> None:
        await self._writer.demand_issues(repo)

    async def file_issue(self, repo: RepoRef, *, title: str, body: str, labels: Sequence[int]) -> Issue:
        return await self._writer.file_issue(repo, title=title, body=body, labels=labels)

    async def recent_issues(self, repo: RepoRef, *, since: float) -> Sequence[Issue]:
        return await self._writer.recent_issues(repo, since=since)

    async def aclose(self) -> None:
        await self._session.aclose()

    async def _root(self, repo: RepoRef) -> TreePage | None:
        """The first page of the root folder, ``None`` in a repository without commits. A default branch that is no
        more the one that was listed is followed."""
        branch = repo.default_branch
        page = await self._session.ask(calls.tree(repo.name, branch), _tree_page_or_none)
        if page is not None:
            return page
        listed = await self.find(repo.name)
        if listed.empty:
            return None
        if listed.repo.default_branch == branch:
            raise Unavailable(f"{repo.name} has no branch {branch}, its default one", host=self.host)
        return await self._tree(repo.name, listed.repo.default_branch)

    async def _whole_tree(self, name: str, sha: str) -> list[TreePage]:
        """All pages of a tree, those after the first side by side."""
        pages = [await self._tree(name, sha, recursive=True)]
        first = pages[0]
        if first.more and first.entries and first.total is not None:
            last = min(math.ceil(first.total / len(first.entries)), MOST_TREE_PAGES)
            pages += await all_of(
                [partial(self._tree, name, sha, page=page, recursive=True) for page in range(2, last + 1)]
            )
        while pages[-1].more and pages[-1].entries and len(pages) < MOST_TREE_PAGES:
            pages.append(await self._tree(name, sha, page=len(pages) + 1, recursive=True))
        return pages

    async def _tree(self, name: str, sha: str, *, page: int = 1, recursive: bool = False) -> TreePage:
        call = calls.tree(name, sha, page=page, recursive=recursive)
        return await self._session.ask(call, protocol.tree_page)


def _tree_page_or_none(response: Response, site: Site) -> TreePage | None:
    return None if response.status in NO_TREE else protocol.tree_page(response, site)
