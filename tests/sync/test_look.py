"""Large wikis, read portion by portion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pytest

from cache.errors import StoreFailure
from cache.model import MAX_INDEX, Snapshot, TreeEntry
from cache.store import SqliteStore
from sync import look
from sync.wiki_index import MAX_TEXT, read_wiki
from sync.worker import SyncReport, sync_forge
from tests.support.forges import LOCAL, Faulty, make_fleet

pytestmark = pytest.mark.anyio

NOW = 4_000_000_000.0  # seconds since the UTC epoch
WIKI: dict[str, str | bytes] = {
    ".wiki/index.md": "# Wiki\n\n- [Parts](parts/)\n",
    ".wiki/parts/index.md": "# Parts\n\n- [One](one.md) — the first\n",
    **{f".wiki/parts/{name}.md": f"# The {name}\n\n{'word ' * 20}\n" for name in ("one", "two", "three")},
}


@dataclass
class Wiki:
    """A fleet of one large wiki, and what was committed of it. ``full`` lets the cache take that many more."""

    forge: Faulty
    store: SqliteStore
    committed: list[Snapshot] = field(default_factory=list)
    full: int = 100
    now: float = NOW

    async def sync(self) -> SyncReport:
        self.now += 60
        return await sync_forge(self.forge, self.store, LOCAL, clock=lambda: self.now)

    def bodies(self) -> list[str]:
        (wiki,) = self.store.projects(limit=2)
        return sorted(self.store.bodies(wiki.key, [page.sha for page in self.store.pages(wiki.key)]).values())

    def titles(self) -> list[str]:
        (wiki,) = self.store.projects(limit=2)
        return [page.title for page in self.store.pages(wiki.key)]


@pytest.fixture
def wiki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wiki]:
    store = SqliteStore(tmp_path / "cache.db", clock=lambda: NOW, on_notice=print)
    wiki = Wiki(Faulty(make_fleet(tmp_path / "src", {"wiki": WIKI})), store)
    commit = store.commit

    def note(snapshot: Snapshot, *, listed_at: float) -> bool:
        if not wiki.full:
            raise StoreFailure("no space is left for the cache")
        wiki.full -= 1
        wiki.committed.append(snapshot)
        return commit(snapshot, listed_at=listed_at)

    monkeypatch.setattr(store, "commit", note)
    monkeypatch.setattr(look, "PORTION", 150)  # bytes: each of the three pages has about 100, the indexes less
    yield wiki
    store.close()


async def test_no_more_bodies_are_in_memory_than_make_a_portion(wiki: Wiki) -> None:
    report = await wiki.sync()
    assert (report.changed, report.failed) == (1, ())
    assert [snapshot.partial for snapshot in wiki.committed] == [True, True, True, False]
    assert all(sum(map(len, snapshot.bodies.values())) <= 150 for snapshot in wiki.committed)
    assert len(wiki.bodies()) == 4
    assert wiki.titles() == ["Parts", "One", "The three", "The two"]
    assert (await wiki.sync()).unchanged == 1


async def test_the_index_is_read_once_for_all_portions(wiki: Wiki) -> None:
    await wiki.sync()
    assert wiki.forge.calls.count(("head", "local/wiki")) == 1
    assert wiki.forge.calls.count(("wiki_tree", "local/wiki")) == 1
    assert wiki.forge.calls.count(("read", "local/wiki")) == 1 + 4 + 1  # the index, the portions, the sub-index


async def test_a_sync_that_ends_between_two_portions_is_continued_by_the_next(wiki: Wiki) -> None:
    wiki.full = 2
    with pytest.raises(StoreFailure):
        await wiki.sync()
    assert len(wiki.bodies()) == 2
    assert wiki.titles()[:2] == ["Parts", "One"]
    wiki.full = 100
    assert (await wiki.sync()).changed == 1
    assert len(wiki.bodies()) == 4
    assert sum(len(snapshot.bodies) for snapshot in wiki.committed) == 4
    assert (await wiki.sync()).unchanged == 1


async def test_a_refresh_between_two_portions_is_left_as_it_is(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = wiki.store.commit

    def second_is_late(snapshot: Snapshot, *, listed_at: float) -> bool:
        return refused(snapshot, listed_at=listed_at) if not wiki.committed else False

    monkeypatch.setattr(wiki.store, "commit", second_is_late)
    assert (await wiki.sync()).changed == 1
    assert len(wiki.committed) == 1


async def test_more_than_a_bound_is_not_mirrored(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "MAX_MIRRORED", 300)
    await wiki.sync()
    assert len(wiki.bodies()) == 3
    assert len(wiki.titles()) == 4
    assert (await wiki.sync()).unchanged == 1


def test_of_large_sub_indexes_no_more_are_wanted_than_are_read() -> None:
    count = 100
    tree = [TreeEntry("index.md", 0o100644, "0" * 40, 0)]
    tree += [TreeEntry(f"p{n}/index.md", 0o100644, f"{n:040}", MAX_INDEX) for n in range(count)]
    root = "".join(f"- [t](p{n}/)\n" for n in range(count))
    reading = read_wiki(tree, {"index.md": root}, {})
    assert len(reading.wanted) * MAX_INDEX <= 4 * MAX_TEXT
    indexes: dict[str, str | None] = {"index.md": root} | dict.fromkeys(reading.wanted)
    assert read_wiki(tree, indexes, {}).wanted == ()  # those that cannot be read count too


async def test_large_wikis_are_looked_at_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "LIGHT", 0)
    forge = Faulty(make_fleet(tmp_path / "src", dict.fromkeys(("a", "b", "c"), WIKI)))
    store = SqliteStore(tmp_path / "cache.db", clock=lambda: NOW, on_notice=print)
    try:
        await sync_forge(forge, store, LOCAL, clock=lambda: NOW)
    finally:
        store.close()
    reads = [name for what, name in forge.calls if what == "read"]
    assert [name for name, _ in groupby(reads)] == sorted(set(reads), key=reads.index)
    assert len(reads) > 3
