"""Labels and issues, on a fake forge that answers as a real one does."""

import json
from datetime import UTC, datetime

import httpx2
import pytest

from cache.errors import Denied, InvalidArgument, KnowledgeError, NotFound
from cache.model import ProjectKey, RepoRef
from sync.exchange import Unreachable
from sync.forge.gitea.failures import ScopeMissing
from tests.fake_gitea import Access, FakeGitea, Headers, Json, Limits, Reply
from tests.fake_gitea.recordings import load
from tests.fake_gitea.rehearse import TOKENS, recorded_world
from tests.fake_gitea.repository import Repo
from tests.support.gitea_client import Scripted, client_of, fake_forge, ref_of, scripted_client
from tests.support.replies import replayed

pytestmark = pytest.mark.anyio

BOB, LIMITED = "fake-token-bob", "fake-token-limited"
NONE = RepoRef(ProjectKey("main", 9), "acme/none", "main")
POST = "POST /repos/{owner}/{repo}/issues"
LIST = "GET /repos/{owner}/{repo}/issues"
LABELS = "GET /repos/{owner}/{repo}/labels"

DISABLED = 'denied: issues are disabled in alice/proj-004 — enable them, or set [tasks] filing to "file"'
REFUSED = [
    ("alice/proj-014", "alice", "denied: alice/proj-014 is archived — unarchive it, or write elsewhere"),
    ("alice/proj-004", "alice", DISABLED),
    ("alice/proj-004", "bob", DISABLED),
    ("acme/node-utils", "bob", "not_found: not found or not visible to this token"),
]


@pytest.fixture
def forge() -> FakeGitea:
    forge = fake_forge()
    forge.add_user("bob", token=BOB)
    return forge


@pytest.fixture
def repo(forge: FakeGitea) -> Repo:
    return forge.add_repo("acme/web", {"README.md": "# Web\n"})


def refuse(status: int, message: str) -> Reply:
    return Reply(status, json.dumps({"message": message}), "application/json")


class TestLabels:
    async def test_the_repositorys_and_the_organizations_are_one_list(self, forge: FakeGitea, repo: Repo) -> None:
        own, shared = repo.add_label("knowledge"), forge.add_org_label("acme", "org-wide")
        async with client_of(forge) as client:
            assert await client.labels(ref_of(repo)) == {"knowledge": own.id, "org-wide": shared.id}

    async def test_of_two_of_the_same_name_the_repositorys_counts(self, forge: FakeGitea, repo: Repo) -> None:
        forge.add_org_label("acme", "bug")
        own = repo.add_label("bug")
        async with client_of(forge) as client:
            assert await client.labels(ref_of(repo)) == {"bug": own.id}

    async def test_a_user_has_no_list_of_their_own(self, forge: FakeGitea) -> None:
        repo = forge.add_repo("alice/notes", {"README.md": "x"})
        label = repo.add_label("knowledge")
        async with client_of(forge) as client:
            assert await client.labels(ref_of(repo)) == {"knowledge": label.id}

    @pytest.mark.parametrize("limits", [Limits(), Limits(max_response_items=20)])
    async def test_all_pages_are_read(self, limits: Limits) -> None:
        forge = fake_forge(limits=limits)
        repo = forge.add_repo("acme/web", {"README.md": "x"})
        for number in range(51):
            repo.add_label(f"own-{number}")
            forge.add_org_label("acme", f"shared-{number}")
        async with client_of(forge) as client:
            assert len(await client.labels(ref_of(repo))) == 102

    async def test_a_list_that_tells_no_total_is_read_to_its_end(self, forge: FakeGitea, repo: Repo) -> None:
        for number in range(51):
            repo.add_label(f"own-{number}")
        forge.faults.add(Headers({"x-total-count": ""}), route="*/labels")
        async with client_of(forge) as client:
            assert len(await client.labels(ref_of(repo))) == 51
        assert forge.counts[LABELS] == 3

    async def test_a_list_that_does_not_end_is_given_up(self) -> None:
        def endless(request: httpx2.Request) -> httpx2.Response:
            is_list = request.url.path.endswith("/labels")
            return httpx2.Response(200, json=load("labels-list").json * 50 if is_list else load("repo").json)

        with pytest.raises(Unreachable, match="its list has more than 1000 entries"):
            await scripted_client(endless).labels(NONE)

    async def test_a_token_that_may_not_read_the_organizations_sees_the_repositorys(
        self, forge: FakeGitea, repo: Repo
    ) -> None:
        forge.add_org_label("acme", "org-wide")
        repo.add_label("knowledge")
        forge.add_token("alice", LIMITED, {"read:repository", "write:issue"})
        async with client_of(forge, token=LIMITED) as client:
            assert list(await client.labels(ref_of(repo))) == ["knowledge"]

    async def test_a_transferred_repository_has_its_new_owners(self, forge: FakeGitea, repo: Repo) -> None:
        old = ref_of(repo)
        forge.add_org_label("acme", "old")
        forge.rename("acme/web", "wikis/web")
        forge.add_org_label("wikis", "new")
        async with client_of(forge) as client:
            assert list(await client.labels(old)) == ["new"]

    async def test_a_repository_that_is_missing_is_not_found(self, forge: FakeGitea) -> None:
        async with client_of(forge) as client:
            with pytest.raises(NotFound, match="not visible"):
                await client.labels(NONE)


