"""A forge that fails, and one that is asked for much at once."""

from contextlib import suppress

import anyio
import pytest

from cache.errors import Denied, KnowledgeError, Unavailable
from cache.model import RepoRef
from sync.credentials import TokenSource
from sync.exchange import Unreachable
from sync.forge.base import Answer, File, TooBig
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient, HttpSettings
from tests.fake_gitea import (
    CutBody,
    Endless,
    Gzip,
    Hang,
    Json,
    Reply,
    Reset,
    redirect,
    serve,
    too_many,
    unavailable,
    web_page,
)
from tests.fake_gitea.faults import Effect
from tests.fake_gitea.forge import FakeGitea
from tests.support.gitea_client import ALICE, client_of, fake_forge, ref_of

pytestmark = pytest.mark.anyio

FILES = {f".wiki/p{number}.md": f"# {number}\n" for number in range(5)}


def web_of(forge: FakeGitea) -> RepoRef:
    return ref_of(forge.add_repo("acme/web", FILES))


async def read_all(client: GiteaForge, repo: RepoRef) -> tuple[Answer, ...]:
    return await client.read(repo, tuple(FILES), limit=1000)


@pytest.mark.parametrize(
    "effect",
    [
        Reset(),
        Reset(after=True),
        CutBody(),
        Gzip(cut=4),
        Reply(502),
        Reply(504),
        unavailable(),
        unavailable("0"),
        too_many("0"),
        too_many("Thu, 01 Jan 1970 00:00:00 GMT"),
    ],
    ids=repr,
)
async def test_what_passes_is_not_noticed(effect: Effect) -> None:
    forge = fake_forge()
    repo = web_of(forge)
    forge.faults.add(effect, times=1)
    async with client_of(forge) as client:
        assert all(isinstance(answer, File) for answer in await read_all(client, repo))
    assert len(forge.requests) == 2


@pytest.mark.parametrize(
    ("effect", "why"),
    [
        (Reset(), "connection (lost|closed)"),
        (Gzip(cut=4), "gzip that ends early"),
        (Reply(502), "HTTP 502 Bad Gateway"),
        (unavailable("3600"), "HTTP 503 Service Unavailable"),
        (web_page(200), "HTML where the API's answer was expected"),
        (Json({"message": "odd"}), "no list where the API's answer was expected"),
        (redirect("https://elsewhere.test/api/v1/repos/acme/web"), "it redirects to https://elsewhere.test"),
        (redirect("/user/login"), "it redirects"),
    ],
    ids=repr,
)
async def test_what_stays_is_told(effect: Effect, why: str) -> None:
    forge = fake_forge()
    repo = web_of(forge)
    forge.faults.add(effect)
    async with client_of(forge) as client:
        with pytest.raises(Unreachable, match=rf"127.0.0.1:\d+ unreachable: {why}"):
            await read_all(client, repo)


async def test_a_body_that_never_ends_is_given_up() -> None:
    forge = fake_forge()
    forge.faults.add(Endless(), route="/user/repos")
    async with client_of(forge) as client:
        with pytest.raises(Unreachable, match="far too much where the API's answer was expected"):
            await anext(client.listing())


async def test_a_file_that_never_ends_is_larger_than_the_limit() -> None:
    forge = fake_forge()
    repo = web_of(forge)
    forge.faults.add(Endless())
    async with client_of(forge) as client:
        (answer,) = await client.read(repo, [".wiki/p0.md"], limit=1000)
    assert answer == TooBig(".wiki/p0.md", 1000)


async def test_a_token_that_is_revoked_meanwhile_is_told() -> None:
    forge = fake_forge()
    repo = web_of(forge)
    async with client_of(forge) as client:
        await read_all(client, repo)
        forge.revoke(ALICE)
        with pytest.raises(Denied, match=r"token refused by 127\.0\.0\.1:\d+ — run gateway doctor"):
            await read_all(client, repo)


