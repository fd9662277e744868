"""The client under test, on a fake forge or on a function that answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager

import httpx2

from cache.model import ProjectKey, RepoRef
from sync.credentials import TokenSource
from sync.exchange import Response
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient, HttpSettings
from tests.fake_gitea import GITEA, Dialect, FakeGitea, Limits, Repo, listen, undescribed
from tests.support.timing import ManualTime

Network = (
    Callable[[httpx2.Request], httpx2.Response] | Callable[[httpx2.Request], Coroutine[None, None, httpx2.Response]]
)

ALICE = "fake-token-alice"
READS = frozenset({"read:user", "read:repository"})  # the scopes that setting up asks for


def fake_forge(*, dialect: Dialect = GITEA, limits: Limits | None = None) -> FakeGitea:
    """A forge with one user, ``alice``, whose token may do everything."""
    forge = FakeGitea(dialect=dialect, limits=limits)
    forge.add_user("alice", token=ALICE)
    return forge


def ref_of(repo: Repo) -> RepoRef:
    """What a sync knows of ``repo`` after listing it as of the forge called "main"."""
    return RepoRef(ProjectKey("main", repo.id), repo.full_name, repo.default_branch)


@asynccontextmanager
async def client_of(
    forge: FakeGitea, *, token: str = ALICE, user: str = "", orgs: tuple[str, ...] = (), max_in_flight: int = 8
) -> AsyncIterator[GiteaForge]:
    """A client of ``forge`` on loopback. At the end no request may have left it that the forge does not describe."""
    with listen(forge) as url:
        http = HttpClient(HttpSettings(max_in_flight=max_in_flight))
        client = GiteaForge("main", http, GiteaSettings(url, user, orgs, TokenSource(token=token)))
        try:
            yield client
        finally:
            await client.aclose()
    assert undescribed(forge.requests) == []


class Scripted:
    """A forge that is a function: ``answers`` maps method and target (``"GET /user"``, below the API) to what is
    answered, one after the other, the last one for ever. ``sent`` are the requests."""

    def __init__(self, answers: Mapping[str, Response | list[Response]]) -> None:
        self._answers = {key: value if isinstance(value, list) else [value] for key, value in answers.items()}
        self.sent: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request)
        target = request.url.raw_path.decode()
        answers = self._answers[f"{request.method} {target.partition('/api/v1')[2]}"]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return httpx2.Response(answer.status, headers=dict(answer.headers), content=answer.body)


def scripted_client(
    network: Network,
    *,
    url: str = "https://git.example.test",
    token: TokenSource | None = None,
) -> GiteaForge:
    """A client whose network is a function."""
    http = HttpClient(HttpSettings(patience=0.0), timing=ManualTime().timing, transport=httpx2.MockTransport(network))
    return GiteaForge("main", http, GiteaSettings(url, token=token or TokenSource(token=ALICE)))
