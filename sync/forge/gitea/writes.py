"""Writes to a forge's repositories, and looks at what is around a write. A thin driver: ``calls`` says what to ask,
``outcomes``, ``settling`` and ``refusals`` what is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import TypeVar

from cache.errors import Denied, InvalidArgument, KnowledgeError, NotFound, shown
from cache.model import RepoRef
from sync.concurrency import all_of
from sync.exchange import Response, Trouble, Unreachable
from sync.forge.gitea import calls, outcomes, refusals, settling
from sync.forge.gitea.calls import Call
from sync.forge.gitea.failures import ScopeMissing
from sync.forge.gitea.outcomes import Page, Standing
from sync.forge.gitea.session import Session
from sync.forge.gitea.site import Site
from sync.forge.writing import Edit, Issue, LastChange, PullRequest, Unsettled, Written

T = TypeVar("T")

MOST_PAGES = 20  # of a list: a thousand issues, labels or pull requests


class GiteaWriter:
    """A Gitea or Forgejo server as a :class:`sync.forge.writing.Writer`, through ``session``."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._site = session.site

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        """Carry out ``edit``, of as many files as a forge's answer may show (30), whole or not at all."""
        paths = [change.path for change in edit.changes]
        if not 0 < len(paths) <= calls.FILES_AT_ONCE or not all(map(calls.is_path, paths)):
            raise InvalidArgument(f"no files that can be written in one commit: {shown(', '.join(paths)) or 'none'}")
        response = await self._send(calls.commit(repo.name, edit))
        if settling.is_carried_out(response, self._site):
            return await self._session.parse(response, partial(outcomes.written, edit=edit))
        refused = refusals.of_commit(response, self._site, repo.name, edit)
        if response.status in refusals.UNEXPLAINED and not isinstance(refused, ScopeMissing):
            refused = await self._explained(repo, edit, response) or refused
        raise refused

    async def rehearse(self, repo: RepoRef, edit: Edit) -> None:
        """What cannot be told is whether the token has the scope, and whether a file was changed meanwhile."""
        if (refused := await self._refusal(repo, edit)) is not None:
            raise refused

    async def branch_head(self, repo: RepoRef, branch: str) -> str | None:
        try:
            return (await self._session.ask(calls.branch(repo.name, branch), outcomes.branch)).commit
        except NotFound:
            await self._standing(repo)
            return None

    async def last_change(self, repo: RepoRef, path: str, *, branch: str | None = None) -> LastChange | None:
        if not calls.is_path(path):
            return None
        try:
            return await self._session.ask(calls.history(repo.name, path, branch=branch), outcomes.last_change)
        except NotFound:
            await self._standing(repo)
            return None

    async def open_pull(self, repo: RepoRef, branch: str) -> PullRequest | None:
        base = repo.default_branch
        try:
            pull = await self._session.ask(calls.pull(repo.name, base, branch), outcomes.pull)
        except NotFound:
            await self._standing(repo)
            return None
        if pull.is_open:
            return pull.request
        # A branch may have had another pull request before; which of them the forge shows is nowhere said.
        pulls = await self._all(partial(calls.open_pulls, repo.name, base), outcomes.pulls)
        own = (pull.request for pull in pulls if pull.head_repo == repo.key.id)
        return next((request for request in own if request.branch == branch), None)

    async def propose(self, repo: RepoRef, branch: str, *, title: str, body: str) -> PullRequest:
        """Open a pull request, or find the one that is open: after an answer that was lost, too."""
        base = repo.default_branch
        try:
            response = await self._send(calls.propose(repo.name, base=base, head=branch, title=title, body=body))
            if settling.is_carried_out(response, self._site):
                return await self._session.parse(response, outcomes.opened)
        except Unsettled:
            with suppress(KnowledgeError):
                if (found := await self.open_pull(repo, branch)) is not None:
                    return found
            raise
        if response.status == HTTPStatus.CONFLICT and (found := await self.open_pull(repo, branch)) is not None:
            return found
        refused = refusals.of_pull(response, self._site, repo.name)
        if isinstance(refused, NotFound):
            refused = refusals.no_pull(await self._standing(repo), base, branch, self._site)
        raise refused

    async def labels(self, repo: RepoRef) -> Mapping[str, int]:
        """Of two labels of the same name, the repository's own counts. A token that may not read the organization's
        is told of the repository's alone."""
        name = (await self._standing(repo)).name
        own, shared = await all_of(
            [
                partial(self._all, partial(calls.labels_of_repo, name), outcomes.labels),
                partial(self._shared_labels, name.partition("/")[0]),
            ]
        )
        return dict([*shared, *own])

    async def demand_issues(self, repo: RepoRef) -> None:
        standing = await self._standing(repo)
        if standing.archived:
            raise refusals.archived(standing.name, self._site)
        if not standing.has_issues:
            raise refusals.no_issues(standing.name, self._site)

    async def file_issue(self, repo: RepoRef, *, title: str, body: str, labels: Sequence[int]) -> Issue:
        """File an issue, where issues are enabled: a forge lets administrators file some that nobody gets to see."""
        if not title.strip():
            raise InvalidArgument("an issue needs a title", argument="title")
        await self.demand_issues(repo)
        response = await self._send(calls.file_issue(repo.name, title=title, body=body, labels=labels))
        if settling.is_carried_out(response, self._site):
            return await self._session.parse(response, outcomes.filed)
        raise refusals.of_issue(response, self._site, repo.name)

    async def recent_issues(self, repo: RepoRef, *, since: float) -> Sequence[Issue]:
        """Raises ``Unreachable`` if there are more than a thousand, rather than to leave some out."""
        start = datetime.fromtimestamp(max(since, 0), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            return await self._all(partial(calls.issues, repo.name, start), outcomes.issues)
        except (NotFound, Denied):
            if (await self._standing(repo)).has_issues:
                raise
            return []

    async def _send(self, call: Call) -> Response:
        """The answer to a call that writes."""
        try:
            return await self._session.send(call)
        except KnowledgeError as error:
            raise settling.unanswered(error, self._site) from None

    async def _explained(self, repo: RepoRef, edit: Edit, response: Response) -> KnowledgeError | None:
        """Why a commit was refused, as far as the state of the repository tells."""
        try:
            reason = await self._refusal(repo, edit)
        except KnowledgeError:  # then the forge's words have to do
            return None
        return None if reason is None else refusals.in_its_words(reason, response, self._site)

    async def _refusal(self, repo: RepoRef, edit: Edit) -> Denied | None:
        """Why the repository takes no commit, by its state and that of the branch. A branch that does not exist, as in
        a repository without commits, has nothing against it."""
        standing = await self._standing(repo)
        if (reason := refusals.of_standing(standing, self._site)) is not None or edit.new_branch is not None:
            return reason
        name = edit.branch or standing.default_branch
        try:
            branch = await self._session.ask(calls.branch(repo.name, name), outcomes.branch)
        except NotFound:
            return None
        return refusals.of_branch(branch, standing.name, name, self._site)

    async def _standing(self, repo: RepoRef) -> Standing:
        return await self._session.ask(calls.repo(repo.name), outcomes.standing)

    async def _shared_labels(self, owner: str) -> Sequence[tuple[str, int]]:
        try:
            return await self._all(partial(calls.labels_of_org, owner), outcomes.labels)
        except (NotFound, ScopeMissing):  # a user has none; a token may not see them
            return ()

    async def _all(self, page: Callable[[int], Call], read: Callable[[Response, Site], Page[T]]) -> Sequence[T]:
        items: list[T] = []
        seen = 0
        for number in range(1, MOST_PAGES + 1):
            part = await self._session.ask(page(number), read)
            items += part.items
            seen += part.count
            if not part.count or not part.paging.goes_on(seen):
                return items
        raise Unreachable(self._site.host, Trouble.WRONG, f"its list has more than {seen} entries")
