"""A task that becomes a file below ``.tasks/``: a commit on a forge, the working tree of a local repository."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cache.errors import Denied, KnowledgeError
from cache.model import RepoRef
from cache.store import SqliteStore
from gateway.answers import TaskAnswer
from gateway.federation import Policy
from gateway.filing import TaskRequest
from gateway.write_policy import WritePolicy
from sync.forge.writing import Edit, Written
from tests.fake_gitea import Access
from tests.support.federation import Asked, federation_over
from tests.support.filing import BODY, COMMIT, Desk
from tests.support.forges import NO_WIKI, Faulty
from tests.support.gitea_client import client_of
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

PATH = ".tasks/2030-03-17-fix-yarn.md"  # the day of the fleet's clock
TEXT = '---\ntitle: "Fix yarn"\ncreated: {at}\nlabels: [{labels}]\nstatus: open\n---\n\n' + BODY


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.repo.commit({".tasks/STATUS.md": "Green.\n"})
    desk.server.reset_counts()
    return desk


def files(desk: Desk) -> list[str]:
    tip = desk.repo.tip()
    assert tip is not None
    return sorted(path for path in tip.snapshot.files if path.startswith(".tasks/"))


@dataclass
class Meddled(Faulty):
    """Somebody else is quicker: ``meddling`` happens before each write."""

    meddling: Callable[[], object] = field(kw_only=True)

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        self.meddling()
        return await super().write(repo, edit)


class TestOnAForge:
    async def test_it_is_one_commit_of_one_file(self, desk: Desk) -> None:
        before = desk.repo.tip()
        answer = await desk.file(labels=["bug", "no label of the repository"])
        url = f"{desk.server.root_url}acme/web/src/branch/main/{PATH}"
        assert answer == TaskAnswer("acme/web", "file", created=True, dry_run=False, path=PATH, url=url)
        tip = desk.repo.tip()
        assert before is not None
        assert tip is not None
        assert (tip.parents, tip.message) == ((before.sha,), "task: Fix yarn\n")
        text = (desk.repo.read(PATH) or b"").decode()
        assert text.startswith('---\ntitle: "Fix yarn"\ncreated: 2030-03-17T')
        assert text.endswith(
            'labels: ["bug", "no label of the repository"]\nstatus: open\n---\n\n# Fix yarn\n\nIt fails on Windows.\n'
        )
        assert files(desk) == [PATH, ".tasks/STATUS.md"]
        assert desk.repo.read(".tasks/STATUS.md") == b"Green.\n"

    async def test_the_same_text_is_the_first_file(self, desk: Desk, elsewhere: Desk) -> None:
        first = await desk.file()
        for again in (desk, elsewhere, desk):
            assert await again.file() == replace(first, created=False)
        desk.later(8 * 3600)  # the next day
        assert (await replace(elsewhere, store=desk.fleet.store).file()).path == PATH
        assert len(files(desk)) == 2

    async def test_a_gateway_with_another_cache_finds_it_the_next_day(self, desk: Desk, elsewhere: Desk) -> None:
        await desk.file()
        desk.later(23 * 3600)
        assert (await elsewhere.file()).path == PATH

    async def test_a_day_later_it_is_filed_anew(self, desk: Desk, elsewhere: Desk) -> None:
        await desk.file()
        desk.later(24 * 3600 + 2)
        assert (await elsewhere.file()).path == PATH.replace("17", "18")

    async def test_one_that_was_done_meanwhile_is_the_same(self, desk: Desk, elsewhere: Desk) -> None:
        await desk.file()
        done = (desk.repo.read(PATH) or b"").replace(b"status: open", b"status: done")
        desk.repo.commit({PATH: done})
        assert not (await elsewhere.file()).created

    async def test_a_name_that_is_taken_gets_a_number(self, desk: Desk) -> None:
        taken = {PATH.replace(".md", f"{number}.md"): "Other.\n" for number in ("", "-2", "-3", "-4", "-5")}
        desk.repo.commit(taken)
        assert (await desk.file(dry_run=True)).path == PATH.replace(".md", "-6.md")
        assert (await desk.file()).path == PATH.replace(".md", "-6.md")

    async def test_names_do_not_go_on_for_ever(self, desk: Desk) -> None:
        numbers = ["", *(f"-{number}" for number in range(2, 41))]
        desk.repo.commit({PATH.replace(".md", f"{number}.md"): "Other.\n" for number in numbers})
        with pytest.raises(KnowledgeError, match="40 tasks of this title were filed today — give it another title"):
            await desk.file()

    async def test_a_name_that_is_taken_at_the_last_moment_is_left_alone(self, desk: Desk) -> None:
        desk.forge = Meddled(desk.fleet.client, meddling=lambda: desk.repo.commit({PATH: "Other.\n"}))
        assert (await desk.file()).path == PATH.replace(".md", "-2.md")
        assert desk.repo.read(PATH) == b"Other.\n"

    async def test_of_two_gateways_at_the_same_moment_the_later_one_finds_the_others(self, desk: Desk) -> None:
        text = TEXT.format(at="2030-03-17T17:47:00Z", labels="")
        desk.forge = Meddled(desk.fleet.client, meddling=lambda: desk.repo.commit({PATH: text}))
        answer = await desk.file()
        assert (answer.path, answer.created) == (PATH, False)
        assert len(files(desk)) == 2

    async def test_somebody_who_is_always_quicker_is_not_raced_for_ever(self, desk: Desk) -> None:
        free = iter(range(2, 100))

        def take() -> None:
            desk.repo.commit({PATH: "x", PATH.replace(".md", f"-{next(free)}.md"): "Other.\n"})

        desk.forge = Meddled(desk.fleet.client, meddling=take)
        with pytest.raises(KnowledgeError, match="others keep taking the name of this task — try again"):
            await desk.file()
        desk.forge = None
        assert (await desk.file()).created  # nothing was written, so nothing is waited for

    async def test_an_empty_repository_gets_its_first_commit(self, desk: Desk) -> None:
        repo = desk.server.add_repo("acme/new", {})
        await desk.fleet.sync()
        desk.policy = WritePolicy(filing="file")
        answer = await desk.file(project="acme/new")
        assert answer.path is not None
        assert repo.read(answer.path) is not None

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_a_protected_branch_is_told_with_the_other_form(self, desk: Desk, dry_run: bool) -> None:
        desk.repo.protect()
        with pytest.raises(Denied) as caught:
            await desk.file(dry_run=dry_run)
        assert caught.value.line == (
            "denied: the default branch of acme/web is protected — set [tasks] filing to"
            ' "issue" for it, or let this token push there'
        )
        desk.policy = WritePolicy(filings={"web": "issue"})
        assert (await desk.file()).number == 1

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_an_archived_repository_is_told(self, desk: Desk, dry_run: bool) -> None:
        desk.repo.archive()
        with pytest.raises(Denied, match="acme/web is archived — unarchive it, or write elsewhere"):
            await desk.file(dry_run=dry_run)

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_somebody_who_may_only_read_is_told(self, desk: Desk, dry_run: bool) -> None:
        desk.repo.share("bob", Access.READ)
        desk.server.add_user("bob", token="fake-token-bob")  # noqa: S106
        async with client_of(desk.server, token="fake-token-bob") as client:  # noqa: S106
            desk.forge = client
            with pytest.raises(Denied, match="no more than a read-only collaborator of acme/web — ask for write"):
                await desk.file(dry_run=dry_run)

    async def test_a_file_in_the_way_of_the_folder_is_told(self, desk: Desk) -> None:
        desk.repo.commit({".tasks/STATUS.md": None, ".tasks": "No folder.\n"})
        with pytest.raises(KnowledgeError) as caught:
            await desk.file()
        assert caught.value.line.startswith("conflict: acme/web: ")

    async def test_a_dry_run_writes_nothing_and_names_the_path(self, desk: Desk) -> None:
        answer = await desk.file(dry_run=True)
        assert answer == TaskAnswer("acme/web", "file", created=True, dry_run=True, path=PATH)
        assert COMMIT not in desk.server.counts


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    async with federation_over(tmp_path, {"web": NO_WIKI}) as asked:
        yield asked


class TestInALocalRepository:
    PATH = ".tasks/2096-10-02-fix-yarn.md"

    async def test_it_is_a_file_of_the_working_tree(self, asked: Asked) -> None:
        answer = await asked.federation.file_task("web", TaskRequest(BODY, labels=("bug",)))
        assert answer == TaskAnswer("local/web", "file", created=True, dry_run=False, path=self.PATH)
        text = TEXT.format(at="2096-10-02T07:06:40Z", labels='"bug"')
        assert (asked.root / "web" / self.PATH).read_text("utf-8") == text

    async def test_the_same_text_is_the_first_file_whoever_asks(self, asked: Asked) -> None:
        await asked.federation.file_task("web", TaskRequest(BODY))
        assert not (await asked.federation.file_task("local/WEB", TaskRequest(BODY))).created
        with closing(SqliteStore(asked.root.parent / "other.db", on_notice=print)) as store:
            other = replace(asked, store=store)
            await other.sync()
            assert not (await other.federation.file_task("web", TaskRequest(BODY))).created
        assert len(list((asked.root / "web/.tasks").iterdir())) == 1

    async def test_a_dry_run_makes_no_folder(self, asked: Asked) -> None:
        answer = await asked.federation.file_task("web", TaskRequest(BODY, dry_run=True))
        assert (answer.path, answer.created, answer.dry_run) == (self.PATH, True, True)
        assert not (asked.root / "web/.tasks").exists()

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_another_branch_that_is_checked_out_is_told(self, asked: Asked, dry_run: bool) -> None:
        (asked.root / "web/.git/HEAD").write_text("ref: refs/heads/topic\n")
        with pytest.raises(Denied, match="local/web has topic checked out, not its default branch main"):
            await asked.federation.file_task("web", TaskRequest(BODY, dry_run=dry_run))

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_a_bare_repository_is_told(self, asked: Asked, dry_run: bool) -> None:
        make_repo(asked.root / "bare", {"README.md": "x"}, bare=True)
        await asked.sync()
        with pytest.raises(Denied, match="is a bare repository, which has no working tree"):
            await asked.federation.file_task("bare", TaskRequest(BODY, dry_run=dry_run))

    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_it_has_no_issues(self, asked: Asked, dry_run: bool) -> None:
        asked.policy = Policy(write=WritePolicy(filing="issue"))
        with pytest.raises(Denied, match="local/web is a local repository, which has no issues — set "):
            await asked.federation.file_task("web", TaskRequest(BODY, dry_run=dry_run))

    async def test_a_link_in_place_of_the_folder_is_told(self, asked: Asked) -> None:
        (asked.root / "web/.tasks").symlink_to(asked.root)
        with pytest.raises(Denied, match="a symbolic link is in the way of"):
            await asked.federation.file_task("web", TaskRequest(BODY))

    async def test_a_commit_of_it_leaves_it_what_it_is(self, asked: Asked) -> None:
        await asked.federation.file_task("web", TaskRequest(BODY))
        commit_files(asked.root / "web", {self.PATH: (asked.root / "web" / self.PATH).read_bytes()})
        assert not (await asked.federation.file_task("web", TaskRequest(BODY))).created


class TestProjects:
    @pytest.mark.parametrize(
        ("project", "line"),
        [
            ("wep", "not_found: unknown project — run sync first (did you mean local/web?)"),
            ("w*", "invalid_argument: target_project: names, not patterns — projects.list shows the names"),
            (" ", "invalid_argument: target_project: a name must not be empty"),
        ],
    )
    async def test_one_that_is_not_known_gets_nothing(self, asked: Asked, project: str, line: str) -> None:
        with pytest.raises(KnowledgeError) as caught:
            await asked.federation.file_task(project, TaskRequest(BODY))
        assert caught.value.line == line

    async def test_of_several_none_is_taken(self, asked: Asked) -> None:
        make_repo(asked.root / "other/web", {"README.md": "x"})
        await asked.sync()
        with pytest.raises(KnowledgeError, match="ambiguous project — one of: local/other/web, local/web"):
            await asked.federation.file_task("web", TaskRequest(BODY))
