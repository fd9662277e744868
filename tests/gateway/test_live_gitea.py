"""Questions and pages read live from a Gitea over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from cache.errors import NotFound, NotUtf8
from cache.model import RepoRef
from gateway.answers import AskAnswer
from sync.forge.base import Answer
from tests.fake_gitea import FORGEJO, GITEA_1_22, Delay, Dialect, Reply, Reset, Symlink, too_many, unavailable, web_page
from tests.fake_gitea.faults import Effect
from tests.support.gitea_client import ALICE, READS, fake_forge
from tests.support.gitea_fleet import BATCH, RAW, GiteaFleet, fleet_on, wiki
from tests.support.ten_projects import BOUND, FLEET, GONE, PAGE, SIX, TEN, ask, entry, error, expect_whole, get

pytestmark = pytest.mark.anyio


async def until(condition: Callable[[], bool]) -> None:
    """Wait for the forge or the gateway, which go on meanwhile."""
    with anyio.fail_after(BOUND):
        while not condition():  # noqa: ASYNC110 the forge is in another thread
            await anyio.sleep(0.005)
    await anyio.wait_all_tasks_blocked()


@contextmanager
def held(fleet: GiteaFleet) -> Iterator[None]:
    """Have the forge answer nothing during the block."""
    fleet.forge.held = True
    try:
        yield
    finally:
        fleet.forge.held = False


async def asked_at_once(fleet: GiteaFleet, count: int) -> AskAnswer:
    """The answer to a question of which ``count`` requests are under way while nothing is answered, and no more."""
    answers = list[AskAnswer]()

    async def put() -> None:
        answers.append(await ask(fleet.federation))

    async with anyio.create_task_group() as group:
        with held(fleet):
            group.start_soon(put)
            await until(lambda: fleet.forge.max_in_flight >= count)
            assert fleet.forge.max_in_flight == count
    return answers[0]


def reads_of(fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of projects that the forge's client is asked to read from, as they are asked for."""
    names, read = list[str](), fleet.client.read

    async def noted(repo: RepoRef, paths: Sequence[str], *, limit: int) -> tuple[Answer, ...]:
        names.append(repo.name)
        return await read(repo, paths, limit=limit)

    monkeypatch.setattr(fleet.client, "read", noted)
    return names


