"""Where the default branch is protected, a page is proposed: one branch and one pull request for each."""

from __future__ import annotations

import pytest

from cache.errors import Conflict, Denied, Unavailable
from gateway.answers import Proposal
from sync.forge.writing import Protected, Unsettled
from tests.fake_gitea import Json, Reply, Reset, web_page
from tests.fake_gitea.objects import Identity
from tests.support.ingesting import INDEX, LINE, PAGE, PULL, WIKI, Desk, Fate, revision

pytestmark = pytest.mark.anyio

BRANCH = "knowledge/concepts/keys"
SECOND = "knowledge-2/concepts/keys"
ONE = WIKI[".wiki/concepts/one.md"]
MORE = "# Cache keys\n\nMore of them.\n"
BOB = Identity("Bob", "bob@example.test")


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.repo.protect()
    return desk


def titles(desk: Desk) -> list[str]:
    return [issue.title for issue, _ in desk.repo.open_pulls()]


class TestProposal:
    async def test_page_and_line_are_one_commit_on_a_branch_with_a_pull_request(self, desk: Desk) -> None:
        answer = await desk.ingest()
        assert (desk.page(branch=BRANCH), desk.index(branch=BRANCH).count(LINE)) == (PAGE, 1)
        assert (desk.page(), desk.index()) == (None, INDEX)
        assert (titles(desk), set(desk.repo.branches)) == (["wiki: add concepts/keys"], {"main", BRANCH})
        assert (answer.created, answer.revision, answer.commit) == (True, revision(PAGE), desk.repo.branches[BRANCH])

    async def test_the_answer_says_so(self, desk: Desk) -> None:
        answer = await desk.ingest()
        web = f"{desk.server.root_url}acme/web"
        assert answer.pull_request == Proposal(1, f"{web}/pulls/1")
        assert answer.url == f"{web}/src/branch/{BRANCH}/.wiki/concepts/keys.md"
        assert answer.next_action_hint == "it is proposed: others see it once pull request 1 is merged"

    async def test_the_cache_does_not_take_it_for_the_wiki(self, desk: Desk) -> None:
        await desk.ingest()
        assert "concepts/keys" not in desk.fleet.slugs("acme/web")

    async def test_a_page_that_is_there_is_changed_by_a_proposal(self, desk: Desk) -> None:
        answer = await desk.ingest("concepts/one", expected=revision(ONE))
        assert (answer.created, desk.page("concepts/one")) == (False, ONE)
        assert desk.page("concepts/one", branch="knowledge/concepts/one") == PAGE

    async def test_a_name_that_git_refuses_for_a_branch_is_escaped(self, desk: Desk) -> None:
        await desk.ingest("poetry.lock")
        assert "knowledge/concepts/poetry%2Elock" in desk.repo.branches

    async def test_who_may_push_needs_none(self, desk: Desk) -> None:
        desk.repo.protect(pushers=["alice"])
        assert (await desk.ingest()).pull_request is None
        assert desk.page() == PAGE

    async def test_a_conflict_is_one_here_too(self, desk: Desk) -> None:
        with pytest.raises(Conflict, match="page exists"):
            await desk.ingest("concepts/one")
        assert set(desk.repo.branches) == {"main"}

    async def test_an_index_that_changes_meanwhile_is_added_to(self, desk: Desk) -> None:
        def another() -> None:
            desk.repo.commit({".wiki/index.md": f"{desk.index()}- Bob's note\n"})

        await desk.meanwhile(lambda: None, another).ingest()
        assert (desk.index(branch=BRANCH).count(LINE), desk.index(branch=BRANCH).count("Bob's note")) == (1, 1)

    async def test_pull_requests_that_are_disabled_are_told_and_the_branch_is_kept(self, desk: Desk) -> None:
        missing = Reply(404, '{"message": "not found"}', "application/json;charset=utf-8")
        desk.server.faults.add(missing, method="POST", route="*/pulls")
        about = {"full_name": "acme/web", "has_pull_requests": False}
        desk.server.faults.add(Json(about), route="/repos/{owner}/{repo}", skip=1)
        with pytest.raises(Denied, match=f"pull requests are disabled in acme/web — enable them, or merge {BRANCH}"):
            await desk.ingest()
        assert desk.page(branch=BRANCH) == PAGE


