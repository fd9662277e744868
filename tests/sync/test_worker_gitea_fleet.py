"""The sync of a fleet on a Gitea over HTTP: which projects there are, and what is noticed of them and when."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cache.model import ProjectState
from sync.credentials import TokenSource
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient
from sync.worker import sync_forge
from tests.fake_gitea import (
    Access,
    Json,
    Reply,
    Reset,
    listen,
    web_page,
)
from tests.support.gitea_client import ALICE, fake_forge
from tests.support.gitea_fleet import (
    INDEX,
    LISTING,
    NOW,
    GiteaFleet,
    fleet_on,
    wiki,
)

pytestmark = pytest.mark.anyio


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