async def test_one_slow_and_one_missing_project_leave_the_others_whole() -> None:
    forge = fake_forge()
    repos = [ref_of(forge.add_repo(f"acme/r{number}", FILES)) for number in range(10)]
    forge.faults.add(Hang(), path="/repos/acme/r3/*")
    forge.remove("acme/r5")
    outcomes: dict[str, str] = {}

    async def read(client: GiteaForge, repo: RepoRef) -> None:
        try:
            with anyio.fail_after(0.5):
                outcomes[repo.name] = f"{len(await read_all(client, repo))} pages"
        except (KnowledgeError, TimeoutError) as error:
            outcomes[repo.name] = type(error).__name__

    async with client_of(forge) as client, anyio.create_task_group() as group:
        for repo in repos:
            group.start_soon(read, client, repo)
    expected = {repo.name: "5 pages" for repo in repos} | {"acme/r3": "TimeoutError", "acme/r5": "NotFound"}
    assert outcomes == expected


async def test_ten_projects_cost_ten_requests_and_two_waves() -> None:
    forge = fake_forge()
    repos = [ref_of(forge.add_repo(f"acme/r{number}", FILES)) for number in range(10)]
    forge.delay = 0.05
    async with client_of(forge) as client, anyio.create_task_group() as group:
        for repo in repos:
            group.start_soon(read_all, client, repo)
    assert forge.counts == {"GET /repos/{owner}/{repo}/file-contents": 10}
    assert forge.max_in_flight == 8


async def test_twenty_callers_at_once_neither_flood_the_forge_nor_starve() -> None:
    forge = fake_forge()
    repos = [ref_of(forge.add_repo(f"acme/r{number}", FILES)) for number in range(10)]
    forge.delay = 0.01
    done: list[int] = []

    async def ask(client: GiteaForge, caller: int) -> None:
        for repo in repos:
            paths = [f".wiki/p{caller % 5}.md", f".wiki/p{(caller + 1) % 5}.md", f"none-{caller}.md"]
            await client.read(repo, paths, limit=1000)
        done.append(caller)

    async with client_of(forge, max_in_flight=4) as client, anyio.create_task_group() as group:
        for caller in range(20):
            group.start_soon(ask, client, caller)
    assert forge.max_in_flight == 4
    assert len(forge.requests) == 200
    assert sorted(done) == list(range(20))


async def test_a_forge_that_is_overloaded_is_asked_for_less_at_once() -> None:
    forge = fake_forge()
    repos = [ref_of(forge.add_repo(f"acme/r{number}", FILES)) for number in range(16)]
    forge.faults.add(too_many("0"), times=8)
    forge.delay = 0.02
    async with client_of(forge) as client:
        async with anyio.create_task_group() as group:
            for repo in repos[:8]:
                group.start_soon(read_all, client, repo)
        forge.reset_counts()
        async with anyio.create_task_group() as group:
            for repo in repos:
                group.start_soon(read_all, client, repo)
    assert forge.max_in_flight <= 6


async def test_a_forge_that_is_restarted_is_found_again() -> None:
    forge = fake_forge()
    repo = web_of(forge)
    with serve(forge) as server:
        client = GiteaForge(
            "main", HttpClient(HttpSettings(patience=0.0)), GiteaSettings(server.url, token=TokenSource(token=ALICE))
        )
        await read_all(client, repo)
        server.stop()
        for _ in range(3):
            with pytest.raises(Unavailable, match="unreachable: connection"):
                await read_all(client, repo)
        server.start()
        with anyio.fail_after(10):
            await until_it_answers(client, repo)
        for _ in range(3):
            assert all(isinstance(answer, File) for answer in await read_all(client, repo))
        await client.aclose()


async def until_it_answers(client: GiteaForge, repo: RepoRef) -> None:
    while True:
        with suppress(Unreachable):
            await read_all(client, repo)
            return
        await anyio.sleep(0.05)


async def test_a_sync_sits_a_restart_out() -> None:
    forge = fake_forge()
    repo = web_of(forge)
    with serve(forge) as server:
        client = GiteaForge(
            "main", HttpClient(HttpSettings(patience=30.0)), GiteaSettings(server.url, token=TokenSource(token=ALICE))
        )
        server.stop()
        async with anyio.create_task_group() as group:
            group.start_soon(read_all, client, repo)
            await anyio.sleep(0.1)
            server.start()
        await client.aclose()
