"""What a survey finds out of a forge that answers as a real one does, and of what is none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from cache.errors import Denied, KnowledgeError, NotFound
from sync.credentials import TokenSource
from sync.exchange import Trouble, Unreachable
from sync.forge.gitea.about import Listed, Quota, Server, Survey
from sync.forge.gitea.client import GiteaSettings
from sync.forge.gitea.failures import NoRoute, ScopeMissing
from sync.forge.gitea.probe import Found, Prober, locate
from sync.forge.gitea.site import addresses
from sync.http import HttpClient, HttpSettings
from tests.fake_gitea import (
    FORGEJO,
    FakeGitea,
    Headers,
    Reply,
    listen,
    redirect,
    too_many,
    undescribed,
    web_page,
)
from tests.support.gitea_client import ALICE, fake_forge
from tests.support.loopback import closed_port

pytestmark = pytest.mark.anyio

BOB = "fake-token-bob"
NOW = 1_780_000_000.0


@asynccontextmanager
async def client() -> AsyncIterator[HttpClient]:
    http = HttpClient(HttpSettings(patience=0.0))
    try:
        yield http
    finally:
        await http.aclose()


async def survey_of(url: str, *, token: str = ALICE, user: str = "", orgs: tuple[str, ...] = ()) -> Survey:
    async with client() as http:
        return await Prober(http, GiteaSettings(url, user, orgs, TokenSource(token=token))).survey()


@pytest.fixture
def forge() -> FakeGitea:
    forge = fake_forge()
    for number in range(60):
        forge.add_repo(f"alice/project-{number}", {".wiki/index.md": "# Wiki\n"})
    return forge


@pytest.fixture
def url(forge: FakeGitea) -> Iterator[str]:
    with listen(forge) as url:
        yield url
    assert undescribed(exchange for exchange in forge.requests if exchange.route) == []


class TestAll:
    async def test_all_is_learned_in_a_handful_of_requests(self, forge: FakeGitea, url: str) -> None:
        survey = await survey_of(url)
        assert (survey.server, survey.login) == (Server("development"), "alice")
        assert survey.scopes == dict.fromkeys(("read:user", "read:repository", "write:repository", "write:issue"), True)
        assert survey.listings == (Listed("", 60),)
        assert survey.batches is True
        assert survey.skew is not None
        assert abs(survey.skew) < 5
        assert len(forge.requests) == 6

    async def test_nothing_is_written_on_the_way(self, forge: FakeGitea, url: str) -> None:
        before = {repo.id: repo.tip("main") for repo in forge.repos.values()}
        await survey_of(url)
        assert {repo.id: repo.tip("main") for repo in forge.repos.values()} == before
        assert not any(repo.issues for repo in forge.repos.values())

    async def test_who_asks_first_shows_no_token(self, forge: FakeGitea, url: str) -> None:
        await survey_of(url)
        assert "authorization" not in forge.requests[0].headers
        assert all("authorization" in request.headers for request in forge.requests[1:])

    async def test_an_older_forge_has_no_batches(self, forge: FakeGitea, url: str) -> None:
        forge.dialect = FORGEJO
        survey = await survey_of(url)
        assert survey.batches is False
        assert isinstance(survey.server, Server)
        assert survey.server.title == "Forgejo 11.0.3"

    async def test_a_forge_that_wants_a_token_first_tells_its_version_then(self, forge: FakeGitea, url: str) -> None:
        refusal = Reply(403, '{"message": "Only signed in user is allowed to call APIs."}', "application/json")
        forge.faults.add(refusal, times=1)
        assert (await survey_of(url)).server == Server("development")

    async def test_a_clock_that_is_off_shows(self, forge: FakeGitea, url: str) -> None:
        forge.date_skew = -3600.0
        survey = await survey_of(url)
        assert survey.skew == pytest.approx(-3600.0, abs=5)

    async def test_limits_show(self, forge: FakeGitea, url: str) -> None:
        forge.faults.add(Headers({"x-ratelimit-limit": "100", "x-ratelimit-remaining": "3"}))
        assert (await survey_of(url)).quota == Quota(100, 3)


class TestToken:
    async def test_a_refused_one_ends_the_survey(self, forge: FakeGitea, url: str) -> None:
        survey = await survey_of(url, token=BOB)
        assert isinstance(survey.login, Denied)
        assert survey.listings == ()
        assert forge.counts == {"GET /version": 1, "GET /user": 1}

    async def test_one_that_cannot_be_had_is_sent_nowhere(self, forge: FakeGitea, url: str) -> None:
        async with client() as http:
            settings = GiteaSettings(url, token=TokenSource(command="false"))
            survey = await Prober(http, settings).survey()
        assert isinstance(survey.login, Denied)
        assert "token_command failed" in survey.login.message
        assert forge.counts == {"GET /version": 1}

    async def test_without_one_only_what_is_public_is_listed(self, forge: FakeGitea, url: str) -> None:
        survey = await survey_of(url, token="", user="alice")
        assert survey.login is None
        assert survey.listings == (Listed("user alice", 60),)
        assert survey.scopes == {}

    @pytest.mark.parametrize(
        ("scopes", "missing"),
        [
            ({"read:user", "read:repository"}, {"write:repository", "write:issue"}),
            ({"read:user", "write:repository"}, {"write:issue"}),
            ({"read:user", "read:repository", "write:issue"}, {"write:repository"}),
            ({"read:user", "write:issue"}, {"read:repository", "write:repository"}),
            ({"write:repository", "write:issue"}, {"read:user"}),
            ({"read:issue"}, {"read:user", "read:repository", "write:repository", "write:issue"}),
        ],
    )
    async def test_each_missing_scope_is_found_by_trying(
        self, forge: FakeGitea, url: str, scopes: set[str], missing: set[str]
    ) -> None:
        forge.add_user("bob", token=BOB, scopes=scopes)
        survey = await survey_of(url, token=BOB)
        assert {scope for scope, has in survey.scopes.items() if not has} == missing
        assert len(survey.scopes) == 4

    async def test_listing_organizations_takes_a_scope_of_its_own(self, forge: FakeGitea, url: str) -> None:
        forge.add_org("acme")
        forge.add_user("bob", token=BOB, scopes={"read:user", "write:repository", "write:issue"})
        survey = await survey_of(url, token=BOB, orgs=("acme",))
        assert survey.scopes["read:organization"] is False
        assert {scope for scope, has in survey.scopes.items() if has} == {
            "read:user", "read:repository", "write:repository", "write:issue",
        }  # fmt: skip
        assert isinstance(survey.listings[1].found, ScopeMissing)

    async def test_what_is_not_there_to_be_listed_is_told(self, forge: FakeGitea, url: str) -> None:
        survey = await survey_of(url, orgs=("nobody",))
        assert [type(listed.found) for listed in survey.listings] == [int, NotFound]
        assert all(survey.scopes.values())


class TestWrongAddress:
    async def test_a_repositorys_own_is_told_from_the_forges(self, forge: FakeGitea, url: str) -> None:
        survey = await survey_of(f"{url}alice/project-1")
        assert isinstance(survey.server, NoRoute)
        assert survey.better_url == url.rstrip("/")
        assert not any("authorization" in request.headers for request in forge.requests)

    async def test_one_that_redirects_tells_where_to(self, forge: FakeGitea, url: str) -> None:
        forge.faults.add(redirect(f"{url}api/v1/version", 301), times=2)
        survey = await survey_of(url.replace("127.0.0.1", "localhost"))
        assert isinstance(survey.server, Unreachable)
        assert survey.better_url == url.rstrip("/")

    async def test_a_page_for_people_is_no_forge(self, forge: FakeGitea, url: str) -> None:
        forge.faults.add(web_page())
        survey = await survey_of(url)
        assert isinstance(survey.server, Unreachable)
        assert (survey.server.trouble, survey.better_url) == (Trouble.WRONG, None)

    async def test_nobody_there_is_found_out_once(self) -> None:
        survey = await survey_of(f"http://127.0.0.1:{closed_port()}/a/b/c")
        assert isinstance(survey.server, Unreachable)
        assert survey.server.trouble is Trouble.CONNECT

    async def test_a_forge_that_wants_to_be_left_alone_is_not_asked_on(self, forge: FakeGitea, url: str) -> None:
        forge.faults.add(too_many("3600"))
        survey = await survey_of(f"{url}alice/project-1")
        assert isinstance(survey.server, Unreachable)
        assert survey.server.trouble is Trouble.BUSY
        assert len(forge.requests) == 1


class TestLocate:
    @pytest.mark.parametrize("below", ["", "alice/project-1", "alice/project-1.git", "api/v1/version", "user/settings"])
    async def test_the_root_is_found_from_what_was_pasted(self, url: str, below: str) -> None:
        async with client() as http:
            found = await locate(http, addresses(url + below))
        assert found == Found(url.rstrip("/"), Server("development"))

    async def test_a_forge_below_a_path_is_found_there(self, forge: FakeGitea) -> None:
        forge.root_url = "http://git.example.test/tools/gitea/"
        with listen(forge) as url:
            async with client() as http:
                found = await locate(http, addresses(f"{url}alice/project-1/issues"))
        assert found.url == url.rstrip("/")
        assert found.url.endswith("/tools/gitea")

    async def test_where_there_is_none_the_first_error_is_told(self, forge: FakeGitea, url: str) -> None:
        forge.faults.add(web_page())
        async with client() as http:
            with pytest.raises(KnowledgeError, match="HTML where the API's answer was expected"):
                await locate(http, addresses(f"{url}acme"))

    async def test_redirects_in_circles_end(self, forge: FakeGitea, url: str) -> None:
        forge.faults.add(redirect(f"{url}api/v1/version"))
        async with client() as http:
            with pytest.raises(Unreachable, match="it redirects"):
                await locate(http, [url])
        assert len(forge.requests) == 3
