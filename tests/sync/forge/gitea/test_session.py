"""One call: with the token, once for all who ask at the same time, and under a new name."""

import logging
from pathlib import Path

import anyio
import httpx2
import pytest

from cache.errors import Denied, KnowledgeError
from cache.model import ProjectKey, RepoRef
from sync.credentials import TokenSource
from sync.exchange import Response, Unreachable
from tests.fake_gitea.recordings import load
from tests.support.gitea_client import ALICE, Scripted, scripted_client
from tests.support.replies import replayed, reply

pytestmark = pytest.mark.anyio

OLD, NEW = "fake-old-token", "fake-new-token"
WEB = RepoRef(ProjectKey("main", 1), "acme/web", "main")
REPO = "GET /repos/acme/web"


class TestToken:
    async def test_it_goes_into_the_header_and_nowhere_else(self) -> None:
        network = Scripted({REPO: replayed("repo")})
        await scripted_client(network).find("acme/web")
        (request,) = network.sent
        assert request.headers["authorization"] == f"token {ALICE}"
        assert ALICE not in str(request.url)

    async def test_no_token_is_no_header(self) -> None:
        network = Scripted({REPO: replayed("repo")})
        await scripted_client(network, token=TokenSource()).find("acme/web")
        assert "authorization" not in network.sent[0].headers

    async def test_a_refused_one_is_read_again_from_its_file(self, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text(OLD, "utf-8")
        tokens = []

        def forge(request: httpx2.Request) -> httpx2.Response:
            tokens.append(request.headers["authorization"])
            file.write_text(NEW, "utf-8")
            return httpx2.Response(200 if NEW in tokens[-1] else 401, json=load("repo").json)

        client = scripted_client(forge, token=TokenSource(file=file))
        assert (await client.find("acme/web")).repo.name == "acme/node-utils"
        assert tokens == [f"token {OLD}", f"token {NEW}"]

    async def test_one_that_stays_refused_is_told(self, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text(OLD, "utf-8")
        network = Scripted({REPO: replayed("user-repos-invalid-token")})
        with pytest.raises(Denied, match=r"token refused by git\.example\.test — run gateway doctor"):
            await scripted_client(network, token=TokenSource(file=file)).find("acme/web")
        assert len(network.sent) == 1

    async def test_an_answer_that_repeats_it_keeps_it_out_of_messages(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        network = Scripted({REPO: reply({"message": f"bad header: token {ALICE}"}, 400)})
        with pytest.raises(KnowledgeError) as caught:
            await scripted_client(network).find("acme/web")
        assert "bad header: token ***" in caught.value.message
        assert ALICE not in caplog.text

    async def test_a_redirect_that_repeats_it_does_not_show_it(self) -> None:
        network = Scripted({REPO: Response(302, {"location": f"https://{ALICE}.evil.test/?token={ALICE}"})})
        with pytest.raises(Unreachable, match=r"it redirects to https://\*\*\*\.evil\.test"):
            await scripted_client(network).find("acme/web")


class TestRedirects:
    @pytest.mark.parametrize(
        "location", ["https://evil.test/api/v1/repos/acme/web", "//evil.test/x", "http://git.example.test/x"]
    )
    async def test_no_other_host_is_asked(self, location: str) -> None:
        network = Scripted({REPO: Response(302, {"location": location})})
        with pytest.raises(Unreachable, match="it redirects to"):
            await scripted_client(network).find("acme/web")
        assert [request.url.host for request in network.sent] == ["git.example.test"]

    async def test_a_post_is_sent_again_as_it_was(self) -> None:
        paths = [f"{'x' * 3000}/{number}.md" for number in range(2)]  # too much for an address
        moved = Response(301, {"location": "/api/v1/repos/bob/site/file-contents?ref=x"})
        network = Scripted(
            {
                "POST /repos/acme/web/file-contents?ref=x": moved,
                "POST /repos/bob/site/file-contents?ref=x": reply([None, None]),
            }
        )
        await scripted_client(network).read(WEB, paths, ref="x", limit=10)
        first, second = network.sent
        assert first.content == second.content
        assert second.headers["content-type"] == "application/json"

    async def test_circles_are_given_up(self) -> None:
        network = Scripted({REPO: Response(301, {"location": "/api/v1/repos/acme/web"})})
        with pytest.raises(Unreachable, match="redirects in circles"):
            await scripted_client(network).find("acme/web")
        assert len(network.sent) == 4

    async def test_a_listing_is_not_redirected(self) -> None:
        network = Scripted({"GET /user/repos?limit=50&page=1": Response(302, {"location": "/user/login"})})
        with pytest.raises(Unreachable, match=r"it redirects \(HTTP 302\)"):
            async for _ in scripted_client(network).listing():
                pass


class Busy:
    """A forge that answers nobody until it is told to ``go_on``."""

    def __init__(self) -> None:
        self.go_on = anyio.Event()
        self.requests = 0

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests += 1
        await self.go_on.wait()
        return httpx2.Response(200, json=load("repo").json)


class TestJoining:
    async def test_the_same_asked_at_once_is_asked_once(self) -> None:
        forge, found = Busy(), list[str]()
        client = scripted_client(forge)

        async def find() -> None:
            found.append((await client.find("acme/web")).repo.name)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(find)
            await anyio.wait_all_tasks_blocked()
            forge.go_on.set()
        assert found == ["acme/node-utils"] * 5
        assert forge.requests == 1

    async def test_one_that_gives_up_does_not_end_the_others(self) -> None:
        forge, found = Busy(), list[str]()
        client, impatient = scripted_client(forge), anyio.CancelScope()

        async def find(scope: anyio.CancelScope) -> None:
            with scope:
                found.append((await client.find("acme/web")).repo.name)

        async with anyio.create_task_group() as group:
            for scope in (impatient, anyio.CancelScope(), anyio.CancelScope()):
                group.start_soon(find, scope)
                await anyio.wait_all_tasks_blocked()
            impatient.cancel()
            await anyio.wait_all_tasks_blocked()
            forge.go_on.set()
        assert found == ["acme/node-utils"] * 2
        assert forge.requests == 2
