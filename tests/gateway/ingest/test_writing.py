"""What is written where nobody is in the way: one commit of a page and its line, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from cache.errors import Denied, NotConfigured, TimedOut
from gateway.answers import IngestAnswer
from gateway.federation import Policy
from tests.support.git import git, needs_git
from tests.support.ingesting import COMMIT, INDEX, LINE, PAGE, REQUEST, WIKI, Desk, revision
from tests.support.repos import make_repo

pytestmark = pytest.mark.anyio

ONE = WIKI[".wiki/concepts/one.md"]


def sent(desk: Desk) -> list[dict[str, object]]:
    """The files of the last commit as they were sent, without their content."""
    form = json.loads(desk.server.requests[-1].body)
    return [{key: value for key, value in file.items() if key != "content"} for file in form["files"]]


class TestNewPage:
    async def test_page_and_line_are_one_commit(self, desk: Desk) -> None:
        before = desk.commits
        answer = await desk.ingest()
        tip = desk.repo.tip()
        assert tip is not None
        assert answer == IngestAnswer(
            "acme/web",
            "concepts/keys",
            revision(PAGE),
            created=True,
            dry_run=False,
            commit=tip.sha,
            url=f"{desk.server.root_url}acme/web/src/branch/main/.wiki/concepts/keys.md",
        )
        assert (desk.page(), desk.index()) == (PAGE, INDEX.replace("first\n", f"first\n{LINE}"))
        assert (desk.commits - before, tip.message) == (1, "wiki: add concepts/keys\n")

    async def test_it_takes_four_requests_each_with_the_names_of_what_was_read(self, desk: Desk) -> None:
        await desk.ingest()
        assert len(desk.server.requests) == 4
        assert sent(desk) == [
            {"operation": "create", "path": ".wiki/concepts/keys.md"},
            {"operation": "update", "path": ".wiki/index.md", "sha": revision(INDEX)},
        ]

    async def test_a_slug_that_has_its_type_needs_none_and_gets_none(self, desk: Desk) -> None:
        request = replace(REQUEST, slug="concept/keys", type=None)
        assert (await desk.ingest(request=request)).slug == "concept/keys"
        assert (await desk.ingest("concepts/locks")).slug == "concepts/locks"

    async def test_what_else_is_in_the_repository_stays(self, desk: Desk) -> None:
        await desk.ingest()
        assert all(desk.repo.read(path) == text.encode() for path, text in WIKI.items() if path != ".wiki/index.md")

    async def test_a_line_that_waits_for_its_page_is_left_as_it_is(self, desk: Desk) -> None:
        desk.repo.commit({".wiki/index.md": INDEX.replace("first\n", f"first\n{LINE}")})
        await desk.ingest()
        assert [file["path"] for file in sent(desk)] == [".wiki/concepts/keys.md"]

    async def test_a_repository_without_a_wiki_gets_an_index_of_five_sections(self, desk: Desk) -> None:
        desk.server.add_repo("acme/tool", {"README.md": "# Tool\n"})
        await desk.fleet.sync()
        answer = await desk.ingest(project="acme/tool")
        index = (desk.server.repo("acme/tool").read(".wiki/index.md") or b"").decode()
        assert answer.created
        headings = [line for line in index.splitlines() if line.startswith("## ")]
        assert headings == ["## Entities", "## Concepts", "## Packages", "## Sources", "## Raw"]
        assert index.count(LINE) == 1

    async def test_an_empty_repository_gets_its_first_commit(self, desk: Desk) -> None:
        desk.server.add_repo("acme/empty")
        await desk.fleet.sync()
        answer = await desk.ingest(project="acme/empty")
        repo = desk.server.repo("acme/empty")
        assert (answer.commit, repo.read(".wiki/concepts/keys.md")) == (repo.branches["main"], PAGE.encode())

    async def test_without_a_project_it_is_the_shared_wiki(self, desk: Desk) -> None:
        assert (await desk.fleet.federation.ingest(None, REQUEST)).project == "acme/web"
        desk.fleet.policy = Policy()
        with pytest.raises(NotConfigured, match=r"no shared wiki — set \[wiki\] shared"):
            await desk.fleet.federation.ingest(None, REQUEST)


class TestExistingPage:
    async def test_who_has_read_it_changes_it(self, desk: Desk) -> None:
        answer = await desk.ingest("concepts/one", body="# One\n\nMore of one.\n", expected=revision(ONE))
        assert not answer.created
        assert desk.page("concepts/one") == "# One\n\nMore of one.\n"
        assert "- [Cache keys](concepts/one.md) — what a cache is found by\n" in desk.index()

    async def test_an_index_that_says_it_all_is_not_written(self, desk: Desk) -> None:
        request = replace(REQUEST, slug="concepts/one", type=None, title="One", description="")
        await desk.ingest(request=request, expected=revision(ONE))
        assert desk.index() == INDEX
        assert sent(desk) == [{"operation": "update", "path": ".wiki/concepts/one.md", "sha": revision(ONE)}]

    async def test_of_a_page_that_stays_the_line_alone_is_written(self, desk: Desk) -> None:
        request = replace(REQUEST, slug="concepts/one", title="One", body=ONE, description="number one")
        answer = await desk.ingest(request=request, expected=revision(ONE))
        assert (answer.created, answer.revision) == (False, revision(ONE))
        assert [file["path"] for file in sent(desk)] == [".wiki/index.md"]
        assert desk.index() == INDEX.replace("the first", "number one")

    async def test_what_is_all_there_is_success_without_a_commit(self, desk: Desk) -> None:
        first = await desk.ingest()
        before = desk.commits
        assert await desk.ingest() == replace(
            first,
            created=False,
            commit=None,
            next_action_hint="all of it was there already: nothing was written",
        )
        assert (desk.commits, desk.posts) == (before, 1)

    async def test_so_it_is_for_who_read_an_older_version(self, desk: Desk) -> None:
        first = await desk.ingest()
        again = await desk.ingest(expected=revision(ONE))
        assert (again.revision, again.created) == (first.revision, False)

    async def test_a_page_outside_of_the_five_folders_is_changed_by_its_name(self, desk: Desk) -> None:
        desk.repo.commit({".wiki/guides/deploy.md": "# Deploy\n"})
        request = replace(REQUEST, slug="guides/deploy", type=None)
        await desk.ingest(request=request, expected=revision("# Deploy\n"))
        assert desk.listed() == ["concepts/one", "raw/log", "guides/deploy"]


class TestTogether:
    async def test_callers_of_one_gateway_take_turns(self, desk: Desk) -> None:
        ingester = desk.ingester
        project = desk.fleet.project("acme/web")
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(ingester.ingest, project, replace(REQUEST, slug=f"page-{number}"))
        assert sorted(desk.listed()) == sorted(
            ["concepts/one", "raw/log", *(f"concepts/page-{number}" for number in range(8))]
        )
        assert desk.server.counts[COMMIT] == 8

    async def test_two_gateways_list_both_pages(self, desk: Desk) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(desk.ingest, "mine")
            group.start_soon(desk.ingest, "yours")
        assert sorted(desk.listed()) == ["concepts/mine", "concepts/one", "concepts/yours", "raw/log"]

    async def test_who_waits_too_long_for_a_turn_has_written_nothing(self, desk: Desk) -> None:
        ingester, project = desk.ingester, desk.fleet.project("acme/web")
        desk.server.held = True
        async with anyio.create_task_group() as group:
            group.start_soon(ingester.ingest, project, REQUEST)
            while not desk.server.requests:  # noqa: ASYNC110 the forge's thread notes it
                await anyio.sleep(0.01)
            with pytest.raises(TimedOut):
                await replace(ingester, deadline=0.1).ingest(project, replace(REQUEST, slug="late"))
            desk.server.held = False
        assert desk.listed() == ["concepts/one", "concepts/keys", "raw/log"]


class TestDryRun:
    async def test_it_tells_all_and_writes_nothing(self, desk: Desk) -> None:
        before = desk.commits
        told = await desk.ingest(dry_run=True)
        assert (desk.commits, desk.posts) == (before, 0)
        assert (told.dry_run, told.created, told.commit, told.url) == (True, True, None, None)
        assert told.revision == (await desk.ingest()).revision

    @needs_git
    async def test_its_diff_is_what_git_applies(self, desk: Desk, tmp_path: Path) -> None:
        for request, expected in (
            (REQUEST, None),
            (replace(REQUEST, slug="concepts/one", body="# One\n\nMore"), revision(ONE)),
        ):
            told = await desk.ingest(request=request, expected=expected, dry_run=True)
            folder = make_repo(tmp_path / request.slug.replace("/", "-"), WIKI)
            (folder / "patch").write_text(told.diff or "", encoding="utf-8")
            git(folder, "apply", "patch")
            answer = await desk.ingest(request=request, expected=expected)
            for path in (f".wiki/{answer.slug}.md", ".wiki/index.md"):
                assert (folder / path).read_bytes() == desk.repo.read(path)
            desk.repo.commit({".wiki/index.md": INDEX})

    async def test_of_what_is_there_it_is_empty(self, desk: Desk) -> None:
        await desk.ingest()
        told = await desk.ingest(dry_run=True)
        assert (told.diff, told.created) == ("", False)

    async def test_it_is_refused_where_writing_would_be(self, desk: Desk) -> None:
        desk.repo.archive()
        with pytest.raises(Denied, match="acme/web is archived — unarchive it, or write elsewhere"):
            await desk.ingest(dry_run=True)

    async def test_it_tells_that_a_pull_request_would_be_opened(self, desk: Desk) -> None:
        desk.repo.protect()
        told = await desk.ingest(dry_run=True)
        assert told.next_action_hint == "it would be proposed by a pull request"
        assert (desk.posts, set(desk.repo.branches)) == (0, {"main"})
