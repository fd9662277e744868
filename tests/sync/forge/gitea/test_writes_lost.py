"""Writes whose answer is lost, damaged or somebody else's: what was sent is sent once, and never taken for done or
undone."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import KnowledgeError, NotConfigured
from cache.model import ProjectKey, RepoRef
from sync.credentials import TokenSource
from sync.exchange import Unreachable
from sync.forge.gitea.client import GiteaForge
from sync.forge.writing import Change, Edit, Issue, PullRequest, Unsettled, Writer, Written
from tests.fake_gitea import CutBody, Endless, FakeGitea, Gzip, Hang, Json, Reply, Reset, unavailable, web_page
from tests.fake_gitea.faults import Effect
from tests.fake_gitea.recordings import load
from tests.fake_gitea.repository import Repo
from tests.support.gitea_client import ALICE, client_of, fake_forge, ref_of, scripted_client

pytestmark = pytest.mark.anyio

WEB = RepoRef(ProjectKey("main", 1), "acme/web", "main")
PAGE = Change(".wiki/concepts/retry.md", b"# Retry\n", None)
EDIT = Edit("wiki: retry", (PAGE,), new_branch="knowledge/retry")
HEAD = "knowledge/a"
Send = Callable[[Writer, RepoRef], Coroutine[None, None, object]]


async def write(writer: Writer, repo: RepoRef) -> Written:
    return await writer.write(repo, EDIT)


async def file_issue(writer: Writer, repo: RepoRef) -> Issue:
    return await writer.file_issue(repo, title="t", body="b", labels=[])


async def propose(writer: Writer, repo: RepoRef) -> PullRequest:
    return await writer.propose(repo, HEAD, title="t", body="b")


SENDS = (write, file_issue, propose)
UNHEARD: list[Effect] = [Reset(), Reply(500), Reply(502), Reply(504), unavailable(), web_page(200)]
DONE: list[Effect] = [Reset(after=True), CutBody(), Gzip(cut=4), Json({}), Json(None), Json([])]


@pytest.fixture
def forge() -> FakeGitea:
    return fake_forge()


@pytest.fixture
def repo(forge: FakeGitea) -> Repo:
    repo = forge.add_repo("acme/web", {"README.md": "# Web\n"})
    repo.commit({"a.md": "x"}, branch=HEAD)
    return repo


def kind(effect: Effect) -> str:
    """An effect's name in a test's: what it says may be very long."""
    return f"{effect.status}" if isinstance(effect, Reply) else type(effect).__name__


def made(repo: Repo) -> int:
    """How many commits, issues and pull requests there are besides those of the fixture."""
    return len(repo.objects.commits) - 2 + len(repo.issues)


def posts(forge: FakeGitea) -> int:
    return sum(exchange.method == "POST" for exchange in forge.requests)


@pytest.mark.parametrize("send", SENDS[:2])
@pytest.mark.parametrize("effect", [*UNHEARD, Endless()], ids=kind)
async def test_nobody_knows_what_a_forge_did_that_never_heard_of_it(
    forge: FakeGitea, repo: Repo, effect: Effect, send: Send
) -> None:
    forge.faults.add(effect, method="POST")
    async with client_of(forge) as client:
        await client.find("acme/web")  # the connection is one that was used before
        with pytest.raises(Unsettled, match="did not tell whether it was carried out"):
            await send(client, ref_of(repo))
    assert (posts(forge), made(repo)) == (1, 0)


@pytest.mark.parametrize("send", SENDS[:2])
@pytest.mark.parametrize("effect", DONE, ids=kind)
async def test_nobody_knows_what_a_forge_did_that_did_it(
    forge: FakeGitea, repo: Repo, effect: Effect, send: Send
) -> None:
    forge.faults.add(effect, method="POST")
    async with client_of(forge) as client:
        await client.find("acme/web")
        with pytest.raises(Unsettled):
            await send(client, ref_of(repo))
    assert (posts(forge), made(repo)) == (1, 1)


@pytest.mark.parametrize("send", SENDS)
async def test_a_caller_who_gives_up_has_sent_once_all_the_same(forge: FakeGitea, repo: Repo, send: Send) -> None:
    forge.faults.add(Hang(after=True), method="POST")
    async with client_of(forge) as client, anyio.create_task_group() as group:
        group.start_soon(send, client, ref_of(repo))
        with anyio.fail_after(10):
            while not made(repo):  # noqa: ASYNC110 the forge's thread makes it
                await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    assert (posts(forge), made(repo)) == (1, 1)


@pytest.mark.parametrize("effect", DONE, ids=kind)
async def test_a_pull_request_that_was_opened_after_all_is_found(forge: FakeGitea, repo: Repo, effect: Effect) -> None:
    forge.faults.add(effect, method="POST")
    async with client_of(forge) as client:
        pull = await propose(client, ref_of(repo))
    assert (pull.number, posts(forge), len(repo.issues)) == (1, 1, 1)


@pytest.mark.parametrize("effect", UNHEARD, ids=kind)
async def test_a_pull_request_that_is_not_found_may_still_come(forge: FakeGitea, repo: Repo, effect: Effect) -> None:
    forge.faults.add(effect, method="POST")
    async with client_of(forge) as client:
        with pytest.raises(Unsettled):
            await propose(client, ref_of(repo))
    assert posts(forge) == 1


async def test_a_forge_that_is_gone_when_it_is_looked_at_leaves_the_pull_request_unsettled(
    forge: FakeGitea, repo: Repo
) -> None:
    forge.faults.add(Reset(after=True))
    async with client_of(forge) as client:
        with pytest.raises(Unsettled, match="connection"):
            await propose(client, ref_of(repo))
    assert posts(forge) == 1


class Broken:
    """A network that fails at what writes, and answers all else with ``repo``."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.posts = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(200, json=load("repo").json)
        self.posts += 1
        raise self.error


