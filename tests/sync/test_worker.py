"""The sync of one forge, on real repositories and a real cache file."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cache.errors import Denied, NotFound, StoreFailure, Unavailable
from cache.model import Listed, PageFacts, Project, ProjectState, RepoRef, Snapshot, TreeEntry
from cache.store import SqliteStore
from sync import wiki_index
from sync.forge.base import Head
from sync.plan import SyncSettings
from sync.worker import SyncReport, refresh, sync_forge
from tests.support.forges import API, LOCAL, NO_WIKI, WEB, Faulty, make_fleet
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

LATER = 4_000_000_000.0  # seconds since the UTC epoch: long after any file of these tests was written


@dataclass
class Watcher:
    """Keeps what a progress bar would be told."""

    counts: list[int] = field(default_factory=list)
    plans: list[tuple[int, int]] = field(default_factory=list)
    done: dict[str, str | None] = field(default_factory=dict)

    def listed(self, count: int, total: int | None) -> None:
        self.counts.append(count)

    def planned(self, looks: int, unchanged: int) -> None:
        self.plans.append((looks, unchanged))

    def looked(self, name: str, failure: str | None) -> None:
        self.done[name] = failure


@dataclass
class Fleet:
    root: Path
    forge: Faulty
    store: SqliteStore
    now: float = LATER

    def clock(self) -> float:
        self.now += 0.001
        return self.now

    async def sync(self, settings: SyncSettings = LOCAL, watcher: Watcher | None = None) -> SyncReport:
        self.now += 60
        return await sync_forge(self.forge, self.store, settings, clock=self.clock, progress=watcher)

    def project(self, name: str) -> Project:
        (project,) = self.store.resolve(name).projects
        return project

    def names(self) -> list[str]:
        return [project.name for project in self.store.projects(limit=100)]


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    root = tmp_path / "src"
    forge = make_fleet(root, {"web": WEB, "api": API, "tool": NO_WIKI})
    make_repo(root / "fresh", {})
    store = SqliteStore(tmp_path / "cache.db", clock=lambda: made.now, on_notice=print)
    made = Fleet(root, Faulty(forge), store)
    yield made
    store.close()


async def test_the_first_sync_looks_at_everything(fleet: Fleet) -> None:
    watcher = Watcher()
    report = await fleet.sync(watcher=watcher)
    assert (report.listed, report.changed, report.unchanged, report.failed) == (4, 4, 0, ())
    assert report.no_wiki == 1
    assert report.complete
    assert watcher.plans == [(4, 0)]
    assert set(watcher.done) == {"local/web", "local/api", "local/tool", "local/fresh"}


async def test_the_cache_then_knows_status_index_pages_and_states(fleet: Fleet) -> None:
    await fleet.sync()
    web = fleet.project("web")
    status = fleet.store.status(web.key)
    assert status is not None
    assert status.text == WEB["STATUS.md"]
    assert [page.slug for page in fleet.store.pages(web.key)] == [
        "concepts/windows-yarn-exec",
        "concepts/caching",
        "raw/chat",
        "notes/unlisted",
    ]
    assert fleet.project("tool").state is ProjectState.NO_WIKI
    assert fleet.project("fresh").state is ProjectState.EMPTY


async def test_an_unlisted_page_takes_title_and_type_from_its_body(fleet: Fleet) -> None:
    await fleet.sync()
    page = fleet.store.page(fleet.project("web").key, "notes/unlisted")
    assert page is not None
    assert (page.title, page.type, page.listed) == ("Kept aside", "concepts", False)


async def test_the_second_sync_looks_at_nothing(fleet: Fleet) -> None:
    await fleet.sync()
    fleet.forge.calls.clear()
    report = await fleet.sync()
    assert (report.changed, report.unchanged) == (0, 4)
    assert fleet.forge.calls == []


async def test_one_that_breaks_while_it_is_read_has_failed_and_keeps_what_was_known(fleet: Fleet) -> None:
    await fleet.sync()
    commit_files(fleet.root / "web", {".wiki/concepts/new.md": "# New\n"})
    tree = fleet.forge.wiki_tree

    async def losing(repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
        if repo.name == "local/web":
            for folder in (fleet.root / "web/.git/objects").iterdir():
                shutil.rmtree(folder)
        return await tree(repo, head)

    fleet.forge.wiki_tree = losing  # type: ignore[method-assign]
    report = await fleet.sync()
    assert [failure.project for failure in report.failed] == ["local/web"]
    assert "is missing" in report.failed[0].reason
    assert fleet.project("web").state is ProjectState.FAILED
    assert len(fleet.store.pages(fleet.project("web").key)) == 4


async def test_reading_a_wiki_lets_the_event_loop_run(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()

    def noting(
        tree: Sequence[TreeEntry], indexes: Mapping[str, str | None], facts: Mapping[str, PageFacts]
    ) -> wiki_index.Reading:
        seen.add(threading.get_ident())
        return wiki_index.read_wiki(tree, indexes, facts)

    monkeypatch.setattr("sync.look.read_wiki", noting)
    await fleet.sync()
    assert seen
    assert threading.get_ident() not in seen


@pytest.mark.full
async def test_a_thousand_repositories_below_one_root(tmp_path: Path) -> None:
    names = [f"team{number // 100}/r{number}" for number in range(1000)]
    forge = make_fleet(tmp_path / "src", {name: {".wiki/a.md": f"# {name}\n"} for name in names})
    store = SqliteStore(tmp_path / "cache.db", clock=lambda: LATER, on_notice=print)
    report = await sync_forge(forge, store, LOCAL, clock=lambda: LATER)
    assert (report.listed, report.changed, report.failed) == (1000, 1000, ())
    assert [project.pages for project in store.projects(limit=2000)] == [1] * 1000
    store.close()


async def test_only_what_changed_is_looked_at(fleet: Fleet) -> None:
    await fleet.sync()
    commit_files(fleet.root / "api", {".wiki/concepts/new.md": "# New\n"})
    report = await fleet.sync()
    assert (report.changed, report.unchanged) == (1, 3)
    assert fleet.store.page(fleet.project("api").key, "concepts/new") is not None


async def test_a_commit_outside_the_wiki_does_not_read_the_wiki_again(fleet: Fleet) -> None:
    await fleet.sync()
    commit_files(fleet.root / "api", {"code.py": "pass\n"})
    fleet.forge.calls.clear()
    await fleet.sync()
    assert ("wiki_tree", "local/api") not in fleet.forge.calls
    assert fleet.project("api").pages == 1
    assert fleet.project("api").state is ProjectState.OK


async def test_other_settings_make_it_look_again(fleet: Fleet) -> None:
    await fleet.sync()
    report = await fleet.sync(replace(LOCAL, status_paths=("README.md",)))
    assert report.changed == 4
    status = fleet.store.status(fleet.project("tool").key)
    assert status is not None
    assert status.path == "README.md"


async def test_what_is_gone_is_purged(fleet: Fleet) -> None:
    await fleet.sync()
    shutil.rmtree(fleet.root / "api")
    report = await fleet.sync()
    assert report.removed == 1
    assert "local/api" not in fleet.names()


async def test_a_listing_that_breaks_off_purges_nothing_and_what_it_gave_is_looked_at(fleet: Fleet) -> None:
    await fleet.sync()
    shutil.rmtree(fleet.root / "api")
    commit_files(fleet.root / "web", {".wiki/concepts/late.md": "# Late\n"})
    fleet.forge.listing_error = Unavailable("local unreachable: it broke", host="local")
    fleet.forge.listing_pages = 1
    report = await fleet.sync()
    assert report.listing_error == "local unreachable: it broke"
    assert report.removed == 0
    assert "local/api" in fleet.names()
    assert fleet.store.page(fleet.project("web").key, "concepts/late") is not None


async def test_a_failure_is_its_projects_own(fleet: Fleet) -> None:
    fleet.forge.broken = {"local/web": Unavailable("local/web: a pack is damaged")}
    watcher = Watcher()
    report = await fleet.sync(watcher=watcher)
    assert [(failure.project, failure.reason) for failure in report.failed] == [
        ("local/web", "local/web: a pack is damaged")
    ]
    assert report.changed == 3
    assert watcher.done["local/web"] == "local/web: a pack is damaged"
    assert fleet.project("web").state is ProjectState.FAILED


async def test_a_failed_project_keeps_its_old_content_and_is_looked_at_next_time(fleet: Fleet) -> None:
    await fleet.sync()
    commit_files(fleet.root / "web", {".wiki/concepts/late.md": "# Late\n"})
    fleet.forge.broken = {"local/web": Unavailable("broken")}
    await fleet.sync()
    assert fleet.project("web").pages == 4
    fleet.forge.broken.clear()
    report = await fleet.sync()
    assert report.changed == 1
    assert fleet.project("web").pages == 5
    assert fleet.project("web").failure is None


async def test_a_refusal_is_a_state_of_its_own(fleet: Fleet) -> None:
    fleet.forge.broken = {"local/web": Denied("local/web: permission denied")}
    await fleet.sync()
    assert fleet.project("web").state is ProjectState.DENIED


async def test_a_fault_of_our_own_fails_one_project_and_says_so(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    fleet.forge.broken = {"local/web": RuntimeError("secret detail")}
    report = await fleet.sync()
    assert [failure.reason for failure in report.failed] == ["internal error (RuntimeError), see the log"]
    assert report.changed == 3
    assert "internal error" in caplog.text


async def test_what_the_cache_cannot_hold_fails_one_project(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = fleet.store.commit

    def choosy(snapshot: Snapshot, *, listed_at: float) -> bool:
        if snapshot.listed.repo.name == "local/web":
            raise OverflowError("a size of 88 bits")
        return commit(snapshot, listed_at=listed_at)

    monkeypatch.setattr(fleet.store, "commit", choosy)
    report = await fleet.sync()
    assert [failure.project for failure in report.failed] == ["local/web"]
    assert report.changed == 3
    assert fleet.project("web").state is ProjectState.FAILED


async def test_a_cache_that_cannot_be_written_ends_the_sync(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(snapshot: Snapshot, *, listed_at: float) -> bool:
        raise StoreFailure("the disk is full — make room and sync again")

    monkeypatch.setattr(fleet.store, "commit", full)
    with pytest.raises(StoreFailure, match="disk is full"):
        await fleet.sync()


async def test_bodies_are_mirrored_only_where_wanted(fleet: Fleet) -> None:
    await fleet.sync(SyncSettings(pages=("local/api",)))
    web, api = fleet.project("web"), fleet.project("api")
    assert fleet.store.bodies(web.key, [page.sha for page in fleet.store.pages(web.key)]) == {}
    assert list(fleet.store.bodies(api.key, [page.sha for page in fleet.store.pages(api.key)]).values()) == [
        API[".wiki/concepts/rate-limits.md"]
    ]


async def test_a_page_that_is_no_text_is_a_page_without_a_body(fleet: Fleet) -> None:
    make_repo(fleet.root / "odd", {".wiki/concepts/latin.md": "# Größe\n".encode("latin-1")})
    report = await fleet.sync()
    assert report.failed == ()
    assert [page.slug for page in fleet.store.pages(fleet.project("odd").key)] == ["concepts/latin"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"# I\n\x00", "NUL bytes"),
        ("# Größe\n".encode("latin-1"), "not UTF-8"),
        (b"<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n", "conflict markers"),
        (b"# I\n" + b"x" * (1024 * 1024), "over 1 MiB"),
    ],
)
async def test_an_index_that_cannot_be_read_is_kept_with_its_reason(fleet: Fleet, data: bytes, reason: str) -> None:
    make_repo(fleet.root / "odd", {".wiki/index.md": data, ".wiki/concepts/a.md": "# A\n"})
    await fleet.sync()
    odd = fleet.project("odd")
    assert odd.index_problem == reason
    assert odd.pages == 1


async def test_sub_indexes_are_read_level_by_level(fleet: Fleet) -> None:
    make_repo(
        fleet.root / "deep",
        {
            ".wiki/index.md": "# Top\n\n- [Parts](parts/)\n",
            ".wiki/parts/index.md": "# Parts\n\n- [Engine](engine/)\n- [Wheel](wheel.md)\n",
            ".wiki/parts/engine/README.md": "# Engine\n\n- [Spark plug](plug.md) — ignites\n",
            ".wiki/parts/wheel.md": "# Wheel\n",
            ".wiki/parts/engine/plug.md": "# P\n",
        },
    )
    await fleet.sync()
    plug = fleet.store.page(fleet.project("deep").key, "parts/engine/plug")
    assert plug is not None
    assert (plug.title, plug.description, plug.listed) == ("Spark plug", "ignites", True)


class TestRefresh:
    async def test_brings_one_project_up_to_date(self, fleet: Fleet) -> None:
        await fleet.sync()
        commit_files(fleet.root / "web", {".wiki/concepts/late.md": "# Late\n"})
        now = fleet.clock() + 60
        project = await refresh(fleet.forge, fleet.store, LOCAL, fleet.project("web"), now=now)
        assert project.pages == 5
        assert project.looked_at == now

    async def test_a_sync_never_overwrites_what_was_refreshed_after_it_listed(self, fleet: Fleet) -> None:
        await fleet.sync()
        web = fleet.project("web")
        commit_files(fleet.root / "web", {".wiki/concepts/late.md": "# Late\n"})
        listed_at = fleet.clock()
        fleet.now += 60
        await refresh(fleet.forge, fleet.store, LOCAL, web, now=fleet.clock())
        listed = await fleet.forge.find("local/web")
        older = Snapshot(listed, ProjectState.EMPTY, listed_at, "settings")
        assert not fleet.store.commit(older, listed_at=listed_at)
        assert fleet.project("web").pages == 5

    async def test_another_repository_that_has_the_name_now_is_read_whole(self, fleet: Fleet) -> None:
        class Moved(Faulty):
            async def find(self, name: str) -> Listed:
                return await super().find("local/tool" if name == "local/web" else name)

        await fleet.sync()
        commit_files(fleet.root / "tool", WEB)
        project = await refresh(
            Moved(fleet.forge.inner), fleet.store, LOCAL, fleet.project("web"), now=fleet.clock() + 60
        )
        assert (project.name, project.pages) == ("local/tool", 4)

    async def test_a_project_that_is_gone_says_so_and_keeps_its_content(self, fleet: Fleet) -> None:
        await fleet.sync()
        shutil.rmtree(fleet.root / "web")
        with pytest.raises(NotFound):
            await refresh(fleet.forge, fleet.store, LOCAL, fleet.project("web"), now=fleet.clock() + 60)
        assert fleet.project("web").pages == 4
        assert fleet.project("web").state is ProjectState.FAILED
