"""What a repository on disk lacks for want of a server: pull requests, labels and issues (``sync.forge.writing``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cache.errors import Denied
from cache.model import RepoRef
from sync.forge.local.discovery import HOST
from sync.forge.writing import Issue, PullRequest


class Serverless:
    """There is none of it, and none can be made."""

    async def open_pull(self, repo: RepoRef, branch: str) -> PullRequest | None:  # noqa: ARG002
        return None

    async def propose(self, repo: RepoRef, branch: str, *, title: str, body: str) -> PullRequest:  # noqa: ARG002
        raise Denied(f"{repo.name} is a local repository, which has no pull requests — merge {branch} there", host=HOST)

    async def labels(self, repo: RepoRef) -> Mapping[str, int]:  # noqa: ARG002
        return {}

    async def demand_issues(self, repo: RepoRef) -> None:
        raise _no_issues(repo)

    async def file_issue(
        self,
        repo: RepoRef,
        *,
        title: str,  # noqa: ARG002
        body: str,  # noqa: ARG002
        labels: Sequence[int],  # noqa: ARG002
    ) -> Issue:
        raise _no_issues(repo)

    async def recent_issues(self, repo: RepoRef, *, since: float) -> Sequence[Issue]:  # noqa: ARG002
        return ()


def _no_issues(repo: RepoRef) -> Denied:
    remedy = 'set [tasks] filing = "auto" or "file"'
    return Denied(f"{repo.name} is a local repository, which has no issues — {remedy}", host=HOST)
