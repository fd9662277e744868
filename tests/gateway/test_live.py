"""Large pages: a few calls for them must not take all memory there is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from cache.model import Page
from gateway import live
from gateway.answers import ProjectMatches
from gateway.live import FREE, HEAVY_AT_ONCE, LIGHT, LIGHT_AT_ONCE, MAX_GLANCED, LiveReader
from gateway.reading import PageRequest
from tests.support.federation import Asked, federation_over
from tests.support.repos import make_repo

pytestmark = pytest.mark.anyio

LARGE = "# Large yarn\n\n" + "words " * (MAX_GLANCED // 6)
SMALL = "# Small yarn\n\n" + "words " * 100


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    pages: dict[str, str | bytes] = {".wiki/large.md": LARGE, ".wiki/small.md": SMALL}
    async with federation_over(tmp_path, {"web": pages}, shared="local/web") as asked:
        yield asked


async def test_a_page_too_large_for_a_snippet_is_answered_for_by_its_copy(asked: Asked) -> None:
    (entry,) = (await asked.federation.ask_projects("yarn", ["web"])).results
    assert isinstance(entry, ProjectMatches)
    found = {match.slug: match for match in entry.matches}
    assert (found["large"].stale, found["small"].stale) == (True, None)
    assert (found["large"].age_s, found["small"].age_s) == (0, None)
    assert found["large"].snippet.startswith("# Large yarn words words")


async def test_it_can_still_be_read_live(asked: Asked) -> None:
    answer = await asked.federation.get_from("web", PageRequest("large"))
    assert (answer.stale, answer.chars) == (False, len(LARGE))


async def test_it_is_searched_and_shown_by_its_beginning(asked: Asked) -> None:
    answer = await asked.federation.search("large yarn")
    assert answer.matches[0].snippet.startswith("# Large yarn words words")


async def test_few_reads_of_large_pages_go_on_at_once_and_any_number_of_others(asked: Asked) -> None:
    reader = LiveReader(asked.store, {}, lambda: 0.0, deadline=60.0, max_age=0.0)
    inside: list[int] = []
    go_on = anyio.Event()

    async def read(size: int) -> None:
        pages = [Page("a", "0" * 40, size, "other", "A"), Page("b", "0" * 40, 1, "other", "B")]
        async with reader.room(pages, reader.until()):
            inside.append(size)
            await go_on.wait()

    async with anyio.create_task_group() as group:
        for size in (LIGHT, FREE, 1):
            for _ in range(40):
                group.start_soon(read, size)
        await anyio.wait_all_tasks_blocked()
        assert (inside.count(LIGHT), inside.count(FREE), inside.count(1)) == (HEAVY_AT_ONCE, LIGHT_AT_ONCE, 40)
        go_on.set()
    assert len(inside) == 120


async def test_waiting_for_room_counts_to_the_deadline_and_copies_answer_then(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LIGHT_AT_ONCE", 0)
    asked.policy = replace(asked.policy, deadline=0.1)
    asked.forge.calls.clear()
    (entry,) = (await asked.federation.ask_projects("yarn", ["web"])).results
    page = await asked.federation.get_from("web", PageRequest("large"))
    assert isinstance(entry, ProjectMatches)
    assert entry.warning == "timed out after 0.1 s"
    assert [match.stale for match in entry.matches] == [True, True]
    assert (page.stale, page.chars) == (True, len(LARGE))
    assert asked.forge.calls == []


async def test_a_question_has_one_deadline_however_often_it_waits(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes the last place gets what is left of the time, and no more."""
    monkeypatch.setattr(live, "FREE", 0)
    monkeypatch.setattr(live, "LIGHT_AT_ONCE", 1)
    names = [f"more{number}" for number in range(3)]
    for name in names:
        make_repo(asked.root / name, {".wiki/yarn.md": SMALL})
    await asked.sync()
    asked.forge.slow = {f"local/{name}": 3600 for name in names}
    asked.forge.calls.clear()
    asked.policy = replace(asked.policy, deadline=0.2)
    answer = await asked.federation.ask_projects("yarn", names)
    assert [entry.warning for entry in answer.results if isinstance(entry, ProjectMatches)] == [
        "timed out after 0.2 s"
    ] * 3
    assert len(asked.forge.calls) == 1
