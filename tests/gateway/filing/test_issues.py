"""A task that becomes an issue."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cache.errors import InvalidArgument, KnowledgeError
from cache.model import SAME_TASK
from gateway.answers import TaskAnswer
from gateway.filing import TaskRequest
from gateway.write_policy import WritePolicy
from sync.tasks import MAX_BODY
from tests.fake_gitea import Access
from tests.support.filing import BODY, COMMIT, LIST, POST, Desk
from tests.support.gitea_client import client_of

pytestmark = pytest.mark.anyio

BOB = "fake-token-bob"


async def refusal(desk: Desk, body: str = BODY, **more: object) -> str:
    with pytest.raises(KnowledgeError) as caught:
        await desk.file(body, **more)  # type: ignore[arg-type] # the same arguments
    return caught.value.line


class TestFiled:
    async def test_it_is_an_issue_with_the_text_and_an_invisible_marker(self, desk: Desk) -> None:
        answer = await desk.file()
        url = f"{desk.server.root_url}acme/web/issues/1"
        assert answer == TaskAnswer("acme/web", "issue", created=True, dry_run=False, number=1, url=url)
        issue = desk.repo.issues[1]
        assert issue.title == "Fix yarn"
        assert issue.body.startswith("# Fix yarn\n\nIt fails on Windows.\n\n<!-- gateway task ")

    async def test_it_takes_one_request_that_writes_and_two_looks(self, desk: Desk) -> None:
        await desk.file()
        assert desk.server.counts == {
            "GET /repos/{owner}/{repo}/git/trees/{sha}": 1,
            LIST: 2,
            "GET /repos/{owner}/{repo}": 1,
            POST: 1,
        }

    async def test_a_title_of_its_own_is_its_title(self, desk: Desk) -> None:
        await desk.file(title=" Yarn ")
        assert desk.repo.issues[1].title == "Yarn"

    async def test_it_is_filed_in_an_empty_repository_too(self, desk: Desk) -> None:
        desk.server.add_repo("acme/new", {})
        await desk.fleet.sync()
        assert (await desk.file(project="acme/new")).kind == "issue"

    async def test_a_renamed_repository_gets_it(self, desk: Desk) -> None:
        desk.repo.rename("acme/site")
        assert (await desk.file()).number == 1
        assert len(desk.server.repo("acme/site").issues) == 1


class TestAgain:
    async def test_the_same_text_is_the_first_task_and_nobody_is_asked(self, desk: Desk) -> None:
        first = await desk.file()
        desk.server.reset_counts()
        assert await desk.file(BODY.replace("\n", "\r\n") + "\n") == replace(first, created=False)
        assert desk.server.counts == {}

    async def test_clearing_the_cache_does_not_forget_it(self, desk: Desk) -> None:
        first = await desk.file()
        desk.fleet.store.clear()
        await desk.fleet.sync()
        desk.server.reset_counts()
        assert await desk.file() == replace(first, created=False)
        assert desk.server.counts == {}

    async def test_other_labels_do_not_make_it_another(self, desk: Desk) -> None:
        desk.repo.add_label("bug")
        await desk.file()
        assert not (await desk.file(labels=["bug"])).created

    @pytest.mark.parametrize(("body", "title"), [(BODY + "Now.\n", None), (BODY, "Yarn")])
    async def test_another_text_or_title_does(self, desk: Desk, body: str, title: str | None) -> None:
        await desk.file()
        answer = await desk.file(body, title=title)
        assert (answer.number, answer.created) == (2, True)

    async def test_another_project_does(self, desk: Desk) -> None:
        desk.server.add_repo("acme/api", {"README.md": "x"})
        await desk.fleet.sync()
        await desk.file()
        assert (await desk.file(project="acme/api")).created

    async def test_a_day_later_it_is_filed_anew(self, desk: Desk) -> None:
        await desk.file()
        desk.later(SAME_TASK - 60)
        assert not (await desk.file()).created
        desk.later(120)
        answer = await desk.file()
        assert (answer.number, answer.created) == (2, True)

    async def test_a_forge_whose_clock_is_years_off_changes_nothing(self, desk: Desk) -> None:
        desk.server.clock.advance(-1e9)
        await desk.file()
        assert not (await desk.file()).created
        assert len(desk.repo.issues) == 1

    async def test_a_gateway_with_another_cache_finds_it(self, desk: Desk, elsewhere: Desk) -> None:
        first = await desk.file()
        assert await elsewhere.file() == replace(first, created=False)
        desk.server.reset_counts()
        assert await elsewhere.file() == replace(first, created=False)
        assert desk.server.counts == {}

    async def test_so_it_does_if_that_was_closed_meanwhile(self, desk: Desk, elsewhere: Desk) -> None:
        await desk.file()
        desk.repo.issues[1].closed = desk.server.clock.advance(1)
        assert (await elsewhere.file()).number == 1

    async def test_and_files_it_anew_a_day_later(self, desk: Desk, elsewhere: Desk) -> None:
        await desk.file()
        desk.later(SAME_TASK + 1)
        desk.repo.issues[1].updated = desk.server.clock.now
        assert (await elsewhere.file()).number == 2

    async def test_a_refused_project_tells_nothing_of_what_was_filed(self, desk: Desk) -> None:
        await desk.file()
        desk.policy = WritePolicy(allow=())
        assert (await refusal(desk)).startswith("denied: acme/web is not to be written to")


class TestLabels:
    async def test_those_of_the_repository_and_of_its_organization_are_set(self, desk: Desk) -> None:
        desk.repo.add_label("bug")
        desk.server.add_org_label("acme", "Knowledge")
        answer = await desk.file(labels=["knowledge", "bug", " bug "])
        assert sorted(label.name for label in desk.repo.issues[1].labels) == ["Knowledge", "bug"]
        assert answer.warning is None

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_one_that_does_not_exist_is_an_error_with_those_that_do(self, desk: Desk, dry_run: bool) -> None:
        desk.repo.add_label("bug")
        desk.server.add_org_label("acme", "org-wide")
        with pytest.raises(InvalidArgument, match="no label is called idea — there are: bug, org-wide") as caught:
            await desk.file(labels=["idea"], dry_run=dry_run)
        assert caught.value.argument == "labels"
        assert desk.posts == 0

    async def test_after_that_it_can_be_filed_at_once(self, desk: Desk) -> None:
        await refusal(desk, labels=["idea"])
        assert (await desk.file()).created

    async def test_somebody_who_may_not_set_them_is_told(self, desk: Desk) -> None:
        desk.repo.add_label("bug")
        desk.repo.share("bob", Access.READ)
        desk.server.add_user("bob", token=BOB)
        async with client_of(desk.server, token=BOB) as client:
            desk.forge = client
            answer = await desk.file(labels=["bug"])
        assert (answer.number, answer.created) == (1, True)
        assert answer.warning == "#1 is without bug: labels take a token that may write issues there"


class TestRefused:
    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_in_an_archived_repository(self, desk: Desk, dry_run: bool) -> None:
        desk.repo.archive()
        line = "denied: acme/web is archived — unarchive it, or write elsewhere"
        assert await refusal(desk, dry_run=dry_run) == line
        desk.repo.archived = None
        assert (await desk.file()).created  # nothing was sent, so nothing is waited for

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_where_issues_are_disabled(self, desk: Desk, dry_run: bool) -> None:
        desk.repo.has_issues = False
        line = 'denied: issues are disabled in acme/web — enable them, or set [tasks] filing to "file"'
        assert await refusal(desk, dry_run=dry_run) == line
        assert desk.posts == 0

    @pytest.mark.parametrize(
        ("scopes", "missing"),
        [({"read:repository"}, "read:issue"), ({"read:repository", "read:issue"}, "write:issue")],
    )
    async def test_with_a_token_without_the_scope(self, desk: Desk, scopes: set[str], missing: str) -> None:
        desk.server.add_token("alice", "fake-token-limited", scopes)
        async with client_of(desk.server, token="fake-token-limited") as client:  # noqa: S106
            desk.forge = client
            line = await refusal(desk)
        assert line.startswith(f"denied: token lacks the scope {missing} on 127.0.0.1:")
        assert "— run gateway doctor" in line
        desk.forge = None
        assert (await desk.file()).created

    async def test_in_a_repository_that_is_gone(self, desk: Desk) -> None:
        project = desk.fleet.project("acme/web")
        desk.server.remove("acme/web")
        assert await refusal(desk) == "not_found: not found or not visible to this token"
        assert desk.fleet.project("acme/web") == project

    async def test_outside_of_the_allow_list(self, desk: Desk) -> None:
        desk.policy = WritePolicy(allow=("acme/api", "other/*"))
        assert await refusal(desk) == "denied: acme/web is not to be written to — add it to [write] allow"

    async def test_by_a_gateway_that_is_read_only(self, desk: Desk) -> None:
        desk.policy = WritePolicy(read_only=True)
        line = "denied: this gateway is read-only — start it without --read-only, and unset [gateway] read_only"
        assert await refusal(desk) == line

    @pytest.mark.parametrize("where", ["body", "title", "labels"])
    async def test_with_a_secret_in_it(self, desk: Desk, where: str) -> None:
        secret = "ghp_" + "9fK2mQ7xLw4RtB8vNc3ZpY6sHd1JgA5uEo0X"
        texts: dict[str, object] = {"body": BODY, where: [secret] if where == "labels" else f"Use {secret}"}
        line = await refusal(desk, **texts)  # type: ignore[arg-type] # the same arguments
        assert line.startswith(f"denied: secret in {where}: line 1 looks like a GitHub token — remove it, or set ")
        assert secret not in line
        assert desk.server.counts == {}
        if where != "labels":
            desk.policy = WritePolicy(allow_secrets=True)
            assert (await desk.file(**texts)).created  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("body", "title", "line"),
        [
            ("", None, "invalid_argument: body is empty — say what is to be done"),
            (" \n", "Fix yarn", "invalid_argument: body is empty — say what is to be done"),
            ("é" * (MAX_BODY // 2 + 1), None, "too_large: body is larger than 1048576 bytes"),
            ("…", None, "invalid_argument: body holds no word to take a title from — give a title"),
            ("x", "", "invalid_argument: title is empty — leave it out to have it taken from the body"),
            ("x", "t" * 256, "invalid_argument: title must have at most 255 characters, not 256"),
            ("x", "a\nb", "invalid_argument: title must be one line without control characters"),
        ],
        ids=["empty", "blank", "large", "wordless", "untitled", "long-title", "two-lines"],
    )
    async def test_what_is_no_task(self, desk: Desk, body: str, title: str | None, line: str) -> None:
        assert await refusal(desk, body, title=title) == line
        assert desk.server.counts == {}

    async def test_for_a_forge_that_is_configured_no_more(self, desk: Desk) -> None:
        filer = replace(desk.filer, forges={})
        project = desk.fleet.project("acme/web")
        with pytest.raises(KnowledgeError, match="forge main is not configured any more"):
            await filer.file(project, TaskRequest(BODY))


class TestDryRun:
    async def test_it_says_what_would_be_filed_and_files_nothing(self, desk: Desk) -> None:
        desk.repo.add_label("bug")
        answer = await desk.file(labels=["bug"], dry_run=True)
        assert answer == TaskAnswer("acme/web", "issue", created=True, dry_run=True)
        assert desk.posts == 0
        assert (await desk.file()).created

    async def test_of_what_was_filed_it_says_so(self, desk: Desk) -> None:
        first = await desk.file()
        assert await desk.file(dry_run=True) == replace(first, created=False, dry_run=True)


class TestKind:
    @pytest.mark.parametrize(
        ("policy", "kind"),
        [
            (WritePolicy(), "file"),
            (WritePolicy(filing="issue"), "issue"),
            (WritePolicy(filings={"acme/web": "issue"}), "issue"),
            (WritePolicy(filing="issue", filings={"web": "auto"}), "file"),
        ],
        ids=["auto", "issue", "its-own", "its-own-auto"],
    )
    async def test_a_repository_that_keeps_a_folder_of_tasks_gets_a_file(
        self, desk: Desk, policy: WritePolicy, kind: str
    ) -> None:
        desk.repo.commit({".tasks/STATUS.md": "Green.\n"})
        desk.policy = policy
        assert (await desk.file(dry_run=True)).kind == kind
        assert (await desk.file()).kind == kind
        assert desk.server.counts.get(COMMIT, 0) == (kind == "file")

    async def test_in_a_root_folder_without_end_a_known_status_file_tells(self, desk: Desk) -> None:
        desk.repo.commit({".wiki/index.md": "# Wiki\n", **{f"f{number:04}": "x" for number in range(1001)}})
        assert (await desk.file(dry_run=True)).kind == "issue"
        desk.repo.commit({".tasks/STATUS.md": "Green.\n"})
        await desk.fleet.sync()
        assert (await desk.file(dry_run=True)).kind == "file"
