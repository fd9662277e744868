"""The federation's answers from the cache: search, lists, status, refresh."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from cache.errors import Ambiguous, InvalidArgument, NotConfigured, NotFound, RateLimited, Unavailable
from cache.times import timestamp
from gateway.answers import PageEntry
from gateway.tools.federation_schemas import MAX_CURSOR
from tests.support.federation import Asked, federation_over
from tests.support.forges import API, NO_WIKI, WEB
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

WIKI: dict[str, str | bytes] = {
    ".wiki/index.md": "# Shared\n\n- [Deploys](concepts/deploys.md) — how we ship\n- [Hosts](entities/hosts.md)\n",
    ".wiki/concepts/deploys.md": "# Deploys\n\nShip on green: the pipeline tags the image.\n",
    ".wiki/entities/hosts.md": "# Hosts\n\nThe build host deploys nothing.\n",
}


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    fleet: dict[str, dict[str, str | bytes]] = {"wiki": WIKI, "web": WEB, "api": API, "tool": NO_WIKI}
    async with federation_over(tmp_path, fleet, shared="local/wiki") as asked:
        yield asked


class TestSearch:
    async def test_ranks_titles_above_bodies(self, asked: Asked) -> None:
        answer = await asked.federation.search("deploys")
        assert [match.slug for match in answer.matches] == ["concepts/deploys", "entities/hosts"]
        assert answer.matches[0].score > answer.matches[1].score
        assert answer.total == 2

    async def test_answers_from_the_cache_alone(self, asked: Asked) -> None:
        asked.forge.calls.clear()
        await asked.federation.search("deploys")
        assert asked.forge.calls == []

    async def test_searches_nothing_but_the_shared_wiki(self, asked: Asked) -> None:
        answer = await asked.federation.search("rate limits")
        assert answer.matches == ()
        assert answer.suggested_projects == ("local/api",)

    async def test_suggests_nothing_when_it_found_something(self, asked: Asked) -> None:
        assert (await asked.federation.search("hosts")).suggested_projects == ()

    async def test_the_limit_bounds_the_matches_and_total_counts_them_all(self, asked: Asked) -> None:
        answer = await asked.federation.search("deploys", limit=1)
        assert len(answer.matches) == 1
        assert answer.total == 2

    async def test_says_when_the_last_good_sync_is_old(self, asked: Asked) -> None:
        assert not (await asked.federation.search("deploys")).stale
        asked.now += 24 * 3600 + 1
        assert (await asked.federation.search("deploys")).stale

    async def test_says_so_too_when_the_clock_was_set_back_since(self, asked: Asked) -> None:
        asked.now -= 60
        assert not (await asked.federation.search("deploys")).stale
        asked.now -= 24 * 3600
        assert (await asked.federation.search("deploys")).stale

    async def test_repeats_the_query_as_typed(self, asked: Asked) -> None:
        assert (await asked.federation.search("  DePloys ")).query == "  DePloys "

    async def test_a_snippet_of_the_body(self, asked: Asked) -> None:
        answer = await asked.federation.search("ship")
        assert "Ship on green" in answer.matches[0].snippet

    async def test_types_are_exactly_those_that_are_given(self, asked: Asked) -> None:
        answer = await asked.federation.search("deploys", types=["entity"])
        assert [(match.slug, match.type) for match in answer.matches] == [("entities/hosts", "entities")]

    async def test_says_of_which_commit_and_when_it_is(self, asked: Asked) -> None:
        commit = commit_files(asked.root / "wiki", {"README.md": "# Wiki\n"})
        await asked.sync()
        answer = await asked.federation.search("deploys")
        assert (answer.revision, answer.synced_at) == (commit, timestamp(asked.now))

    async def test_suggests_up_to_five_projects_and_never_the_wiki_that_was_searched(self, asked: Asked) -> None:
        for name in "abcdef":
            make_repo(asked.root / name, {".wiki/zebra.md": "# Zebra\n"})
        commit_files(asked.root / "wiki", {f".wiki/raw/zebra{number}.md": "# Zebra\n" for number in range(9)})
        await asked.sync()
        answer = await asked.federation.search("zebra")
        assert answer.matches == ()
        assert len(answer.suggested_projects) == 5
        assert set(answer.suggested_projects) < {f"local/{name}" for name in "abcdef"}

    async def test_marks_what_is_not_committed(self, asked: Asked) -> None:
        (asked.root / "wiki/.wiki/concepts/deploys.md").write_text("# Deploys\n\nEdited.\n")
        await asked.sync()
        marks = {match.slug: match.uncommitted for match in (await asked.federation.search("deploys")).matches}
        assert marks["concepts/deploys"] is True

    async def test_without_a_shared_wiki(self, asked: Asked) -> None:
        asked.policy = replace(asked.policy, shared="")
        with pytest.raises(NotConfigured, match="no shared wiki"):
            await asked.federation.search("deploys")

    async def test_a_shared_wiki_that_was_never_synced(self, asked: Asked) -> None:
        asked.policy = replace(asked.policy, shared="local/nobody")
        with pytest.raises(
            NotFound, match=r"^shared wiki local/nobody: unknown project — run sync first, or correct \[wiki\] shared"
        ):
            await asked.federation.search("deploys")

    async def test_a_shared_wiki_that_may_be_several(self, asked: Asked) -> None:
        make_repo(asked.root / "more/wiki", {"a": "b"})
        await asked.sync()
        asked.policy = replace(asked.policy, shared="wiki")
        with pytest.raises(Ambiguous, match="ambiguous shared wiki wiki — one of: local/more/wiki, local/wiki"):
            await asked.federation.search("deploys")

    async def test_a_shared_wiki_without_a_wiki(self, asked: Asked) -> None:
        asked.policy = replace(asked.policy, shared="local/tool")
        with pytest.raises(Unavailable, match="no wiki"):
            await asked.federation.search("deploys")


class TestListPages:
    async def test_the_shared_wiki_by_default_in_the_indexs_order(self, asked: Asked) -> None:
        answer = await asked.federation.list_pages()
        assert answer.project == "local/wiki"
        assert answer.pages[0] == PageEntry("concepts/deploys", "concepts", "Deploys", listed=True)
        assert answer.next_cursor is None

    async def test_pages_by_cursor_reach_each_page_once(self, asked: Asked) -> None:
        slugs: list[str] = []
        cursor = None
        while True:
            answer = await asked.federation.list_pages("web", limit=1, cursor=cursor)
            slugs += [page.slug for page in answer.pages]
            cursor = answer.next_cursor
            if cursor is None:
                break
        assert slugs == ["concepts/windows-yarn-exec", "concepts/caching", "raw/chat", "notes/unlisted"]

    async def test_a_cursor_outlives_a_page_that_came_before_it(self, asked: Asked) -> None:
        first = await asked.federation.list_pages("web", limit=2)
        commit_files(asked.root / "web", {".wiki/concepts/windows-yarn-exec.md": None})
        await asked.sync()
        rest = await asked.federation.list_pages("web", cursor=first.next_cursor)
        assert [page.slug for page in rest.pages] == ["raw/chat", "notes/unlisted"]

    async def test_a_cursor_is_short_whatever_the_page_is_called(self, asked: Asked) -> None:
        files: dict[str, str | bytes] = {f".wiki/{'Ж' * 100}/{'Щ' * 100}/{letter}.md": "# X\n" for letter in "abc"}
        make_repo(asked.root / "long", files)
        await asked.sync()
        first = await asked.federation.list_pages("long", limit=2)
        assert first.next_cursor is not None
        assert len(first.next_cursor) < 50
        rest = await asked.federation.list_pages("long", cursor=first.next_cursor)
        assert [page.slug[-1] for page in rest.pages] == ["c"]

    async def test_types(self, asked: Asked) -> None:
        answer = await asked.federation.list_pages("web", types=["raw"])
        assert [page.slug for page in answer.pages] == ["raw/chat"]

    @pytest.mark.parametrize("cursor", ["x", "%%%", "é", "bm9wZQ=="])
    async def test_a_cursor_of_somebody_else_is_refused(self, asked: Asked, cursor: str) -> None:
        with pytest.raises(InvalidArgument, match="cursor"):
            await asked.federation.list_pages("web", cursor=cursor)


class TestProjects:
    async def test_the_fleet_by_name(self, asked: Asked) -> None:
        answer = await asked.federation.projects()
        assert [(entry.project, entry.state, entry.pages) for entry in answer.projects] == [
            ("local/api", "ok", 1),
            ("local/tool", "no wiki", 0),
            ("local/web", "ok", 4),
            ("local/wiki", "ok", 2),
        ]

    async def test_one_with_changes_that_are_not_committed_is_marked(self, asked: Asked) -> None:
        (asked.root / "web/.wiki/concepts/caching.md").write_text("# Caching\n\nEdited.\n")
        await asked.sync()
        marks = {entry.project: entry.uncommitted for entry in (await asked.federation.projects()).projects}
        assert marks == {"local/api": None, "local/tool": None, "local/web": True, "local/wiki": None}

    async def test_by_cursor(self, asked: Asked) -> None:
        first = await asked.federation.projects(limit=3)
        rest = await asked.federation.projects(limit=3, cursor=first.next_cursor)
        assert [entry.project for entry in rest.projects] == ["local/wiki"]
        assert rest.next_cursor is None

    async def test_by_a_part_of_the_name(self, asked: Asked) -> None:
        answer = await asked.federation.projects("W")
        assert [entry.project for entry in answer.projects] == ["local/web", "local/wiki"]

    async def test_the_longest_names_make_cursors_that_are_taken(self, asked: Asked) -> None:
        signs = "\ufdfa" * 80  # each is 18 letters once folded
        for last in "ab":
            make_repo(asked.root / "/".join([signs] * 12) / last, {})
        await asked.sync()
        first = await asked.federation.projects(signs, limit=1)
        assert first.next_cursor is not None
        assert len(first.next_cursor) < MAX_CURSOR
        rest = await asked.federation.projects(signs, cursor=first.next_cursor)
        assert [entry.project[-1] for entry in rest.projects] == ["b"]

    async def test_a_commit_from_the_far_future_does_not_keep_the_others_from_being_listed(self, asked: Asked) -> None:
        commit_files(asked.root / "api", {"x": "y"}, at=999_999_999_999)
        await asked.sync()
        api, *others = (await asked.federation.projects()).projects
        assert (api.project, api.state, api.updated_at) == ("local/api", "ok", None)
        assert len(others) == 3

    async def test_a_foreign_cursor_is_refused(self, asked: Asked) -> None:
        with pytest.raises(InvalidArgument, match="cursor"):
            await asked.federation.projects(cursor="%%%")

    async def test_a_failure_is_part_of_the_state(self, asked: Asked) -> None:
        asked.forge.broken = {"local/tool": Unavailable("local/tool: damaged")}
        commit_files(asked.root / "tool", {"a": "b"})
        await asked.sync()
        answer = await asked.federation.projects("tool")
        assert answer.projects[0].state == "failed: local/tool: damaged"


class TestStatus:
    async def test_the_text_as_it_stands(self, asked: Asked) -> None:
        answer = await asked.federation.status("web")
        assert (answer.text, answer.path, answer.truncated) == (WEB["STATUS.md"], "STATUS.md", False)

    async def test_is_bounded(self, asked: Asked) -> None:
        (asked.root / "web/STATUS.md").write_text("x" * 30_000)
        await asked.sync()
        answer = await asked.federation.status("web")
        assert (len(answer.text), answer.chars, answer.truncated) == (20_000, 30_000, True)
        assert answer.uncommitted is True

    async def test_a_project_without_one(self, asked: Asked) -> None:
        with pytest.raises(NotFound, match=r"no STATUS\.md in local/tool"):
            await asked.federation.status("tool")

    async def test_of_a_project_that_was_never_read_nobody_knows(self, asked: Asked) -> None:
        asked.forge.broken = {"local/new": Unavailable("local/new: damaged")}
        make_repo(asked.root / "new", {"STATUS.md": "fine"})
        await asked.sync()
        with pytest.raises(Unavailable, match="local/new: damaged"):
            await asked.federation.status("new")


@pytest.mark.parametrize("project", ["local/*", "we?"])
async def test_a_pattern_names_no_project(asked: Asked, project: str) -> None:
    with pytest.raises(InvalidArgument, match="project: names, not patterns"):
        await asked.federation.status(project)


class TestRefresh:
    async def test_brings_what_was_pushed_since(self, asked: Asked) -> None:
        commit_files(asked.root / "web", {".wiki/concepts/late.md": "# Late\n"})
        entry = await asked.federation.refresh("web")
        assert entry.pages == 5
        assert (await asked.federation.ask_projects("late", ["web"])).found

    async def test_one_that_failed_may_be_tried_again_at_once(self, asked: Asked) -> None:
        federation = asked.federation
        asked.forge.broken = {"local/web": Unavailable("local/web cannot be read")}
        with pytest.raises(Unavailable):
            await federation.refresh("web")
        asked.forge.broken = {}
        assert (await federation.refresh("web")).state == "ok"

    async def test_twice_within_ten_seconds_is_too_soon(self, asked: Asked) -> None:
        federation = asked.federation
        await federation.refresh("web")
        asked.now += 4
        with pytest.raises(RateLimited, match="refreshed 4 s ago"):
            await federation.refresh("web")
        asked.now += 6
        await federation.refresh("web")
