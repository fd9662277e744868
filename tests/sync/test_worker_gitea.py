"""The sync of a fleet on a Gitea over HTTP: what it asks for, and what it is spared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from tests.fake_gitea import (
    FORGEJO,
    GITEA_1_22,
    Dialect,
)
from tests.fake_gitea.state import ALL
from tests.support.gitea_client import ALICE, READS, fake_forge
from tests.support.gitea_fleet import (
    BATCH,
    LISTING,
    MIRRORED,
    PLAIN,
    RAW,
    TREE,
    GiteaFleet,
    Watcher,
    fleet_on,
    wiki,
)

pytestmark = pytest.mark.anyio


class TestRequests:
    @pytest.mark.parametrize("scopes", [ALL, READS], ids=["all scopes", "reading alone"])
    async def test_of_a_first_sync_are_those_of_listing_heads_wikis_and_batches(
        self, tmp_path: Path, scopes: frozenset[str]
    ) -> None:
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
        forge = fake_forge()
        forge.add_token("alice", ALICE, scopes)
        async with fleet_on(forge, tmp_path, repositories=repositories) as fleet:
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
            fleet.forge.delay = 0.2
            await fleet.expect_complete()
            assert fleet.forge.counts == {LISTING: 5}
            assert fleet.forge.max_in_flight in range(2, 5)

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