class TestRequests:
    async def test_ten_projects_of_five_matches_cost_ten(self, fleet: GiteaFleet) -> None:
        expect_whole(await ask(fleet.federation))
        assert fleet.forge.counts == {BATCH: 10}

    async def test_are_no_more_for_a_token_that_may_only_read(self, fleet: GiteaFleet) -> None:
        """It is the token that setting up asks for."""
        fleet.forge.add_token("alice", ALICE, READS)
        expect_whole(await ask(fleet.federation))
        assert fleet.forge.counts == {BATCH: 10}

    async def test_of_a_single_match_is_its_bytes_alone(self, fleet: GiteaFleet) -> None:
        await ask(fleet.federation, ["acme/r0"], "yarn berry", limit=1)
        assert fleet.forge.counts == {RAW: 1}

    async def test_where_nothing_matches_there_are_none(self, fleet: GiteaFleet) -> None:
        assert not (await ask(fleet.federation, query="nothing of the kind")).found
        assert fleet.forge.counts == {}

    @pytest.mark.parametrize("dialect", [GITEA_1_22, FORGEJO], ids=["Gitea 1.22", "Forgejo"])
    async def test_without_batches_are_one_for_each_page(self, tmp_path: Path, dialect: Dialect) -> None:
        async with fleet_on(fake_forge(dialect=dialect), tmp_path, repositories=FLEET) as fleet:
            await fleet.expect_complete()
            fleet.forge.reset_counts()
            expect_whole(await ask(fleet.federation))
            assert fleet.forge.counts == {RAW: 50}

    async def test_that_are_identical_are_sent_once(self, fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch) -> None:
        federation, reads = fleet.federation, reads_of(fleet, monkeypatch)
        async with anyio.create_task_group() as group:
            with held(fleet):
                for _ in range(10):
                    group.start_soon(ask, federation)
                    group.start_soon(get, federation)
                await until(lambda: len(reads) == 10 * len(TEN) + 10)
        assert fleet.forge.counts == {BATCH: 10, RAW: 1}

    async def test_keep_to_the_bound(self, fleet: GiteaFleet) -> None:
        expect_whole(await asked_at_once(fleet, 8))
        assert fleet.forge.max_in_flight == 8

    async def test_of_twenty_questions_at_once_keep_to_it_too_and_each_is_answered(self, fleet: GiteaFleet) -> None:
        fleet.forge.delay = 0.01
        federation, answers = fleet.federation, dict[int, AskAnswer]()

        async def put(number: int) -> None:
            answers[number] = await ask(federation, TEN, f"yarn {SIX[number % 6]}", limit=1 + number % 5)

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(put, number)
        assert fleet.forge.max_in_flight <= 8
        for number, answer in answers.items():
            for project in TEN:
                found = entry(answer, project)
                assert found.warning is None
                assert len(found.matches) == 1 + number % 5
                assert all(match.stale is None and "on Windows" in match.snippet for match in found.matches)

    async def test_of_later_questions_do_not_overtake_an_earlier_one(
        self, fleet: GiteaFleet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        federation, reads, done = fleet.federation, reads_of(fleet, monkeypatch), list[str]()

        async def put(name: str, projects: Sequence[str], limit: int) -> None:
            await ask(federation, projects, limit=limit)
            done.append(name)

        async with anyio.create_task_group() as group:
            with held(fleet):
                group.start_soon(put, "early", TEN, 5)
                await until(lambda: len(reads) == 10)
                group.start_soon(put, "small", ["acme/r3"], 2)
                await until(lambda: len(reads) == 11)
                for number in (3, 4, 6):
                    group.start_soon(put, f"late {number}", TEN, number)
                await until(lambda: len(reads) == 11 + 30)
        assert "small" in done[:2]


class TestOthers:
    async def test_trouble_with_some_projects_leaves_the_rest_whole(self, fleet: GiteaFleet) -> None:
        fleet.forge.faults.add(Delay(BOUND), path="/repos/acme/r1/*")
        fleet.forge.remove("acme/r2")
        fleet.forge.faults.add(Reply(403, '{"message":"not yours"}', "application/json"), path="/repos/acme/r3/*")
        fleet.forge.faults.add(web_page(), path="/repos/acme/r4/*")
        fleet.forge.faults.add(Reset(), path="/repos/acme/r5/*")
        fleet.policy = replace(fleet.policy, deadline=3.0)
        answer = await ask(fleet.federation, [*TEN, "acme/r77"])
        expect_whole(answer, [TEN[0], *TEN[6:]])
        slow = entry(answer, "acme/r1")
        assert slow.warning == "timed out after 3 s"
        assert {match.snippet for match in slow.matches} == {"(fetch failed)"}
        assert error(answer, "acme/r2").error == GONE
        assert "not yours" in error(answer, "acme/r3").error
        assert "HTML where the API's answer was expected" in error(answer, "acme/r4").error
        assert "unreachable: connection" in error(answer, "acme/r5").error
        misspelt = error(answer, "acme/r77")
        assert misspelt.error == "unknown project — run sync first"
        assert misspelt.did_you_mean

    async def test_a_token_that_is_refused_is_told_where_there_is_no_copy(self, fleet: GiteaFleet) -> None:
        fleet.forge.revoke(ALICE)
        answer = await ask(fleet.federation)
        assert {error(answer, name).error for name in TEN} == {
            f"token refused by {fleet.client.host} — run gateway doctor"
        }

    async def test_copies_stand_in_for_what_a_refused_token_cannot_read(self, mirrored: GiteaFleet) -> None:
        mirrored.forge.revoke(ALICE)
        answer = await ask(mirrored.federation)
        for found in (entry(answer, name) for name in TEN):
            assert all(match.stale and "on Windows" in match.snippet for match in found.matches)
            assert (found.warning or "").startswith(
                f"token refused by {mirrored.client.host} — run gateway doctor; copies are"
            )

    @pytest.mark.parametrize("max_in_flight", [2, 8])
    async def test_a_slow_project_that_is_read_page_by_page_leaves_the_rest_whole_too(
        self, tmp_path: Path, max_in_flight: int
    ) -> None:
        """Its pages must not take every place there is."""
        many = {name: wiki(*(f"Yarn {number}" for number in range(20)), about="runs on Windows") for name in TEN}
        forge = fake_forge(dialect=GITEA_1_22)
        async with fleet_on(forge, tmp_path, repositories=many, max_in_flight=max_in_flight) as fleet:
            await fleet.expect_complete()
            fleet.forge.faults.add(Delay(BOUND), path="/repos/acme/r1/*")
            fleet.policy = replace(fleet.policy, deadline=3.0)
            answer = await ask(fleet.federation, ["acme/r1", "acme/r0", "acme/r2"], limit=20)
            assert entry(answer, "acme/r1").warning == "timed out after 3 s"
            for project in ("acme/r0", "acme/r2"):
                found = entry(answer, project)
                assert found.warning is None
                assert len(found.matches) == 20

    async def test_copies_stand_in_for_what_is_slow_forbidden_or_garbled(self, mirrored: GiteaFleet) -> None:
        mirrored.forge.faults.add(Delay(BOUND), path="/repos/acme/r1/*")
        mirrored.forge.faults.add(Reply(403, '{"message":"not yours"}', "application/json"), path="/repos/acme/r3/*")
        mirrored.forge.faults.add(web_page(), path="/repos/acme/r4/*")
        mirrored.policy = replace(mirrored.policy, deadline=3.0)
        answer = await ask(mirrored.federation)
        expect_whole(answer, [TEN[0], TEN[2], *TEN[5:]])
        for project, why in (("acme/r1", "timed out after 3 s"), ("acme/r3", "not yours"), ("acme/r4", "HTML")):
            found = entry(answer, project)
            assert why in (found.warning or "")
            assert all(match.stale and "on Windows" in match.snippet for match in found.matches)

    async def test_nothing_is_shown_of_a_project_that_is_no_longer_visible(self, mirrored: GiteaFleet) -> None:
        mirrored.forge.remove("acme/r2")
        assert error(await ask(mirrored.federation), "acme/r2").error == GONE
        with pytest.raises(NotFound, match=GONE):
            await get(mirrored.federation, project="acme/r2")

    async def test_a_project_that_was_renamed_since_is_read_under_its_new_name(self, fleet: GiteaFleet) -> None:
        fleet.forge.rename("acme/r2", "other/site")
        expect_whole(await ask(fleet.federation))
        assert "on Windows" in (await get(fleet.federation, project="acme/r2")).text

    async def test_a_page_that_is_gone_is_left_out_and_the_next_sync_looks(self, fleet: GiteaFleet) -> None:
        repo = fleet.forge.repo("acme/r0")
        moved_at = repo.updated
        repo.commit({PAGE: None})
        repo.updated = moved_at  # only the read can tell
        found = entry(await ask(fleet.federation), "acme/r0")
        assert "concepts/yarn-exec" not in [match.slug for match in found.matches]
        assert (await fleet.expect_complete()).changed == 1
        assert "concepts/yarn-exec" not in fleet.slugs("acme/r0")

    async def test_what_became_a_symbolic_link_or_no_text_is_not_read(self, fleet: GiteaFleet) -> None:
        fleet.forge.repo("acme/r0").commit({PAGE: Symlink("yarn-lock.md"), ".wiki/concepts/yarn-lock.md": b"\xff\xfe"})
        found = entry(await ask(fleet.federation), "acme/r0")
        assert "concepts/yarn-exec" not in [match.slug for match in found.matches]
        assert {match.snippet for match in found.matches if match.slug == "concepts/yarn-lock"} == {"(fetch failed)"}
        with pytest.raises(NotUtf8):
            await get(fleet.federation, "concepts/yarn-lock")


class TestLoad:
    @pytest.mark.parametrize("effect", [too_many("0"), unavailable(), unavailable("0")], ids=["429", "503", "503, 0 s"])
    async def test_is_halved_after_an_overload_that_nobody_notices_and_raised_again(
        self, fleet: GiteaFleet, effect: Effect
    ) -> None:
        fleet.forge.faults.add(effect, times=1)
        expect_whole(await ask(fleet.federation, ["acme/r0"]), ["acme/r0"])
        fleet.forge.reset_counts()
        expect_whole(await asked_at_once(fleet, 4))
        for _ in range(4):
            await ask(fleet.federation)
        fleet.forge.reset_counts()
        expect_whole(await asked_at_once(fleet, 8))

    async def test_of_a_forge_that_asks_for_more_time_than_there_is_is_none(self, mirrored: GiteaFleet) -> None:
        """It is left alone as long as it asked; copies answer meanwhile."""
        mirrored.forge.faults.add(too_many("50"), times=1)
        mirrored.policy = replace(mirrored.policy, deadline=2.0)
        await get(mirrored.federation)
        mirrored.forge.reset_counts()
        answer = await ask(mirrored.federation)
        assert mirrored.forge.counts == {}
        for project in TEN:
            found = entry(answer, project)
            assert "it asks to wait" in (found.warning or "")
            assert all(match.stale for match in found.matches)


class TestRevalidation:
    async def test_a_page_that_the_cache_has_is_not_sent_again(self, mirrored: GiteaFleet) -> None:
        page = await get(mirrored.federation)
        assert (page.text, page.stale, page.age_s) == (FLEET["acme/r0"][PAGE], False, 0)
        assert [(exchange.key, exchange.status) for exchange in mirrored.forge.requests] == [(RAW, 304)]

    async def test_a_page_that_changed_is_sent_and_then_no_more(self, mirrored: GiteaFleet) -> None:
        mirrored.forge.commit("acme/r0", {PAGE: "# Yarn exec\n\nNew.\n"})
        for _ in range(2):
            page = await get(mirrored.federation)
            assert (page.text, page.stale) == ("# Yarn exec\n\nNew.\n", False)
        assert [exchange.status for exchange in mirrored.forge.requests] == [200, 304]

    async def test_the_index_is_not_sent_again_either(self, fleet: GiteaFleet) -> None:
        page = await get(fleet.federation, "index")
        assert page.text == FLEET["acme/r0"][".wiki/index.md"]
        assert [exchange.status for exchange in fleet.forge.requests] == [304]

    async def test_a_page_without_a_copy_is_sent(self, fleet: GiteaFleet) -> None:
        await get(fleet.federation)
        assert [exchange.status for exchange in fleet.forge.requests] == [200]

    async def test_a_page_pushed_since_the_last_sync_can_be_read(self, fleet: GiteaFleet) -> None:
        fleet.forge.commit("acme/r0", {".wiki/concepts/late.md": "# Late\n"})
        assert (await get(fleet.federation, "concepts/late")).text == "# Late\n"
