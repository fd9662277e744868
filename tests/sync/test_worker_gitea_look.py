"""The sync of a fleet on a Gitea over HTTP: what one look brings, and what becomes of one that fails."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path

import anyio
import pytest

from cache.model import ProjectState, RepoRef, TreeEntry
from sync.forge.base import Absent, Answer, Head
from sync.forge.blobs import blob_sha
from sync.forge.gitea.client import GiteaForge
from sync.forge.gitea.files import FileReader, Wanted
from sync.worker import SyncReport
from tests.fake_gitea import (
    FORGEJO,
    GITEA,
    GITEA_1_22,
    CutBody,
    Dialect,
    Endless,
    Gzip,
    Json,
    Reply,
    Reset,
    Symlink,
    redirect,
    too_many,
    web_page,
)
from tests.fake_gitea.faults import Effect
from tests.support.git_files import FileContent
from tests.support.gitea_client import ALICE, fake_forge
from tests.support.gitea_fleet import (
    MIRRORED,
    GiteaFleet,
    Watcher,
    fleet_on,
    wiki,
)

pytestmark = pytest.mark.anyio

DIALECTS = (GITEA, GITEA_1_22, FORGEJO)


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

    @pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.version)
    @pytest.mark.parametrize(
        ("now", "reason"),
        [
            ({".wiki/new.md": "# New\n"}, "has no commit"),
            ({".wiki/new.md": "# New\n", ".wiki/index.md": "# Other\n"}, ""),
        ],
        ids=["no index any more", "another index"],
    )
    async def test_a_commit_that_was_rewritten_away_fails_the_look_and_not_the_next(
        self, fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch, dialect: Dialect, now: dict[str, str], reason: str
    ) -> None:
        """An older forge serves the default branch in the place of a commit that is gone, and calls that a success."""
        fleet.forge.dialect = dialect
        read = GiteaForge.wiki_tree

        async def lost_after(client: GiteaForge, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
            tree = await read(client, repo, head)
            if repo.name == "acme/web":
                web = fleet.forge.repo("acme/web")
                web.branches.clear()
                web.objects.commits.clear()
                web.commit(now)
            return tree

        monkeypatch.setattr(GiteaForge, "wiki_tree", lost_after)
        report = await fleet.sync()
        assert [failure.project for failure in report.failed] == ["acme/web"]
        assert reason in report.failed[0].reason
        monkeypatch.setattr(GiteaForge, "wiki_tree", read)
        await fleet.expect_complete()
        assert fleet.slugs("acme/web") == ["new"]

    @pytest.mark.parametrize("lost", [".wiki/index.md", ".wiki/concepts/index.md", ".wiki/concepts/yarn.md"])
    async def test_a_file_that_the_tree_lists_and_nobody_finds_fails_the_look(
        self, fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch, lost: str
    ) -> None:
        """Once it was taken for one that is not there, nothing would make the next sync look again."""
        fleet.forge.commit("acme/web", {".wiki/index.md": "# Wiki\n\n- [Concepts](concepts/)\n"})
        fleet.forge.commit("acme/web", {".wiki/concepts/index.md": "# Concepts\n\n- [Yarn](yarn.md)\n"})
        read = FileReader.read

        async def missed(reader: FileReader, wanted: Wanted, paths: Sequence[str]) -> list[Answer]:
            answers = await read(reader, wanted, paths)
            if wanted.name != "acme/web":
                return answers
            return [Absent(path) if path == lost else answer for path, answer in zip(paths, answers, strict=True)]

        monkeypatch.setattr(FileReader, "read", missed)
        report = await fleet.sync(MIRRORED)
        assert [failure.project for failure in report.failed] == ["acme/web"]
        assert report.failed[0].reason == "acme/web changed while it was read"
        monkeypatch.setattr(FileReader, "read", read)
        await fleet.expect_complete(MIRRORED)
        assert fleet.slugs("acme/web") == ["concepts/index", "concepts/yarn", "concepts/caching"]

    async def test_symbolic_links_are_taken_for_nothing(self, fleet: GiteaFleet) -> None:
        """Not for the index, nor for the STATUS file or a page."""
        link = Symlink("../../etc/passwd")
        linked: dict[str, FileContent] = {
            ".wiki/index.md": link,
            "STATUS.md": link,
            ".wiki/secret.md": link,
            ".wiki/page.md": "# Page\n",
        }
        fleet.forge.add_repo("acme/linked", linked)
        await fleet.expect_complete(MIRRORED)
        key = fleet.project("acme/linked").key
        assert (fleet.store.index(key), fleet.store.status(key)) == (None, None)
        assert fleet.texts("acme/linked") == {"page": "# Page\n"}
        assert fleet.slugs("acme/linked") == ["page"]


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

    async def test_a_page_that_two_projects_get_at_once_has_its_title_in_both(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The one brings the blob into the cache while the other is about to ask what the cache lacks."""
        first = {".wiki/concepts/new.md": "# The same title\n"}
        second = {**first, ".wiki/concepts/own.md": "# Own\n"}
        repositories = {"acme/first": first, "acme/second": second}
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories, settings=MIRRORED) as fleet:
            lacking, committed = fleet.store.lacking, threading.Event()

            def held_back(shas: Collection[str]) -> frozenset[str]:
                if blob_sha(b"# Own\n") in shas:
                    assert committed.wait(30)
                return lacking(shas)

            class After(Watcher):
                def looked(self, name: str, failure: str | None) -> None:
                    super().looked(name, failure)
                    committed.set()

            monkeypatch.setattr(fleet.store, "lacking", held_back)
            await fleet.sync(watcher=After())
            for name in repositories:
                page = fleet.store.page(fleet.project(name).key, "concepts/new")
                assert page is not None
                assert page.title == "The same title"


