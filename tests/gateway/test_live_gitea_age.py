"""How old an answer from a Gitea may be, and what is asked again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.gitea_fleet import BATCH, RAW, GiteaFleet
from tests.support.ten_projects import FLEET, PAGE, ask, entry, expect_whole, get

pytestmark = pytest.mark.anyio


async def test_young_copies_answer_without_a_request(mirrored: GiteaFleet) -> None:
    mirrored.policy = replace(mirrored.policy, max_age=60.0)
    mirrored.clock.now += 50
    expect_whole(await ask(mirrored.federation))
    assert (await get(mirrored.federation)).age_s == 50
    assert mirrored.forge.counts == {}


async def test_old_ones_do_not(mirrored: GiteaFleet) -> None:
    mirrored.policy = replace(mirrored.policy, max_age=60.0)
    mirrored.clock.now += 70
    expect_whole(await ask(mirrored.federation))
    assert mirrored.forge.counts == {BATCH: 10}


async def test_a_page_read_a_moment_ago_is_not_read_again(fleet: GiteaFleet) -> None:
    """The cache holds no bodies; the gateway remembers what it has just read itself."""
    fleet.policy = replace(fleet.policy, max_age=60.0)
    federation = fleet.federation
    read = [await get(federation), await get(federation)]
    assert fleet.forge.counts == {RAW: 1}
    assert [(page.text, page.stale) for page in read] == [(FLEET["acme/r0"][PAGE], False)] * 2
    fleet.clock.now += 50
    assert (await get(federation)).age_s == 50
    fleet.clock.now += 20
    assert (await get(federation)).age_s == 0
    assert fleet.forge.counts == {RAW: 2}


async def test_matches_read_a_moment_ago_are_not_read_again(fleet: GiteaFleet) -> None:
    fleet.policy = replace(fleet.policy, max_age=60.0)
    federation = fleet.federation
    await get(federation)
    expect_whole(await ask(federation))
    assert fleet.forge.counts == {RAW: 1, BATCH: 10}
    fleet.clock.now += 30
    answer = await ask(federation)
    expect_whole(answer)
    assert all(match.age_s is not None and match.age_s >= 30 for match in entry(answer, "acme/r3").matches)
    assert fleet.forge.counts == {RAW: 1, BATCH: 10}
    assert (await get(federation, "concepts/yarn-cache")).age_s >= 30
    assert fleet.forge.counts == {RAW: 1, BATCH: 10}


async def test_what_a_sync_has_seen_since_is_newer(fleet: GiteaFleet) -> None:
    fleet.policy = replace(fleet.policy, max_age=3600.0)
    federation = fleet.federation
    await get(federation)
    fleet.forge.commit("acme/r0", {PAGE: "# Yarn exec\n\nNew.\n"})
    await fleet.expect_complete()
    assert (await get(federation)).text == "# Yarn exec\n\nNew.\n"


async def test_copies_are_not_young_because_the_clock_was_set_back(mirrored: GiteaFleet) -> None:
    mirrored.policy = replace(mirrored.policy, max_age=60.0)
    mirrored.clock.now -= 86400
    expect_whole(await ask(mirrored.federation))
    assert (await get(mirrored.federation)).age_s == 0
    assert mirrored.forge.counts == {BATCH: 10, RAW: 1}