class TestFileIssue:
    async def test_it_is_filed_with_its_labels(self, forge: FakeGitea, repo: Repo) -> None:
        own, shared = repo.add_label("knowledge"), forge.add_org_label("acme", "org-wide")
        async with client_of(forge) as client:
            issue = await client.file_issue(ref_of(repo), title="Write Ü", body="– \u2028", labels=[own.id, shared.id])
        filed = repo.issues[issue.number]
        assert (filed.title, filed.body, filed.labels) == ("Write Ü", "– \u2028", [own, shared])
        assert (issue.title, issue.body, issue.labels) == ("Write Ü", "– \u2028", ("knowledge", "org-wide"))
        assert (issue.url, issue.at) == (f"{forge.root_url}acme/web/issues/1", filed.created.timestamp())

    @pytest.mark.parametrize(
        ("name", "repo"),
        [("issue-create-with-label", "alice/proj-000"), ("issue-create-with-organization-label", "acme/node-utils")],
    )
    async def test_it_goes_out_as_it_was_recorded(self, name: str, repo: str) -> None:
        forge, sent = recorded_world(), load(name).sent
        async with client_of(forge) as client:
            await client.file_issue(ref_of(forge.repo(repo)), **sent)
        assert json.loads(forge.requests[-1].body) == sent

    @pytest.mark.parametrize(
        ("name", "caller", "line"),
        [*REFUSED, ("alice/proj-003", "bob_readonly", "denied: token lacks the scope write:issue on")],
    )
    async def test_recorded_refusals_have_a_line_each(self, name: str, caller: str, line: str) -> None:
        forge = recorded_world()
        repo = forge.repo(name)
        before = dict(repo.issues)
        async with client_of(forge, token=TOKENS[caller]) as client:
            with pytest.raises(KnowledgeError) as caught:
                await client.file_issue(ref_of(repo), title="t", body="b", labels=[])
        assert caught.value.line.startswith(line)
        assert repo.issues == before

    @pytest.mark.parametrize(("name", "caller", "line"), REFUSED)
    async def test_what_the_repository_refuses_can_be_told_before(self, name: str, caller: str, line: str) -> None:
        forge = recorded_world()
        async with client_of(forge, token=TOKENS[caller]) as client:
            with pytest.raises(KnowledgeError) as caught:
                await client.demand_issues(ref_of(forge.repo(name)))
        assert caught.value.line == line
        assert {exchange.method for exchange in forge.requests} == {"GET"}

    async def test_before_it_is_filed_nothing_is_said_of_a_repository_that_takes_it(
        self, forge: FakeGitea, repo: Repo
    ) -> None:
        async with client_of(forge) as client:
            await client.demand_issues(ref_of(repo))
        assert repo.issues == {}

    @pytest.mark.parametrize("title", ["", " \n"])
    async def test_one_without_a_title_is_never_sent(self, forge: FakeGitea, repo: Repo, title: str) -> None:
        async with client_of(forge) as client:
            with pytest.raises(InvalidArgument, match="an issue needs a title") as caught:
                await client.file_issue(ref_of(repo), title=title, body="b", labels=[])
        assert (caught.value.argument, forge.requests) == ("title", [])

    async def test_a_tracker_elsewhere_is_no_place_to_file(self, forge: FakeGitea, repo: Repo) -> None:
        forge.faults.add(Json({"full_name": "acme/web", "has_issues": True, "external_tracker": {}}), method="GET")
        async with client_of(forge) as client:
            with pytest.raises(Denied, match="issues are disabled in acme/web"):
                await client.file_issue(ref_of(repo), title="t", body="", labels=[])
        assert POST not in forge.counts

    @pytest.mark.parametrize(
        ("fault", "line"),
        [
            (refuse(422, "title is too long"), "invalid_argument: 127.0.0.1:"),
            (refuse(403, "you are blocked"), "denied: 127.0.0.1:"),
            (refuse(412, "some condition"), "unavailable: 127.0.0.1:"),
        ],
        ids=repr,
    )
    async def test_other_refusals_keep_the_forges_words(
        self, forge: FakeGitea, repo: Repo, fault: Reply, line: str
    ) -> None:
        forge.faults.add(fault, method="POST")
        async with client_of(forge) as client:
            with pytest.raises(KnowledgeError) as caught:
                await client.file_issue(ref_of(repo), title="t", body="", labels=[])
        assert caught.value.line.startswith(line)
        assert json.loads(fault.body)["message"] in caught.value.line

    async def test_a_renamed_repository_is_filed_in_under_its_new_name(self, forge: FakeGitea, repo: Repo) -> None:
        old = ref_of(repo)
        forge.rename("acme/web", "acme/site")
        async with client_of(forge) as client:
            await client.file_issue(old, title="t", body="", labels=[])
        assert len(repo.issues) == 1

    async def test_half_a_character_is_left_to_the_forge(self) -> None:
        network = Scripted(
            {"GET /repos/acme/none": replayed("repo"), "POST /repos/acme/none/issues": replayed("issue-create")}
        )
        await scripted_client(network).file_issue(NONE, title="t\ud800", body="\udfff", labels=[])
        assert network.sent[-1].content == b'{"title": "t\\ud800", "body": "\\udfff", "labels": []}'