@pytest.mark.parametrize("send", SENDS)
@pytest.mark.parametrize(
    "error",
    [
        httpx2.ReadTimeout(""),
        httpx2.WriteTimeout(""),
        httpx2.ReadError(""),
        httpx2.WriteError(""),
        httpx2.CloseError(""),
        httpx2.RemoteProtocolError("Server disconnected without sending a response."),
        ConnectionResetError(),
    ],
    ids=repr,
)
async def test_what_breaks_after_sending_is_unsettled(error: Exception, send: Send) -> None:
    network = Broken(error)
    with pytest.raises(Unsettled):
        await send(scripted_client(network), WEB)
    assert network.posts == 1


@pytest.mark.parametrize("send", SENDS)
@pytest.mark.parametrize(
    "error", [httpx2.ConnectError(""), httpx2.ConnectTimeout(""), httpx2.ProxyError("502")], ids=repr
)
async def test_what_finds_no_connection_was_not_sent(error: Exception, send: Send) -> None:
    with pytest.raises(Unreachable) as caught:
        await send(scripted_client(Broken(error)), WEB)
    assert caught.value.unsent


@pytest.mark.parametrize("send", SENDS)
async def test_a_url_that_cannot_be_asked_was_not_sent(send: Send) -> None:
    with pytest.raises(NotConfigured):
        await send(scripted_client(Broken(httpx2.InvalidURL(""))), WEB)


@pytest.mark.parametrize("send", SENDS)
async def test_what_a_refused_token_sent_is_sent_again_with_a_fresh_one(tmp_path: Path, send: Send) -> None:
    file, tokens = tmp_path / "token", list[str]()
    file.write_text("fake-old-token", "utf-8")

    def network(request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(200, json=load("repo").json)
        tokens.append(request.headers["authorization"])
        file.write_text("fake-new-token", "utf-8")
        return httpx2.Response(401 if len(tokens) == 1 else 409, json={"message": "no"})

    with pytest.raises(KnowledgeError):
        await send(scripted_client(network, token=TokenSource(file=file)), WEB)
    assert tokens == ["token fake-old-token", "token fake-new-token"]


bodies = st.binary(max_size=40) | st.sampled_from(
    [
        json.dumps(load(name).json).encode()
        for name in ("contents-new-branch-on-protected", "issue-create", "pull-create")
    ]
)


@pytest.mark.parametrize("send", SENDS)
@given(
    status=st.integers(200, 599),
    body=bodies,
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "location", "content-encoding"]), st.text("19az/:", max_size=8)
    ),
)
def test_any_answer_at_all_is_an_outcome_or_an_error_of_ours(
    send: Send, status: int, body: bytes, headers: dict[str, str]
) -> None:
    sent: list[httpx2.Request] = []

    def network(request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(200, json=load("repo").json)
        sent.append(request)
        return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(body))

    async def outcome(client: GiteaForge) -> object:
        try:
            return await send(client, WEB)
        except KnowledgeError as error:
            return error

    result = anyio.run(outcome, scripted_client(network))
    assert len(sent) == 1
    assert isinstance(result, KnowledgeError) or 200 <= status < 300
    assert isinstance(result, Unsettled | Written | Issue | PullRequest) or not (
        200 <= status < 300 or status in {303, 304, 408} or (status >= 500 and status != 503)
    )
    if isinstance(result, KnowledgeError):
        assert ALICE not in result.message
