"""The sync of a fleet on a Gitea over HTTP: what it asks for, what it keeps, and what it notices."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from cache.model import ProjectState, RepoRef, TreeEntry
from sync.credentials import TokenSource
from sync.forge.base import Answer, Head
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient
from sync.worker import sync_forge
from tests.fake_gitea import (
    FORGEJO,
    GITEA_1_22,
    Access,
    CutBody,
    Dialect,
    Endless,
    Gzip,
    Json,
    Reply,
    Reset,
    listen,
    redirect,
    web_page,
)
from tests.fake_gitea.faults import Effect
from tests.support.gitea_client import ALICE, fake_forge
from tests.support.gitea_fleet import (
    BATCH,
    INDEX,
    LISTING,
    MIRRORED,
    NOW,
    PLAIN,
    RAW,
    TREE,
    GiteaFleet,
    Watcher,
    fleet_on,
    wiki,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[GiteaFleet]:
    repositories = {"acme/web": wiki("Yarn", "Caching"), "acme/api": wiki("Limits", status=None), "acme/tool": PLAIN}
    async with fleet_on(fake_forge(), tmp_path, repositories=repositories) as fleet:
        yield fleet


class TestRequests:
    async def test_of_a_first_sync_are_those_of_listing_heads_wikis_and_batches(self, tmp_path: Path) -> None:
        """120 repositories: 30 with wiki and STATUS, 30 with a wiki alone, 20 with a STATUS alone, 30 with neither,
        10 without a commit."""
        shapes: list[tuple[int, Mapping[str, str]]] = [
            (30, wiki("Yarn", "Caching")),
            (30, wiki("Yarn", status=None)),
            (20, {"STATUS.md": "# Status\n"}),
            (30, PLAIN),
            (10, {}),
        ]
        repositories = {
            f"acme/r{kind}-{at}": files for kind, (count, files) in enumerate(shapes) for at in range(count)
        }
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories) as fleet:
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 3, TREE: 110 + 60, BATCH: 80}
            assert sum(fleet.forge.counts.values()) <= math.ceil(120 / 50) + 120 + 60 + 80

    async def test_of_a_second_sync_are_the_listings(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        report = await fleet.expect_complete()
        assert fleet.forge.counts == {LISTING: 1}
        assert (report.changed, report.unchanged) == (0, 3)

    async def test_pages_of_a_listing_are_asked_for_side_by_side(self, tmp_path: Path) -> None:
        async with fleet_on(
            fake_forge(), tmp_path, repositories={f"acme/r{number}": {} for number in range(210)}
        ) as fleet:
            await fleet.expect_complete()
            fleet.forge.delay = 0.05
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 5}
            assert fleet.forge.max_in_flight == 4

    async def test_of_a_changed_project_are_three(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.forge.commit("acme/web", {".wiki/concepts/late.md": "# Late\n"})
        report = await fleet.expect_complete()
        assert fleet.forge.counts == {LISTING: 1, TREE: 2, BATCH: 1}
        assert report.changed == 1
        assert "concepts/late" in fleet.slugs("web")

    async def test_of_a_commit_that_left_the_wiki_alone_do_not_read_the_wiki(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        before = fleet.slugs("web"), fleet.slugs("api")
        fleet.forge.commit("acme/web", {"code.py": "pass\n"})
        fleet.forge.commit("acme/api", {"code.py": "pass\n"})
        await fleet.expect_complete()
        assert fleet.forge.counts == {LISTING: 1, TREE: 2, BATCH: 1}  # the batch is one STATUS file
        assert (fleet.slugs("web"), fleet.slugs("api")) == before

    async def test_of_sub_indexes_are_one_for_each_level(self, tmp_path: Path) -> None:
        deep = {
            ".wiki/index.md": "- [Parts](parts/)\n- [Tools](tools/)\n",
            ".wiki/parts/index.md": "- [Engine](engine/)\n",
            ".wiki/tools/index.md": "- [Hammer](hammer.md)\n",
            ".wiki/parts/engine/index.md": "- [Spark plug](plug.md)\n",
            ".wiki/parts/engine/plug.md": "# P\n",
            ".wiki/tools/hammer.md": "# H\n",
        }
        async with fleet_on(fake_forge(), tmp_path, repositories={"acme/deep": deep}) as fleet:
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 1, TREE: 2, BATCH: 1 + 2}
            listed = [page.title for page in fleet.store.pages(fleet.project("deep").key) if page.listed]
            assert listed == ["Parts", "Tools", "Engine", "Hammer", "Spark plug"]

    async def test_of_a_large_wiki_are_one_for_each_further_thousand_entries(self, tmp_path: Path) -> None:
        large = {f".wiki/concepts/p{number:04}.md": f"# {number}\n" for number in range(2100)}
        async with fleet_on(fake_forge(), tmp_path, repositories={"acme/large": large}) as fleet:
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 1, TREE: 1 + 3}
            assert len(fleet.slugs("large")) == 2100

    async def test_of_mirrored_bodies_are_one_for_thirty(self, tmp_path: Path) -> None:
        repositories = {"acme/web": wiki(*(f"Page {number}" for number in range(65)))}
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories, settings=MIRRORED) as fleet:
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 1, TREE: 2, BATCH: 1 + 3}
            assert len(fleet.texts("web")) == 65

    async def test_of_a_mirror_bring_only_what_is_new(self, tmp_path: Path) -> None:
        repositories = {"acme/web": wiki(*(f"Page {number}" for number in range(65)))}
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories, settings=MIRRORED) as fleet:
            await fleet.expect_complete()
            fleet.forge.commit("acme/web", {".wiki/concepts/page-7.md": "# Seven\n"})
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 1, TREE: 2, BATCH: 2}
            assert fleet.texts("web")["concepts/page-7"] == "# Seven\n"

    @pytest.mark.parametrize("dialect", [GITEA_1_22, FORGEJO], ids=["Gitea 1.22", "Forgejo"])
    async def test_without_batches_read_file_by_file(self, tmp_path: Path, dialect: Dialect) -> None:
        repositories = {"acme/web": wiki("Yarn"), "acme/api": wiki("Limits")}
        async with fleet_on(fake_forge(dialect=dialect), tmp_path, repositories=repositories) as fleet:
            await fleet.expect_complete()
            assert fleet.forge.counts[RAW] == 4
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 1}
            fleet.forge.commit("acme/web", {".wiki/concepts/late.md": "# Late\n"})
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 1, TREE: 2, RAW: 2}


class TestNames:
    async def test_a_rename_keeps_the_project_and_reads_nothing(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        before = fleet.project("acme/web")
        repo = fleet.forge.repo("acme/web")
        moved_at = repo.updated
        repo.rename("acme/site")
        repo.updated = moved_at  # as when the owner is renamed, which no repository's time shows
        report = await fleet.expect_complete()
        assert (report.renamed, report.changed) == (1, 0)
        assert fleet.forge.counts == {LISTING: 1}
        after = fleet.project("acme/site")
        assert after.key == before.key
        assert after.pages == before.pages
        assert after.url == f"{fleet.forge.root_url}acme/site"
        assert fleet.store.resolve("acme/web").projects == ()

    async def test_a_rename_that_moves_the_time_stamp_does_not_read_the_wiki(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.forge.rename("acme/api", "acme/interface")
        report = await fleet.expect_complete()
        assert (report.renamed, report.removed) == (1, 0)
        assert fleet.forge.counts == {LISTING: 1, TREE: 1}
        assert fleet.slugs("acme/interface") == ["concepts/limits"]

    async def test_two_that_swap_their_names_swap_nothing_else(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        web, api = fleet.project("acme/web").key, fleet.project("acme/api").key
        fleet.forge.rename("acme/web", "acme/between")
        fleet.forge.rename("acme/api", "acme/web")
        fleet.forge.rename("acme/between", "acme/api")
        report = await fleet.expect_complete()
        assert (report.renamed, report.removed) == (2, 0)
        assert (fleet.project("acme/api").key, fleet.project("acme/web").key) == (web, api)
        assert fleet.slugs("acme/web") == ["concepts/limits"]

    async def test_a_rename_onto_a_deleted_name_is_that_project_now(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        web = fleet.project("acme/web").key
        fleet.forge.remove("acme/api")
        fleet.forge.rename("acme/web", "acme/api")
        report = await fleet.expect_complete()
        assert (report.renamed, report.removed) == (1, 1)
        assert fleet.names() == ["acme/api", "acme/tool"]
        assert fleet.project("acme/api").key == web
        assert "concepts/yarn" in fleet.slugs("acme/api")

    async def test_a_new_repository_under_a_deleted_name_is_another_project(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        before = fleet.project("acme/web").key
        fleet.forge.remove("acme/web")
        fleet.forge.add_repo("acme/web", wiki("Other"))
        report = await fleet.expect_complete()
        assert (report.changed, report.removed) == (1, 1)
        assert fleet.project("acme/web").key != before
        assert fleet.slugs("acme/web") == ["concepts/other"]

    async def test_a_transfer_to_another_owner_is_a_rename(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        key = fleet.project("acme/web").key
        fleet.forge.rename("acme/web", "other/web")
        assert (await fleet.expect_complete()).renamed == 1
        assert fleet.project("other/web").key == key


class TestSnapshot:
    async def test_a_push_between_two_requests_of_a_look_is_left_for_the_next(
        self, fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Head, tree, index and STATUS are of one commit, whatever is pushed meanwhile."""
        read = GiteaForge.wiki_tree

        async def pushed_after(client: GiteaForge, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
            if repo.name == "acme/web":
                fleet.forge.commit(
                    "acme/web", {".wiki/index.md": "# New\n", "STATUS.md": "# New\n", ".wiki/b.md": "# B\n"}
                )
            return await read(client, repo, head)

        monkeypatch.setattr(GiteaForge, "wiki_tree", pushed_after)
        await fleet.expect_complete()
        web = fleet.project("acme/web")
        status, index = fleet.store.status(web.key), fleet.store.index(web.key)
        assert status is not None
        assert index is not None
        assert (status.text, index.text) == (
            wiki("Yarn", "Caching")["STATUS.md"],
            wiki("Yarn", "Caching")[".wiki/index.md"],
        )
        assert fleet.slugs("acme/web") == ["concepts/yarn", "concepts/caching"]
        monkeypatch.setattr(GiteaForge, "wiki_tree", read)
        await fleet.expect_complete()
        assert fleet.slugs("acme/web") == ["b", "concepts/caching", "concepts/yarn"]
        assert fleet.project("acme/web").revision == fleet.forge.repo("acme/web").branches["main"]

    async def test_bodies_of_a_mirror_are_of_the_commit_too(
        self, fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = GiteaForge.wiki_tree

        async def pushed_after(client: GiteaForge, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
            tree = await read(client, repo, head)
            fleet.forge.commit(repo.name, {".wiki/concepts/yarn.md": "# Newer\n"})
            return tree

        monkeypatch.setattr(GiteaForge, "wiki_tree", pushed_after)
        await fleet.expect_complete(MIRRORED)
        assert fleet.texts("acme/web")["concepts/yarn"] == wiki("Yarn")[".wiki/concepts/yarn.md"]

    async def test_a_commit_that_was_rewritten_away_fails_the_look_and_not_the_next(
        self, fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = GiteaForge.wiki_tree

        async def lost_after(client: GiteaForge, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
            tree = await read(client, repo, head)
            if repo.name == "acme/web":
                web = fleet.forge.repo("acme/web")
                web.branches.clear()
                web.objects.commits.clear()
                web.commit({".wiki/new.md": "# New\n"})
            return tree

        monkeypatch.setattr(GiteaForge, "wiki_tree", lost_after)
        report = await fleet.sync()
        assert [failure.project for failure in report.failed] == ["acme/web"]
        assert "has no commit" in report.failed[0].reason
        monkeypatch.setattr(GiteaForge, "wiki_tree", read)
        await fleet.expect_complete()
        assert fleet.slugs("acme/web") == ["new"]


class TestFleet:
    """Which projects there are."""

    async def test_what_is_deleted_is_purged_after_a_complete_listing(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.forge.remove("acme/api")
        assert (await fleet.expect_complete()).removed == 1
        assert fleet.names() == ["acme/tool", "acme/web"]

    async def test_nothing_is_purged_after_a_listing_that_breaks_off(self, tmp_path: Path) -> None:
        repositories = {f"acme/r{number:03}": wiki("Yarn") for number in range(60)}
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories) as fleet:
            await fleet.expect_complete()
            fleet.forge.remove("acme/r005")
            fleet.forge.commit("acme/r001", {".wiki/late.md": "# Late\n"})
            fleet.forge.faults.add(Reply(500), route="/user/repos", skip=1)
            report = await fleet.sync()
            assert report.listing_error is not None
            assert "HTTP 500" in report.listing_error
            assert (report.removed, report.changed) == (0, 1)
            assert "acme/r005" in fleet.names()
            assert "late" in fleet.slugs("acme/r001")  # what was listed is looked at all the same
            fleet.forge.faults.clear()
            assert (await fleet.expect_complete()).removed == 1

    async def test_a_forge_that_is_down_purges_nothing_and_says_so(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.forge.faults.add(Reset(), route="/user/repos")
        report = await fleet.sync()
        assert report.listing_error is not None
        assert "unreachable" in report.listing_error
        assert (report.listed, report.removed) == (0, 0)
        assert len(fleet.names()) == 3

    async def test_a_project_that_became_invisible_goes(self, fleet: GiteaFleet) -> None:
        fleet.forge.add_user("bob")
        repo = fleet.forge.add_repo("bob/secret", wiki("Plans"), private=True)
        repo.share("alice", Access.READ)
        await fleet.expect_complete()
        assert "bob/secret" in fleet.names()
        repo.share("alice", Access.NONE)
        assert (await fleet.expect_complete()).removed == 1
        assert "bob/secret" not in fleet.names()

    async def test_a_project_that_becomes_invisible_after_it_was_listed_fails_alone(self, fleet: GiteaFleet) -> None:
        fleet.forge.faults.add(Json({"message": "not found"}), path="/repos/acme/web/*")
        fleet.forge.faults.add(Reply(404, '{"message":"not found"}', "application/json"), path="/repos/acme/api*")
        report = await fleet.sync()
        assert {failure.project: failure.reason for failure in report.failed}["acme/api"] == (
            "not found or not visible to this token"
        )
        assert report.changed == 1

    async def test_excluded_projects_go_and_included_ones_come(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        await fleet.expect_complete(replace(INDEX, exclude=("acme/a*",)))
        assert fleet.names() == ["acme/tool", "acme/web"]
        await fleet.expect_complete(replace(INDEX, include=("ACME/api",)))
        assert fleet.names() == ["acme/api"]

    async def test_archived_projects_can_be_left_out(self, fleet: GiteaFleet) -> None:
        fleet.forge.repo("acme/web").archive()
        await fleet.expect_complete(replace(INDEX, archived=False))
        assert fleet.names() == ["acme/api", "acme/tool"]

    async def test_forks_can_be_left_out(self, fleet: GiteaFleet) -> None:
        fleet.forge.add_repo("alice/web", parent=fleet.forge.repo("acme/web"))
        await fleet.expect_complete()
        assert "alice/web" in fleet.names()
        assert (await fleet.expect_complete(replace(INDEX, forks=False))).removed == 1
        assert "alice/web" not in fleet.names()

    async def test_the_same_name_on_two_forges_is_two_projects(self, fleet: GiteaFleet, tmp_path: Path) -> None:
        other = fake_forge()
        other.add_repo("acme/web", wiki("Other"))
        await fleet.expect_complete()
        with listen(other) as url:
            client = GiteaForge("other", HttpClient(), GiteaSettings(url, token=TokenSource(token=ALICE)))
            report = await sync_forge(client, fleet.store, INDEX, clock=fleet.clock)
            await client.aclose()
        assert report.complete
        found = fleet.store.resolve("acme/web").projects
        assert [(project.key.forge, project.pages) for project in found] == [("main", 2), ("other", 1)]
        fleet.forge.remove("acme/web")
        assert (await fleet.expect_complete()).removed == 1
        (left,) = fleet.store.resolve("acme/web").projects
        assert left.key.forge == "other"


class TestListed:
    """What only the listing shows, though no push moved a time-stamp."""

    async def test_an_archived_flag_is_noticed(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        repo = fleet.forge.repo("acme/web")
        moved_at = repo.updated
        repo.archive()
        repo.updated = moved_at
        await fleet.expect_complete()
        assert fleet.project("acme/web").archived

    async def test_another_default_branch_is_noticed(self, fleet: GiteaFleet) -> None:
        repo = fleet.forge.repo("acme/web")
        repo.commit({".wiki/next.md": "# Next\n"}, branch="next")
        await fleet.expect_complete()
        assert "next" not in fleet.slugs("acme/web")
        repo.default_branch = "next"
        await fleet.expect_complete()
        assert "next" in fleet.slugs("acme/web")
        assert fleet.project("acme/web").repo.default_branch == "next"

    async def test_another_address_of_the_forge_is_noticed(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.forge.root_url = "https://git.example.test/"
        await fleet.expect_complete()
        assert fleet.project("acme/web").url == "https://git.example.test/acme/web"

    async def test_the_first_commit_of_an_empty_repository_is_noticed(self, fleet: GiteaFleet) -> None:
        repo = fleet.forge.add_repo("acme/fresh")
        moved_at = repo.updated
        await fleet.expect_complete()
        assert fleet.project("acme/fresh").state is ProjectState.EMPTY
        repo.commit(wiki("Yarn"))
        repo.updated = moved_at
        await fleet.expect_complete()
        assert fleet.slugs("acme/fresh") == ["concepts/yarn"]

    async def test_a_description_is_not(self, fleet: GiteaFleet) -> None:
        """What is not kept need not be looked at."""
        await fleet.expect_complete()
        fleet.forge.repo("acme/web").add_label("bug")
        await fleet.expect_complete()
        assert fleet.forge.counts == {LISTING: 1}


class TestClocks:
    """Time-stamps are of whole seconds, and no two clocks agree."""

    def at(self, fleet: GiteaFleet, seconds: float) -> None:
        """Let the forge's clock show so many seconds after now, in what it stamps and in what it answers."""
        fleet.forge.clock.now = datetime.fromtimestamp(NOW + seconds, UTC)
        fleet.forge.date_skew = NOW + seconds - time.time()

    @pytest.mark.parametrize("skew", [0, 3600, -3600, 86400 * 400], ids="gateway {0:+} s".format)
    async def test_a_push_within_the_second_of_the_last_look_is_noticed(self, fleet: GiteaFleet, skew: float) -> None:
        repo = fleet.forge.repo("acme/web")
        self.at(fleet, 0)
        first = datetime.fromtimestamp(NOW, UTC)
        repo.commit({"code.py": "pass\n"}, at=first)
        fleet.clock.now = NOW + skew - 60
        await fleet.expect_complete()
        repo.commit({".wiki/late.md": "# Late\n"}, at=first)
        self.at(fleet, 60)
        await fleet.expect_complete()
        assert "late" in fleet.slugs("acme/web")

    @pytest.mark.parametrize("skew", [0, 3600, 86400 * 400], ids="gateway {0:+} s".format)
    async def test_what_was_pushed_just_before_a_look_is_looked_at_once_more_and_then_no_more(
        self, fleet: GiteaFleet, skew: float
    ) -> None:
        self.at(fleet, 0)
        fleet.forge.repo("acme/web").commit({"code.py": "pass\n"}, at=datetime.fromtimestamp(NOW, UTC))
        fleet.clock.now = NOW + skew - 60
        await fleet.expect_complete()
        for seconds, looks in ((60, 1), (120, 0)):
            self.at(fleet, seconds)
            assert (await fleet.expect_complete()).changed == looks

    async def test_twice_within_a_second_notices_what_was_pushed_between(self, fleet: GiteaFleet) -> None:
        repo = fleet.forge.repo("acme/web")
        self.at(fleet, 0)
        first = datetime.fromtimestamp(NOW, UTC)
        repo.commit({"code.py": "pass\n"}, at=first)
        fleet.clock.now = NOW + 1000.2 - 60  # a clock that is far ahead
        await fleet.expect_complete()
        repo.commit({".wiki/late.md": "# Late\n"}, at=first)
        fleet.clock.now = NOW + 1000.7 - 60
        await fleet.expect_complete()
        assert "late" in fleet.slugs("acme/web")

    async def test_a_clock_that_jumps_back_does_not_keep_news_out_of_the_cache(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.clock.now -= 86400
        fleet.forge.commit("acme/web", {".wiki/late.md": "# Late\n"})
        fleet.forge.add_repo("acme/new", wiki("New"))
        await fleet.expect_complete()
        assert "late" in fleet.slugs("acme/web")
        assert "acme/new" in fleet.names()

    async def test_a_clock_that_jumps_back_does_not_keep_what_is_gone(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.clock.now -= 86400
        fleet.forge.remove("acme/api")
        assert (await fleet.expect_complete()).removed == 1

    async def test_a_clock_that_jumps_back_lets_a_failure_be_told(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.clock.now -= 86400
        fleet.forge.commit("acme/web", {".wiki/late.md": "# Late\n"})
        fleet.forge.faults.add(web_page(), path="/repos/acme/web/*")
        await fleet.sync()
        assert fleet.project("acme/web").state is ProjectState.FAILED

    async def test_a_clock_that_jumps_ahead_and_back_costs_nothing_in_the_end(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.clock.now += 86400 * 1000
        fleet.forge.commit("acme/web", {".wiki/late.md": "# Late\n"})
        await fleet.expect_complete()
        fleet.clock.now = NOW + 3600
        fleet.forge.commit("acme/web", {".wiki/later.md": "# Later\n"})
        await fleet.expect_complete()
        assert {"late", "later"} <= set(fleet.slugs("acme/web"))
        await fleet.expect_complete()
        assert fleet.forge.counts == {LISTING: 1}


class TestSettings:
    async def test_other_status_paths_are_read_at_the_next_sync(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        report = await fleet.expect_complete(replace(INDEX, status_paths=("README.md",)))
        assert report.changed == 3
        status = fleet.store.status(fleet.project("acme/tool").key)
        assert status is not None
        assert status.path == "README.md"

    async def test_bodies_come_and_go_with_pages(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        assert fleet.texts("acme/web") == {}
        await fleet.expect_complete(replace(INDEX, pages=("acme/web",)))
        assert set(fleet.texts("acme/web")) == {"concepts/yarn", "concepts/caching"}
        assert fleet.texts("acme/api") == {}
        await fleet.expect_complete(INDEX)
        assert fleet.texts("acme/web") == {}
        await fleet.expect_complete(INDEX)
        assert fleet.forge.counts == {LISTING: 1}

    async def test_the_shared_wiki_is_always_mirrored(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete(replace(INDEX, shared="acme/api"))
        assert set(fleet.texts("acme/api")) == {"concepts/limits"}
        assert fleet.texts("acme/web") == {}

    async def test_a_setting_that_concerns_one_project_looks_at_that_one(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        report = await fleet.expect_complete(replace(INDEX, shared="acme/api"))
        assert (report.changed, report.unchanged) == (1, 2)


class TestFailures:
    @pytest.mark.parametrize(
        ("effect", "reason"),
        [
            (web_page(), "HTML where the API's answer was expected"),
            (Json({"sha": 5}), "where the API's answer was expected"),
            (Reply(500, '{"message":"boom"}', "application/json"), "HTTP 500 Internal Server Error: boom"),
            (Reply(403, '{"message":"no"}', "application/json"), "HTTP 403 Forbidden: no"),
            (Endless(), "far too much where the API's answer was expected"),
            (Gzip(cut=4), "gzip that ends early"),
            (CutBody(), "connection closed before the answer was whole"),
            (Reset(), "connection"),
            (redirect("https://elsewhere.test/"), "it redirects to https://elsewhere.test"),
        ],
        ids=["HTML", "odd JSON", "500", "403", "endless", "short gzip", "cut", "reset", "redirect"],
    )
    async def test_is_its_projects_own_and_is_kept_with_its_reason(
        self, fleet: GiteaFleet, effect: Effect, reason: str
    ) -> None:
        fleet.forge.faults.add(effect, path="/repos/acme/web/*")
        report = await fleet.sync()
        assert [failure.project for failure in report.failed] == ["acme/web"]
        assert reason in report.failed[0].reason
        assert report.changed == 2
        web = fleet.project("acme/web")
        assert web.failure == report.failed[0].reason
        assert web.state is (ProjectState.DENIED if "403" in reason else ProjectState.FAILED)

    async def test_leaves_the_old_content_and_is_looked_at_next_time(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        before = fleet.slugs("acme/web")
        fleet.forge.commit("acme/web", {".wiki/late.md": "# Late\n"})
        fleet.forge.faults.add(web_page(), path="/repos/acme/web/file-contents*")
        assert [failure.project for failure in (await fleet.sync()).failed] == ["acme/web"]
        assert fleet.slugs("acme/web") == before
        fleet.forge.faults.clear()
        assert (await fleet.expect_complete()).changed == 1
        assert "late" in fleet.slugs("acme/web")
        assert fleet.project("acme/web").failure is None

    async def test_of_a_token_is_told_for_the_listing(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.forge.revoke(ALICE)
        report = await fleet.sync()
        assert report.listing_error == f"token refused by {fleet.client.host} — run gateway doctor"
        assert len(fleet.names()) == 3


class TestMirror:
    async def test_a_page_that_moves_to_another_project_takes_its_body_along(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The one project lets go of the blob while the other, which found it in the cache, is still being read."""
        page = ".wiki/concepts/yarn.md"
        forge = fake_forge()
        async with fleet_on(
            forge, tmp_path, repositories={"acme/from": wiki("Yarn"), "acme/to": wiki("Caching")}, settings=MIRRORED
        ) as fleet:
            await fleet.expect_complete()
            text = wiki("Yarn")[page]
            forge.commit("acme/to", {page: text, ".wiki/concepts/new.md": "# New\n"})
            forge.commit("acme/from", {page: None})
            committed = anyio.Event()

            class After(Watcher):
                def looked(self, name: str, failure: str | None) -> None:
                    super().looked(name, failure)
                    if name == "acme/from":
                        committed.set()

            read = GiteaForge.read

            async def held_back(
                client: GiteaForge, repo: RepoRef, paths: Sequence[str], *, ref: str | None = None, limit: int
            ) -> tuple[Answer, ...]:
                if repo.name == "acme/to" and ".wiki/concepts/new.md" in paths:
                    await committed.wait()
                return await read(client, repo, paths, ref=ref, limit=limit)

            monkeypatch.setattr(GiteaForge, "read", held_back)
            await fleet.sync(watcher=After())
            monkeypatch.setattr(GiteaForge, "read", read)
            await fleet.expect_complete()
            assert fleet.texts("acme/to")["concepts/yarn"] == text


class TestInterruption:
    async def test_what_was_done_is_not_done_again(self, tmp_path: Path) -> None:
        repositories = {f"acme/r{number:02}": wiki("Yarn") for number in range(40)}
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories) as fleet:
            fleet.forge.delay = 0.002

            class Killer(Watcher):
                def looked(self, name: str, failure: str | None) -> None:
                    super().looked(name, failure)
                    if len(self.done) == 15:
                        scope.cancel()

            with anyio.CancelScope() as scope:
                await fleet.sync(watcher=Killer())
            there = set(fleet.names())
            assert 15 <= len(there) < 40
            fleet.forge.delay = 0
            report = await fleet.expect_complete()
            assert (report.changed, report.unchanged) == (40 - len(there), len(there))
            asked = {exchange.target.split("/")[3] for exchange in fleet.forge.requests if "/git/" in exchange.target}
            assert asked == {name.removeprefix("acme/") for name in repositories.keys() - there}
            assert all(fleet.slugs(name) == ["concepts/yarn"] for name in repositories)
