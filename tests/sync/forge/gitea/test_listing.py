"""All repositories of a forge, in pages."""

from dataclasses import replace

import pytest

from cache.errors import Denied, KnowledgeError, NotFound
from sync.exchange import Response, Unreachable
from sync.forge.gitea.client import GiteaForge
from tests.fake_gitea import Delay, Limits, NullEntries, Reply, web_page
from tests.fake_gitea.forge import FakeGitea
from tests.fake_gitea.recordings import load
from tests.support.gitea_client import Scripted, client_of, fake_forge, scripted_client
from tests.support.replies import reply

pytestmark = pytest.mark.anyio

MINE = "GET /user/repos"
LIMITED = "fake-token-limited"


async def names(client: GiteaForge) -> list[str]:
    return [listed.repo.name async for page in client.listing() for listed in page.projects]


def forge_of(count: int, *, owner: str = "alice", limits: Limits | None = None) -> FakeGitea:
    forge = fake_forge(limits=limits)
    for number in range(count):
        forge.add_repo(f"{owner}/r{number:03}")
    return forge


def page(*numbers: int, total: int, link: str) -> Response:
    """A page of a listing with the repositories of these ids."""
    repos = [{**load("repo").json, "id": number, "full_name": f"acme/r{number}"} for number in numbers]
    return reply(repos, headers={"link": link, "x-total-count": str(total)})


async def test_every_repository_is_listed_once() -> None:
    async with client_of(forge_of(134)) as client:
        assert await names(client) == [f"alice/r{number:03}" for number in range(134)]


async def test_the_pages_after_the_first_are_asked_for_side_by_side() -> None:
    forge = forge_of(200)
    forge.delay = 0.05
    async with client_of(forge) as client:
        await names(client)
    assert forge.counts == {MINE: 4}
    assert forge.max_in_flight == 3


async def test_a_forge_whose_pages_are_smaller_is_listed_whole() -> None:
    forge = forge_of(101, limits=Limits(max_response_items=20))
    async with client_of(forge) as client:
        assert len(await names(client)) == 101
    assert forge.counts == {MINE: 6}


async def test_a_fleet_of_many_pages_is_listed_whole() -> None:
    forge = forge_of(205, limits=Limits(max_response_items=5))
    async with client_of(forge) as client:
        assert len(await names(client)) == 205
    assert forge.counts == {MINE: 41}


async def test_no_repository_is_a_complete_listing_too() -> None:
    async with client_of(forge_of(0)) as client:
        assert await names(client) == []


async def test_the_total_is_a_hint() -> None:
    forge = forge_of(60)
    async with client_of(forge) as client:
        assert [page.total async for page in client.listing()] == [60, 60]


async def test_a_total_that_counts_what_nobody_sees_is_no_loop_condition() -> None:
    forge = forge_of(60)
    forge.overcount = 500
    async with client_of(forge) as client:
        assert len(await names(client)) == 60


async def test_null_entries_are_passed_over() -> None:
    forge = forge_of(60)
    forge.faults.add(NullEntries((0, 3)), route="/user/repos")
    async with client_of(forge) as client:
        assert len(await names(client)) == 60


async def test_the_repositories_of_a_user_can_be_listed_instead() -> None:
    forge = forge_of(3)
    forge.add_user("bob", token="fake-token-bob")  # noqa: S106
    forge.add_repo("bob/tools")
    async with client_of(forge, user="bob") as client:
        assert await names(client) == ["bob/tools"]
    assert forge.counts == {"GET /users/{username}/repos": 1}


async def test_organizations_are_added_and_nothing_is_listed_twice() -> None:
    forge = forge_of(2)
    forge.add_org("acme", owners=["alice"])
    forge.add_org("other")
    forge.add_repo("acme/web")
    forge.add_repo("other/open")
    async with client_of(forge, orgs=("acme", "other")) as client:
        assert sorted(await names(client)) == ["acme/web", "alice/r000", "alice/r001", "other/open"]


async def test_an_organization_that_is_not_there_keeps_nothing_back_but_is_told() -> None:
    async with client_of(forge_of(2), orgs=("typo",)) as client:
        listing = client.listing()
        assert len((await anext(listing)).projects) == 2
        with pytest.raises(NotFound, match="organization typo not found or not visible to this token"):
            await anext(listing)


async def test_a_page_that_fails_makes_the_listing_incomplete() -> None:
    forge = forge_of(134)
    forge.faults.add(Reply(500), path="/user/repos", skip=2)
    async with client_of(forge) as client:
        with pytest.raises(KnowledgeError, match="HTTP 500"):
            await names(client)


async def test_a_page_that_is_html_makes_the_listing_incomplete() -> None:
    forge = forge_of(134)
    forge.faults.add(web_page(200), path="/user/repos", skip=1)
    async with client_of(forge) as client:
        with pytest.raises(Unreachable, match="HTML where the API's answer was expected"):
            await names(client)


async def test_a_token_without_the_scope_is_told_which() -> None:
    forge = forge_of(1)
    forge.add_token("alice", LIMITED, {"read:repository"})
    async with client_of(forge, token=LIMITED) as client:
        with pytest.raises(Denied, match="token lacks the scope read:user"):
            await names(client)


async def test_a_slow_page_does_not_change_the_order() -> None:
    forge = forge_of(150)
    forge.faults.add(Delay(0.1), path="/user/repos", skip=1, times=1)
    async with client_of(forge) as client:
        assert await names(client) == [f"alice/r{number:03}" for number in range(150)]


async def test_a_repository_that_moves_up_while_the_listing_is_read_is_not_missed() -> None:
    """Between pages one and two the first repository goes away: the third one moves to page one, which was read."""
    first, second = "GET /user/repos?limit=50&page=1", "GET /user/repos?limit=50&page=2"
    goes_on = '<https://git.example.test/?page=2>; rel="next"'
    network = Scripted(
        {
            first: [page(1, 2, total=4, link=goes_on), page(2, 3, total=3, link=goes_on)],
            second: page(4, total=3, link='<x>; rel="first"'),
        }
    )
    assert await names(scripted_client(network)) == ["acme/r1", "acme/r2", "acme/r4", "acme/r3"]


async def test_small_pages_whose_headers_a_proxy_drops_are_listed_to_an_empty_one() -> None:
    def bare(*numbers: int) -> Response:
        return replace(page(*numbers, total=0, link=""), headers={})

    target = "GET /user/repos?limit=50&page={}"
    sent = {1: bare(*range(20)), 2: bare(*range(20, 30)), 3: bare()}
    network = Scripted({target.format(number): answer for number, answer in sent.items()})
    assert len(await names(scripted_client(network))) == 30


async def test_a_listing_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sync.forge.gitea.listing.MOST_PAGES", 5)
    answers = {
        f"GET /user/repos?limit=50&page={number}": page(
            number, total=9, link='<x>; rel="next", <x?page=99999>; rel="last"'
        )
        for number in range(1, 50)
    }
    with pytest.raises(Unreachable, match="its listing does not end"):
        await names(scripted_client(Scripted(answers)))
