"""Pull requests, on a fake forge that answers as a real one does."""

import json

import pytest

from cache.errors import Denied, NotFound, Unavailable
from cache.model import ProjectKey, RepoRef
from sync.forge.gitea.client import GiteaForge
from sync.forge.writing import Change, Edit, PullRequest
from tests.fake_gitea import FakeGitea, Json, Limits
from tests.fake_gitea.recordings import load
from tests.fake_gitea.rehearse import PROTECTED, recorded_world
from tests.fake_gitea.repository import Repo
from tests.support.gitea_client import client_of, fake_forge, ref_of

pytestmark = pytest.mark.anyio

HEAD = "knowledge/a"
CLOSED = {**load("pull-by-base-head").json, "state": "closed"}
POST, FIND, LIST = (
    "POST /repos/{owner}/{repo}/pulls",
    "GET /repos/{owner}/{repo}/pulls/{base}/{head}",
    "GET /repos/{owner}/{repo}/pulls",
)


@pytest.fixture
def forge() -> FakeGitea:
    return fake_forge()


@pytest.fixture
def repo(forge: FakeGitea) -> Repo:
    repo = forge.add_repo("acme/web", {"README.md": "# Web\n"})
    repo.commit({"a.md": "# A\n"}, branch=HEAD)
    return repo


async def propose(client: GiteaForge, repo: Repo, branch: str = HEAD) -> PullRequest:
    return await client.propose(ref_of(repo), branch, title="Knowledge: a", body="One page.")


def titles(repo: Repo) -> list[str]:
    return [issue.title for issue, _ in repo.open_pulls()]