class TestRecentIssues:
    async def test_the_newest_come_first_open_or_not(self, forge: FakeGitea, repo: Repo) -> None:
        old = repo.add_issue("old")
        new, done = repo.add_issue("new"), repo.add_issue("done", "text")
        done.closed = done.updated
        async with client_of(forge) as client:
            issues = await client.recent_issues(ref_of(repo), since=new.updated.timestamp() + 0.9)
        assert [(issue.title, issue.body) for issue in issues] == [("done", "text"), ("new", "")]
        assert old.number not in [issue.number for issue in issues]

    async def test_they_are_asked_for_as_they_were_recorded(self) -> None:
        forge = recorded_world()
        since = datetime(2026, 11, 30, tzinfo=UTC).timestamp()
        async with client_of(forge) as client:
            await client.recent_issues(ref_of(forge.repo("acme/node-utils")), since=since)
        recorded = load("issue-list-since").target.removeprefix("/api/v1")
        assert forge.requests[0].target.replace("%3A", ":") == f"{recorded}&page=1"

    async def test_all_pages_are_read_and_pull_requests_are_none(self, forge: FakeGitea, repo: Repo) -> None:
        repo.commit({"a.md": "x"}, branch="knowledge/a")
        async with client_of(forge) as client:
            await client.propose(ref_of(repo), "knowledge/a", title="t", body="")
            for number in range(120):
                repo.add_issue(f"t{number}")
            issues = await client.recent_issues(ref_of(repo), since=0)
        assert [issue.title for issue in issues] == [f"t{number}" for number in reversed(range(120))]
        assert forge.counts[LIST] == 3

    async def test_more_than_can_be_looked_through_are_not_taken_for_all(self, forge: FakeGitea, repo: Repo) -> None:
        for number in range(1001):
            repo.add_issue(f"t{number}")
        async with client_of(forge) as client:
            with pytest.raises(Unreachable, match="its list has more than 1000 entries"):
                await client.recent_issues(ref_of(repo), since=0)

    @pytest.mark.parametrize("fault", [refuse(404, "not found"), refuse(403, "user should have permission")], ids=repr)
    async def test_where_issues_are_disabled_there_are_none(self, forge: FakeGitea, repo: Repo, fault: Reply) -> None:
        repo.has_issues = False
        forge.faults.add(fault, route="*/issues")
        async with client_of(forge) as client:
            assert list(await client.recent_issues(ref_of(repo), since=0)) == []

    async def test_any_other_refusal_is_told(self, forge: FakeGitea, repo: Repo) -> None:
        forge.faults.add(refuse(403, "you are blocked"), route="*/issues")
        async with client_of(forge) as client:
            with pytest.raises(Denied, match="you are blocked"):
                await client.recent_issues(ref_of(repo), since=0)

    async def test_a_missing_scope_is_named(self, forge: FakeGitea, repo: Repo) -> None:
        forge.add_token("alice", LIMITED, {"read:repository"})
        async with client_of(forge, token=LIMITED) as client:
            with pytest.raises(ScopeMissing, match="read:issue"):
                await client.recent_issues(ref_of(repo), since=0)

    async def test_a_repository_that_is_missing_is_not_found(self, forge: FakeGitea) -> None:
        async with client_of(forge) as client:
            with pytest.raises(NotFound, match="not visible"):
                await client.recent_issues(NONE, since=0)


async def test_labels_of_somebody_who_only_reads_are_dropped_by_the_forge(forge: FakeGitea, repo: Repo) -> None:
    label = repo.add_label("knowledge")
    repo.share("bob", Access.READ)
    async with client_of(forge, token=BOB) as client:
        issue = await client.file_issue(ref_of(repo), title="t", body="", labels=[label.id])
    assert repo.issues[issue.number].labels == []