class TestOpenProposal:
    async def test_the_same_again_finds_it(self, desk: Desk) -> None:
        first = await desk.ingest()
        commits = desk.commits
        again = await desk.ingest()
        assert (again.pull_request, again.created, again.commit) == (first.pull_request, False, None)
        assert (again.revision, desk.commits, desk.server.counts[PULL]) == (first.revision, commits, 1)

    async def test_who_has_its_revision_changes_it(self, desk: Desk) -> None:
        first = await desk.ingest()
        second = await desk.ingest(body=MORE, expected=first.revision)
        assert (second.pull_request, second.created) == (first.pull_request, False)
        assert (desk.page(branch=BRANCH), second.commit) == (MORE, desk.repo.branches[BRANCH])
        assert (len(titles(desk)), set(desk.repo.branches)) == (1, {"main", BRANCH})

    async def test_so_is_that_of_a_page_that_is_there(self, desk: Desk) -> None:
        first = await desk.ingest("concepts/one", expected=revision(ONE))
        second = await desk.ingest("concepts/one", body=MORE, expected=first.revision)
        assert second.pull_request == first.pull_request
        assert desk.page("concepts/one", branch="knowledge/concepts/one") == MORE

    async def test_it_is_not_overwritten_unread(self, desk: Desk) -> None:
        await desk.ingest()
        with pytest.raises(Conflict) as caught:
            await desk.ingest(body=MORE)
        assert caught.value.message.startswith(
            f"page exists: acme/web/.wiki/concepts/keys.md on branch {BRANCH} (pull request 1) is at revision"
            f" {revision(PAGE)}, changed by alice at "
        )
        assert desk.page(branch=BRANCH) == PAGE

    async def test_nor_what_somebody_has_changed_there(self, desk: Desk) -> None:
        first = await desk.ingest()
        desk.repo.commit({".wiki/concepts/keys.md": "# Bob's\n"}, branch=BRANCH, author=BOB)
        with pytest.raises(
            Conflict, match=rf"page changed: .* on branch {BRANCH} \(pull request 1\) .* changed by Bob"
        ):
            await desk.ingest(body=MORE, expected=first.revision)
        assert desk.page(branch=BRANCH) == "# Bob's\n"

    async def test_a_change_between_read_and_write_is_told(self, desk: Desk) -> None:
        first = await desk.ingest()

        def bob() -> None:
            desk.repo.commit({".wiki/concepts/keys.md": "# Bob's\n"}, branch=BRANCH, author=BOB)

        with pytest.raises(Conflict, match=rf"page changed: .* on branch {BRANCH} .* changed by Bob .* between read"):
            await desk.meanwhile(bob).ingest(body=MORE, expected=first.revision)
        assert desk.page(branch=BRANCH) == "# Bob's\n"

    async def test_a_dry_run_shows_the_change_of_it(self, desk: Desk) -> None:
        first = await desk.ingest()
        told = await desk.ingest(body=MORE, expected=first.revision, dry_run=True)
        assert "-Each build has its own.\n+More of them.\n" in (told.diff or "")
        assert told.next_action_hint == "it would be proposed by a pull request"
        assert desk.page(branch=BRANCH) == PAGE

    async def test_one_by_who_has_not_read_it_meets_the_conflict(self, desk: Desk) -> None:
        await desk.ingest()
        with pytest.raises(Conflict, match=rf"page exists: .* on branch {BRANCH}"):
            await desk.ingest(body=MORE, dry_run=True)
        assert (await desk.ingest(dry_run=True)).diff == ""

    async def test_once_it_is_merged_the_page_is_there(self, desk: Desk) -> None:
        first = await desk.ingest()
        desk.repo.merge(1)
        again = await desk.ingest()
        assert (again.pull_request, again.revision, again.created) == (None, first.revision, False)

    async def test_a_branch_that_takes_no_commit_either_is_told(self, desk: Desk) -> None:
        first = await desk.ingest()
        desk.repo.protect(BRANCH)
        with pytest.raises(Protected, match=f"branch {BRANCH} of acme/web is protected"):
            await desk.ingest(body=MORE, expected=first.revision)