class TestPropose:
    async def test_a_branch_is_proposed(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            pull = await propose(client, repo)
        assert pull == PullRequest(1, f"{forge.root_url}acme/web/pulls/1", HEAD)
        assert (titles(repo), forge.counts) == (["Knowledge: a"], {POST: 1})

    async def test_it_goes_out_as_it_was_recorded(self) -> None:
        forge, sent = recorded_world(), load("pull-create").sent
        repo = forge.repo(PROTECTED)
        page = Change(".wiki/concepts/retry.md", b"# Retry\n", None)
        async with client_of(forge) as client:
            await client.write(ref_of(repo), Edit("wiki: retry", (page,), new_branch=sent["head"]))
            await client.propose(ref_of(repo), sent["head"], title=sent["title"], body=sent["body"])
        assert json.loads(forge.requests[-1].body) == sent

    async def test_one_that_is_open_is_found(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            first = await propose(client, repo)
            assert await propose(client, repo) == first
        assert titles(repo) == ["Knowledge: a"]

    async def test_a_branch_that_was_merged_can_be_proposed_again(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            first = await propose(client, repo)
            repo.merge(first.number)
            repo.commit({"b.md": "# B\n"}, branch=HEAD)
            assert (await propose(client, repo)).number == 2

    async def test_a_branch_of_any_name_is_proposed(self, forge: FakeGitea, repo: Repo) -> None:
        branch = "knowledge/Ü 50%25 #1+"
        repo.commit({"b.md": "x"}, branch=branch)
        async with client_of(forge) as client:
            pull = await propose(client, repo, branch)
            assert (pull.branch, await client.open_pull(ref_of(repo), branch)) == (branch, pull)

    async def test_an_archived_repository_takes_none(self, forge: FakeGitea, repo: Repo) -> None:
        repo.archive()
        async with client_of(forge) as client:
            with pytest.raises(Denied, match="acme/web is archived — unarchive it, or write elsewhere"):
                await propose(client, repo)

    async def test_a_branch_that_is_missing_is_named(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            with pytest.raises(NotFound, match="acme/web has no branch gone"):
                await propose(client, repo, "gone")

    async def test_a_default_branch_that_changed_is_told(self, forge: FakeGitea, repo: Repo) -> None:
        old = RepoRef(ProjectKey("main", repo.id), "acme/web", "master")
        async with client_of(forge) as client:
            with pytest.raises(NotFound, match="master is no more the default branch of acme/web"):
                await client.propose(old, HEAD, title="t", body="")

    async def test_disabled_pull_requests_are_told(self, forge: FakeGitea, repo: Repo) -> None:
        forge.faults.add(Json({"full_name": "acme/web", "has_pull_requests": False}), route="/repos/{owner}/{repo}")
        async with client_of(forge) as client:
            with pytest.raises(Denied, match="pull requests are disabled in acme/web — enable them"):
                await propose(client, repo, "gone")

    async def test_a_branch_without_changes_keeps_the_forges_words(self, forge: FakeGitea, repo: Repo) -> None:
        repo.branches["same"] = repo.branches["main"]
        async with client_of(forge) as client:
            with pytest.raises(Unavailable, match=r"HTTP 422 .*: There are no changes between the head and the base"):
                await propose(client, repo, "same")

    async def test_one_that_is_there_and_is_not_found_keeps_the_forges_words(
        self, forge: FakeGitea, repo: Repo
    ) -> None:
        async with client_of(forge) as client:
            await propose(client, repo)
            forge.faults.add(Json(CLOSED), route="*/pulls/{base}/{head}")
            forge.faults.add(Json([]), route="*/pulls", method="GET")
            with pytest.raises(Unavailable, match="HTTP 409 Conflict: pull request already exists for these targets"):
                await propose(client, repo)
        assert forge.counts[POST] == 2


class TestOpenPull:
    async def test_there_may_be_none(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            assert await client.open_pull(ref_of(repo), HEAD) is None

    async def test_it_is_asked_for_as_it_was_recorded(self) -> None:
        forge = recorded_world()
        async with client_of(forge) as client:
            await client.open_pull(ref_of(forge.repo(PROTECTED)), "knowledge/retry")
        assert forge.requests[0].target == load("pull-by-base-head").target.removeprefix("/api/v1")

    async def test_one_that_is_open_costs_one_request(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            pull = await propose(client, repo)
            forge.reset_counts()
            assert await client.open_pull(ref_of(repo), HEAD) == pull
        assert forge.counts == {FIND: 1}

    async def test_one_that_was_merged_is_not_open(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            repo.merge((await propose(client, repo)).number)
            assert await client.open_pull(ref_of(repo), HEAD) is None

    async def test_an_older_one_that_the_forge_shows_hides_none(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            repo.merge((await propose(client, repo)).number)
            repo.commit({"b.md": "# B\n"}, branch=HEAD)
            pull = await propose(client, repo)
            forge.reset_counts()
            assert await client.open_pull(ref_of(repo), HEAD) == pull
        assert (pull.number, forge.counts) == (2, {FIND: 1, LIST: 1})

    async def test_it_is_found_among_many(self) -> None:
        forge = fake_forge(limits=Limits(max_response_items=2))
        repo = forge.add_repo("acme/web", {"README.md": "# Web\n"})
        forge.faults.add(Json(CLOSED), route="*/pulls/{base}/{head}")
        async with client_of(forge) as client:
            for number in range(5):
                repo.commit({f"{number}.md": "x"}, branch=f"knowledge/{number}")
                await propose(client, repo, f"knowledge/{number}")
            pull = await client.open_pull(ref_of(repo), "knowledge/0")
        assert pull is not None
        assert (pull.number, forge.counts[LIST]) == (1, 3)

    async def test_a_forks_branch_of_the_same_name_is_another(self, forge: FakeGitea, repo: Repo) -> None:
        other = json.loads(json.dumps(load("pulls-list").json))
        other[0]["head"].update(ref=HEAD, repo_id=repo.id + 1)
        forge.faults.add(Json(CLOSED), route="*/pulls/{base}/{head}")
        forge.faults.add(Json(other), route="*/pulls")
        async with client_of(forge) as client:
            assert await client.open_pull(ref_of(repo), HEAD) is None

    async def test_a_repository_that_is_missing_is_not_found(self, forge: FakeGitea) -> None:
        async with client_of(forge) as client:
            with pytest.raises(NotFound, match="not visible"):
                await client.open_pull(RepoRef(ProjectKey("main", 9), "acme/none", "main"), HEAD)