async def without_deadline(fleet: GiteaFleet) -> SyncReport:
    """Sync as a command does, which knows of no deadline; it is ended all the same when it takes too long."""
    async with anyio.create_task_group() as group:

        async def give_up() -> None:
            await anyio.sleep(30)
            group.cancel_scope.cancel()

        group.start_soon(give_up)
        report = await fleet.sync()
        group.cancel_scope.cancel()
        return report
    raise TimeoutError


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

    async def test_in_the_middle_of_a_large_mirror_is_kept_with_its_reason_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Some of its bodies are in the cache by then."""
        monkeypatch.setattr("sync.look.PORTION", 200)  # a few pages
        repositories = {"acme/web": wiki(*(f"Page {number}" for number in range(40)))}
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories, settings=MIRRORED) as fleet:
            fleet.forge.faults.add(web_page(), path="/repos/acme/web/file-contents", skip=4)
            report = await fleet.sync()
            assert [failure.project for failure in report.failed] == ["acme/web"]
            assert fleet.project("acme/web").state is ProjectState.FAILED
            assert fleet.project("acme/web").failure == report.failed[0].reason
            assert 0 < len(fleet.texts("acme/web")) < 40
            fleet.forge.faults.clear()
            await fleet.expect_complete()
            assert len(fleet.texts("acme/web")) == 40

    async def test_of_a_forge_that_wants_its_peace_are_told_at_once(self, tmp_path: Path) -> None:
        """It asks for an hour in the middle of a sync, which has no deadline, and is asked nothing more."""
        repositories = {f"acme/r{number:02}": wiki("Yarn") for number in range(40)}
        async with fleet_on(fake_forge(), tmp_path, repositories=repositories) as fleet:
            fleet.forge.faults.add(too_many("3600"), skip=20)
            report = await without_deadline(fleet)
            assert report.changed + len(report.failed) == 40
            assert any("it asks to wait 3600 s" in failure.reason for failure in report.failed)
            assert sum(fleet.forge.counts.values()) <= 20 + 8

    async def test_of_a_token_is_told_for_the_listing(self, fleet: GiteaFleet) -> None:
        await fleet.expect_complete()
        fleet.forge.revoke(ALICE)
        report = await fleet.sync()
        assert report.listing_error == f"token refused by {fleet.client.host} — run gateway doctor"
        assert len(fleet.names()) == 3
