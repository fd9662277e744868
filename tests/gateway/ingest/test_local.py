"""Pages of local repositories: into the working tree, marked as such, and never committed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from cache.errors import Conflict, Denied
from gateway.answers import IngestAnswer, ProjectMatches
from gateway.ingest import IngestRequest
from gateway.reading import PageRequest
from sync.forge.writing import Unsettled
from tests.support.federation import Asked, federation_over
from tests.support.forges import WEB
from tests.support.git import git, needs_git
from tests.support.ingesting import PAGE, REQUEST, Interfering, Losing, revision
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

CACHING = str(WEB[".wiki/concepts/caching.md"])
INDEX = str(WEB[".wiki/index.md"])
LINE = "- [Cache keys](concepts/keys.md) — what a cache is found by\n"


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    async with federation_over(tmp_path, {"web": WEB, "tool": {"README.md": "# Tool\n"}}) as asked:
        yield asked


async def ingest(asked: Asked, request: IngestRequest = REQUEST, project: str = "web") -> IngestAnswer:
    return await asked.federation.ingest(project, request)


def page(asked: Asked, slug: str = "concepts/keys") -> Path:
    return asked.root / "web" / ".wiki" / f"{slug}.md"


def index(asked: Asked) -> Path:
    return page(asked, "index")


async def refused(asked: Asked, project: str = "web") -> str:
    before = {path: path.read_bytes() for path in asked.root.rglob("*.md")}
    with pytest.raises(Denied) as caught:
        await ingest(asked, project=project)
    assert {path: path.read_bytes() for path in asked.root.rglob("*.md")} == before
    return caught.value.message


class TestWritten:
    async def test_page_and_line_are_in_the_working_tree_and_not_committed(self, asked: Asked) -> None:
        answer = await ingest(asked)
        assert answer == IngestAnswer(
            "local/web",
            "concepts/keys",
            revision(PAGE),
            created=True,
            dry_run=False,
            next_action_hint="it is in the working tree: commit it there",
        )
        assert page(asked).read_text(encoding="utf-8") == PAGE
        assert index(asked).read_text(encoding="utf-8").count(LINE) == 1
        head = await asked.forge.head(asked.project("web").repo)
        assert head is not None
        assert head.uncommitted

    @needs_git
    async def test_git_shows_it_as_a_change_and_no_more(self, asked: Asked) -> None:
        await ingest(asked)
        status = git(asked.root / "web", "status", "--porcelain", "--untracked-files=all")
        assert status.splitlines() == [" M .wiki/index.md", "?? .wiki/concepts/keys.md"]

    async def test_what_shows_it_says_that_it_is_not_committed(self, asked: Asked) -> None:
        await ingest(asked)
        federation = asked.federation
        assert (await federation.get_from("web", PageRequest("concepts/keys"))).uncommitted
        (entry,) = (await federation.ask_projects("cache keys", ["web"])).results
        assert isinstance(entry, ProjectMatches)
        assert (entry.matches[0].slug, entry.matches[0].uncommitted) == ("concepts/keys", True)
        (match, *_) = (await federation.search("each build has its own")).matches
        assert (match.slug, match.uncommitted) == ("concepts/keys", True)
        assert asked.project("web").uncommitted

    async def test_all_is_as_a_sync_would_have_it(self, asked: Asked) -> None:
        await ingest(asked)
        before = asked.store.pages(asked.project("web").key), asked.project("web").revision
        asked.now += 60
        await asked.sync()
        assert (asked.store.pages(asked.project("web").key), asked.project("web").revision) == before

    async def test_what_takes_an_edit_back_is_not_marked_any_more(self, asked: Asked) -> None:
        page(asked, "concepts/caching").write_text("# Caching\n\nScratch.\n", encoding="utf-8")
        read = revision("# Caching\n\nScratch.\n")
        request = IngestRequest("concepts/caching", "Caching", CACHING, expected_revision=read)
        await ingest(asked, request)
        known = asked.store.page(asked.project("web").key, "concepts/caching")
        assert known is not None
        assert not known.uncommitted
        assert not asked.project("web").uncommitted

    async def test_an_uncommitted_page_is_changed_by_who_has_read_it(self, asked: Asked) -> None:
        first = await ingest(asked)
        second = await ingest(asked, replace(REQUEST, body="More.\n", expected_revision=first.revision))
        assert (second.created, page(asked).read_text(encoding="utf-8")) == (False, "# Cache keys\n\nMore.\n")
        assert index(asked).read_text(encoding="utf-8").count(LINE) == 1

    async def test_the_same_again_writes_nothing(self, asked: Asked) -> None:
        await ingest(asked)
        before = page(asked).stat()
        again = await ingest(asked)
        assert (again.created, again.next_action_hint) == (False, "all of it was there already: nothing was written")
        assert page(asked).stat() == before

    async def test_a_repository_without_a_wiki_gets_one(self, asked: Asked) -> None:
        assert (await ingest(asked, project="tool")).created
        assert (asked.root / "tool/.wiki/index.md").read_text(encoding="utf-8").count(LINE) == 1

    async def test_a_repository_without_commits_gets_its_first_files(self, asked: Asked) -> None:
        make_repo(asked.root / "new", {})
        asked.now += 60
        await asked.sync()
        assert (await ingest(asked, project="new")).created
        assert (asked.root / "new/.wiki/concepts/keys.md").read_text(encoding="utf-8") == PAGE

    async def test_a_dry_run_writes_nothing(self, asked: Asked) -> None:
        told = await ingest(asked, replace(REQUEST, dry_run=True))
        assert f"+{LINE}" in (told.diff or "")
        assert not page(asked).exists()
        assert index(asked).read_text(encoding="utf-8") == INDEX

    async def test_callers_at_once_all_succeed(self, asked: Asked) -> None:
        async with anyio.create_task_group() as group:
            for number in range(4):  # each a gateway of its own
                group.start_soon(ingest, asked, replace(REQUEST, slug=f"page-{number}"))
        text = index(asked).read_text(encoding="utf-8")
        assert all(text.count(f"concepts/page-{number}.md") == 1 for number in range(4))

    async def test_line_ends_that_git_converts_are_no_change_of_the_revision(self, asked: Asked) -> None:
        (asked.root / "web/.gitattributes").write_text("*.md text=auto\n", encoding="utf-8")
        page(asked, "concepts/caching").write_bytes(CACHING.replace("\n", "\r\n").encode())
        request = IngestRequest("concepts/caching", "Caching", "New.\r\n", expected_revision=revision(CACHING))
        answer = await ingest(asked, request)
        read = await asked.federation.get_from("web", PageRequest("concepts/caching"))
        assert (read.text, read.revision) == ("# Caching\n\nNew.\n", answer.revision)


class TestConflict:
    async def test_an_edit_that_nobody_committed_is_told_as_such(self, asked: Asked) -> None:
        page(asked, "concepts/caching").write_text("# Caching\n\nScratch.\n", encoding="utf-8")
        os.utime(page(asked, "concepts/caching"), (1_750_000_000, 1_750_000_000))
        request = IngestRequest("concepts/caching", "Caching", "New.\n", expected_revision=revision(CACHING))
        with pytest.raises(Conflict) as caught:
            await ingest(asked, request)
        assert caught.value.message == (
            "page changed: local/web/.wiki/concepts/caching.md is at revision"
            f" {revision('# Caching' + chr(10) * 2 + 'Scratch.' + chr(10))}, edited at 2025-06-15T15:06:40Z and not"
            " committed, before it was read here — read it, then send that revision as expected_revision"
        )

    async def test_an_editor_that_is_faster_keeps_its_page(self, asked: Asked) -> None:
        asked.forge = Interfering(
            asked.forge.inner, meanwhile=[lambda: page(asked).write_text("mine", encoding="utf-8")]
        )
        with pytest.raises(Conflict, match=r"page exists: .* edited at .* and not committed, between read"):
            await ingest(asked)
        assert (page(asked).read_text(encoding="utf-8"), index(asked).read_text(encoding="utf-8")) == ("mine", INDEX)

    async def test_one_that_saves_the_index_keeps_its_line(self, asked: Asked) -> None:
        mine = [lambda: index(asked).write_text(f"{INDEX}- mine\n", encoding="utf-8")]
        asked.forge = Interfering(asked.forge.inner, meanwhile=[*mine])
        assert (await ingest(asked)).created
        text = index(asked).read_text(encoding="utf-8")
        assert (text.count(LINE), text.count("- mine\n")) == (1, 1)


class TestHalfWritten:
    async def test_a_page_whose_line_was_not_written_gets_it(self, asked: Asked) -> None:
        asked.forge = Losing(
            asked.forge.inner, fates=["undone"], then=lambda: page(asked).write_text(PAGE, encoding="utf-8")
        )
        assert (await ingest(asked)).created
        assert index(asked).read_text(encoding="utf-8").count(LINE) == 1

    async def test_so_does_a_page_that_was_not_written_though_its_line_was(self, asked: Asked) -> None:
        listed = INDEX.replace("(concepts/caching.md)\n", f"(concepts/caching.md)\n{LINE}")
        asked.forge = Losing(
            asked.forge.inner, fates=["undone"], then=lambda: index(asked).write_text(listed, encoding="utf-8")
        )
        assert (await ingest(asked)).created
        assert page(asked).read_text(encoding="utf-8") == PAGE
        assert index(asked).read_text(encoding="utf-8") == listed

    async def test_a_disk_that_never_confirms_is_told(self, asked: Asked) -> None:
        asked.forge = Losing(asked.forge.inner, fates=["undone"] * 3)
        with pytest.raises(Unsettled):
            await ingest(asked)


class TestRefused:
    async def test_a_bare_repository(self, asked: Asked) -> None:
        make_repo(asked.root / "bare.git", WEB, bare=True)
        asked.now += 60
        await asked.sync()
        told = await refused(asked, "bare.git")
        assert told.endswith("is a bare repository, which has no working tree — write to a clone of it")

    async def test_another_branch_than_the_default_one(self, asked: Asked) -> None:
        (asked.root / "web/.git/HEAD").write_text("ref: refs/heads/topic\n", encoding="utf-8")
        commit_files(asked.root / "web", WEB)
        told = await refused(asked)
        assert "local/web has topic checked out, not its default branch main — check out main first" in told

    async def test_a_folder_of_the_wiki_that_leads_elsewhere(self, asked: Asked) -> None:
        (asked.root / "tool/.wiki").symlink_to(asked.root / "web/.wiki")
        told = await refused(asked, "tool")
        assert told.startswith("a symbolic link is in the way of .wiki/concepts/keys.md in local/tool")