class TestBranchWithoutProposal:
    async def test_one_that_holds_just_this_is_proposed(self, desk: Desk) -> None:
        desk.server.faults.add(web_page(403), method="POST", route="*/pulls", times=1)
        with pytest.raises(Denied):
            await desk.ingest()
        commits = desk.commits
        answer = await desk.ingest()
        assert (answer.pull_request, answer.created) == (Proposal(1, f"{desk.server.root_url}acme/web/pulls/1"), True)
        assert (desk.commits, answer.commit) == (commits, desk.repo.branches[BRANCH])

    async def test_one_that_was_merged_is_left_alone(self, desk: Desk) -> None:
        first = await desk.ingest()
        desk.repo.merge(1)
        merged = desk.repo.branches[BRANCH]
        answer = await desk.ingest("concepts/keys", body=MORE, expected=first.revision)
        assert desk.repo.branches[BRANCH] == merged
        assert (desk.page(branch=SECOND), titles(desk)) == (MORE, ["wiki: change concepts/keys"])
        assert answer.pull_request == Proposal(2, f"{desk.server.root_url}acme/web/pulls/2")

    async def test_the_next_one_is_gone_on_with_while_it_is_open(self, desk: Desk) -> None:
        await self.test_one_that_was_merged_is_left_alone(desk)
        answer = await desk.ingest("concepts/keys", body="Yet more.\n", expected=revision(MORE))
        assert (answer.pull_request, len(titles(desk))) == (
            Proposal(2, f"{desk.server.root_url}acme/web/pulls/2"),
            1,
        )
        assert desk.page(branch=SECOND) == "# Cache keys\n\nYet more.\n"

    async def test_somebodys_work_is_left_alone(self, desk: Desk) -> None:
        theirs = desk.repo.commit({".wiki/concepts/keys.md": "# Bob's\n"}, branch=BRANCH, author=BOB)
        await desk.ingest()
        assert desk.repo.branches[BRANCH] == theirs
        assert desk.page(branch=SECOND) == PAGE

    async def test_many_of_no_use_are_told(self, desk: Desk) -> None:
        for number in range(1, 10):
            name = BRANCH if number == 1 else BRANCH.replace("/", f"-{number}/", 1)
            desk.repo.commit({"x.md": str(number)}, branch=name)
        with pytest.raises(Conflict, match=f"acme/web has branches {BRANCH} to knowledge-9/concepts/keys without an"):
            await desk.ingest()


class TestLostAnswers:
    @pytest.mark.parametrize("fates", [["done"], ["undone"], ["late"], ["undone", "undone"], ["late", "late"]])
    async def test_a_branch_is_made_once_and_proposed(self, desk: Desk, fates: list[Fate]) -> None:
        answer = await desk.losing("answered", *fates).ingest()
        assert (answer.created, answer.commit) == (True, desk.repo.branches[BRANCH])
        assert (set(desk.repo.branches), len(titles(desk))) == ({"main", BRANCH}, 1)
        assert desk.page(branch=BRANCH) == PAGE

    async def test_one_that_cannot_be_looked_at_is_left_open(self, desk: Desk) -> None:
        desk.server.faults.add(Reset(after=True), method="POST", route="*/contents", skip=1, times=1)
        desk.server.faults.add(web_page(403), route="*/branches/*", skip=1)
        with pytest.raises(Unsettled):
            await desk.ingest()
        desk.server.faults.clear()
        assert (await desk.ingest()).pull_request is not None
        assert set(desk.repo.branches) == {"main", BRANCH}

    async def test_a_change_of_an_open_proposal_is_settled(self, desk: Desk) -> None:
        first = await desk.ingest()
        for fate in ("done", "undone", "late"):
            text = f"# Cache keys\n\n{fate}.\n"
            answer = await desk.losing(fate).ingest(body=text, expected=revision(desk.page(branch=BRANCH) or ""))
            assert (answer.pull_request, desk.page(branch=BRANCH)) == (first.pull_request, text)
            assert answer.commit == desk.repo.branches[BRANCH]

    async def test_a_pull_request_whose_answer_was_lost_is_found(self, desk: Desk) -> None:
        desk.server.faults.add(Reset(after=True), method="POST", route="*/pulls", times=1)
        assert (await desk.ingest()).pull_request is not None
        assert len(titles(desk)) == 1

    async def test_one_that_was_not_opened_is_by_the_same_call_again(self, desk: Desk) -> None:
        desk.server.faults.add(Reset(), method="POST", route="*/pulls", times=1)
        with pytest.raises(Unavailable):
            await desk.ingest()
        assert (await desk.ingest()).pull_request is not None
        assert (len(titles(desk)), set(desk.repo.branches)) == (1, {"main", BRANCH})
