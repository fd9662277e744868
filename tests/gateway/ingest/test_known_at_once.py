"""What was written is known at once: to questions, searches, lists and reads, before any sync."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import pytest

from cache.errors import StoreFailure
from cache.model import ProjectState, WikiWrite
from cache.store import SqliteStore
from gateway.answers import ProjectMatches
from gateway.reading import PageRequest
from tests.fake_gitea import web_page
from tests.support.gitea_fleet import PLAIN
from tests.support.ingesting import INDEX, PAGE, WIKI, Desk, revision

pytestmark = pytest.mark.anyio


async def found(desk: Desk, query: str, project: str = "acme/web") -> list[str]:
    """The slugs of the pages that answer a question."""
    (entry,) = (await desk.fleet.federation.ask_projects(query, [project])).results
    assert isinstance(entry, ProjectMatches), entry
    return [match.slug for match in entry.matches]


async def shared(desk: Desk, query: str) -> list[str]:
    return [match.slug for match in (await desk.fleet.federation.search(query)).matches]


class TestNewPage:
    @pytest.mark.parametrize("query", ["Cache keys", "concepts/keys", "what is a cache found by", "each build"])
    async def test_it_answers_questions(self, desk: Desk, query: str) -> None:
        assert "concepts/keys" not in await found(desk, query)
        await desk.ingest()
        assert "concepts/keys" in await found(desk, query)

    async def test_it_is_found_in_the_shared_wiki_by_its_text_too(self, desk: Desk) -> None:
        await desk.ingest()
        assert await shared(desk, "cache keys") == await shared(desk, "each build") == ["concepts/keys"]

    async def test_it_can_be_read_with_its_revision(self, desk: Desk) -> None:
        answer = await desk.ingest()
        read = await desk.fleet.federation.get_from("web", PageRequest("concepts/keys"))
        assert (read.text, read.revision, read.title, read.stale) == (PAGE, answer.revision, "Cache keys", False)

    async def test_it_is_read_from_the_cache_when_the_forge_is_gone(self, desk: Desk) -> None:
        await desk.ingest()
        desk.server.faults.add(web_page(403))
        read = await desk.fleet.federation.get_from("web", PageRequest("concepts/keys"))
        assert (read.text, read.stale) == (PAGE, True)

    async def test_it_is_listed_where_the_index_has_it(self, desk: Desk) -> None:
        await desk.ingest()
        pages = (await desk.fleet.federation.list_pages()).pages
        assert [(page.slug, page.type, page.title, page.listed) for page in pages] == [
            ("concepts/one", "concepts", "One", True),
            ("concepts/keys", "concepts", "Cache keys", True),
            ("raw/log", "raw", "Log", True),
        ]

    async def test_all_is_as_a_sync_would_have_it(self, desk: Desk) -> None:
        desk.repo.commit(
            {
                ".wiki/index.md": INDEX + "\n## Packages\n\n- [Engine](packages/)\n",
                ".wiki/packages/index.md": "# Engine\n\n- [Core](core.md): the core\n",
                ".wiki/packages/core.md": "---\ntitle: The core\n---\n",
                ".wiki/notes/kept.md": "# Kept aside\n",
            }
        )
        await desk.fleet.sync()
        await desk.ingest()
        store, project = desk.fleet.store, desk.fleet.project("acme/web")
        before = store.pages(project.key), store.index(project.key), project.revision, project.pages
        await desk.fleet.expect_complete()
        project = desk.fleet.project("acme/web")
        assert before == (store.pages(project.key), store.index(project.key), project.revision, project.pages)

    async def test_so_it_is_of_a_changed_page(self, desk: Desk) -> None:
        await desk.ingest("concepts/one", expected=revision(WIKI[".wiki/concepts/one.md"]))
        assert await found(desk, "cache keys") == await shared(desk, "each build") == ["concepts/one"]

    @pytest.mark.parametrize("files", [PLAIN, None], ids=["no wiki", "empty"])
    async def test_so_it_is_of_a_project_that_had_none(self, desk: Desk, files: dict[str, str] | None) -> None:
        desk.server.add_repo("acme/tool", files)
        await desk.fleet.sync()
        await desk.ingest(project="acme/tool")
        project = desk.fleet.project("acme/tool")
        assert (project.state, project.has_wiki, project.pages) == (ProjectState.OK, True, 1)
        assert await found(desk, "cache keys", "acme/tool") == ["concepts/keys"]

    async def test_a_page_that_was_there_already_is_known_from_then_on(self, desk: Desk) -> None:
        await replace(desk, store=SilentStore(desk.fleet.store)).ingest()
        assert "concepts/keys" not in desk.fleet.slugs("acme/web")
        await desk.ingest()
        assert "concepts/keys" in desk.fleet.slugs("acme/web")


class TestCacheThatFails:
    async def test_what_was_written_stays_written(self, desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
        answer = await replace(desk, store=BrokenStore(desk.fleet.store)).ingest()
        assert (answer.created, desk.page()) == (True, PAGE)
        assert caplog.messages == ["acme/web was written, and the cache learns it by the next sync: no space left"]

    async def test_a_sub_index_that_cannot_be_read_is_left_to_the_next_sync(
        self, desk: Desk, caplog: pytest.LogCaptureFixture
    ) -> None:
        index = INDEX + "\n- [Engine](packages/)\n"
        desk.repo.commit({".wiki/index.md": index, ".wiki/packages/index.md": "# Engine\n"})
        await desk.fleet.sync()
        desk.server.faults.add(web_page(403), route="*/file-contents", skip=1)
        assert (await desk.ingest()).created
        assert len(caplog.messages) == 1
        desk.server.faults.clear()
        assert (await desk.fleet.expect_complete()).changed == 1
        assert "concepts/keys" in desk.fleet.slugs("acme/web")


class SilentStore(SqliteStore):
    """A cache of another gateway."""

    def __init__(self, inner: SqliteStore) -> None:
        vars(self).update(vars(inner))

    def note_write(self, write: WikiWrite) -> bool:
        return False


class BrokenStore(SilentStore):
    """A cache on a disk that is full."""

    def note_write(self, write: WikiWrite) -> NoReturn:
        raise StoreFailure("no space left")
