"""Answers that get lost: what was sent is found, or sent again, and never written twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from cache.errors import Conflict, Unavailable
from sync.forge.writing import Unsettled
from tests.fake_gitea import CutBody, Gzip, Hang, Json, Reply, Reset, unavailable, web_page
from tests.fake_gitea.faults import Effect
from tests.support.history import making
from tests.support.ingesting import COMMIT, INDEX, LINE, PAGE, REQUEST, WIKI, Desk, Fate, revision

pytestmark = pytest.mark.anyio

CONTENTS = "/repos/{owner}/{repo}/contents"
UNHEARD: list[Effect] = [Reset(), Reply(500), Reply(502), Reply(504), unavailable(), web_page(200)]
DONE: list[Effect] = [Reset(after=True), CutBody(), Gzip(cut=4), Json({}), Json(None), Json([])]
ONE = WIKI[".wiki/concepts/one.md"]
OTHER = "# Cache keys\n\nWhat Bob found.\n"


def kind(effect: Effect) -> str:
    """An effect's name in a test's."""
    return f"{effect.status}" if isinstance(effect, Reply) else type(effect).__name__


def added(desk: Desk, slug: str = "concepts/keys", text: str = PAGE) -> int:
    """How many commits made the page what it was to be."""
    return len(making(desk.repo, f".wiki/{slug}.md", revision(text)))


class TestSettled:
    @pytest.mark.parametrize("effect", DONE, ids=kind)
    async def test_what_was_carried_out_is_found(self, desk: Desk, effect: Effect) -> None:
        desk.server.faults.add(effect, method="POST", route=CONTENTS, times=1)
        answer = await desk.ingest()
        assert (answer.created, answer.commit) == (True, desk.repo.branches["main"])
        assert (desk.posts, added(desk), desk.index().count(LINE)) == (1, 1, 1)

    @pytest.mark.parametrize("effect", UNHEARD, ids=kind)
    async def test_what_was_not_is_sent_again(self, desk: Desk, effect: Effect) -> None:
        desk.server.faults.add(effect, method="POST", route=CONTENTS, times=1)
        answer = await desk.ingest()
        assert (answer.created, answer.commit) == (True, desk.repo.branches["main"])
        assert (desk.posts, added(desk), desk.index().count(LINE)) == (2, 1, 1)

    @pytest.mark.parametrize("fate", ["done", "undone", "late"])
    async def test_so_it_is_with_the_change_of_a_page(self, desk: Desk, fate: Fate) -> None:
        answer = await desk.losing(fate).ingest("concepts/one", expected=revision(ONE))
        assert (answer.created, answer.commit) == (False, desk.repo.branches["main"])
        assert added(desk, "concepts/one") == 1

    @pytest.mark.parametrize("fates", [["late"], ["late", "late"], ["undone", "late"], ["undone", "done"]])
    async def test_a_request_that_arrives_after_all_is_the_only_one(self, desk: Desk, fates: Sequence[Fate]) -> None:
        answer = await desk.losing(*fates).ingest()
        assert (answer.created, answer.commit) == (True, desk.repo.branches["main"])
        assert (added(desk), desk.index().count(LINE)) == (1, 1)

    async def test_an_empty_repository_gets_one_first_commit(self, desk: Desk) -> None:
        desk.server.add_repo("acme/empty")
        await desk.fleet.sync()
        desk.server.faults.add(Reset(after=True), method="POST", route=CONTENTS, times=1)
        answer = await desk.ingest(project="acme/empty")
        repo = desk.server.repo("acme/empty")
        assert (answer.created, list(repo.objects.commits)) == (True, [answer.commit])

    @pytest.mark.parametrize("after", [False, True])
    async def test_a_caller_who_waited_long_enough_is_answered_by_a_look(self, desk: Desk, after: bool) -> None:
        desk.server.faults.add(Hang(after), method="POST", route=CONTENTS, times=1)
        answer = await replace(desk, deadline=0.5).ingest()
        assert (answer.created, added(desk), desk.posts) == (True, 1, 1 if after else 2)

    async def test_the_cache_knows_what_was_found(self, desk: Desk) -> None:
        await desk.losing("done").ingest()
        assert "concepts/keys" in desk.fleet.slugs("acme/web")


class TestNotSettled:
    async def test_a_forge_that_never_tells_leaves_it_open_after_three_attempts(self, desk: Desk) -> None:
        desk.server.faults.add(Reset(), method="POST", route=CONTENTS)
        with pytest.raises(Unsettled, match="did not tell whether it was carried out"):
            await desk.ingest()
        assert (desk.posts, desk.page()) == (3, None)

    async def test_so_does_one_that_is_gone_when_it_is_looked_at(self, desk: Desk) -> None:
        desk.server.faults.add(Reset(after=True), method="POST", route=CONTENTS, times=1)
        desk.server.faults.add(web_page(404), method="GET", skip=3)
        with pytest.raises(Unsettled):
            await desk.ingest()
        assert desk.posts == 1

    async def test_the_same_call_again_finds_it_and_writes_nothing(self, desk: Desk) -> None:
        await self.test_so_does_one_that_is_gone_when_it_is_looked_at(desk)
        desk.server.faults.clear()
        answer = await desk.ingest()
        assert (answer.created, answer.revision, added(desk), desk.posts) == (False, revision(PAGE), 1, 1)

    async def test_the_next_sync_looks_what_came_of_it(self, desk: Desk) -> None:
        await self.test_so_does_one_that_is_gone_when_it_is_looked_at(desk)
        desk.server.faults.clear()
        assert (await desk.fleet.expect_complete()).changed == 1
        assert "concepts/keys" in desk.fleet.slugs("acme/web")

    async def test_a_forge_that_asks_to_come_again_was_not_written_to(self, desk: Desk) -> None:
        desk.server.faults.add(unavailable("1"), method="POST", route=CONTENTS)
        with pytest.raises(Unavailable) as caught:
            await desk.ingest()
        assert not isinstance(caught.value, Unsettled)
        assert (desk.posts, desk.page()) == (1, None)

    async def test_a_caller_who_gives_up_may_come_again(self, desk: Desk) -> None:
        desk.server.faults.add(Hang(after=True), method="POST", route=CONTENTS, times=1)
        ingester = desk.ingester
        async with anyio.create_task_group() as group:
            group.start_soon(ingester.ingest, desk.fleet.project("acme/web"), REQUEST)
            with anyio.fail_after(10):
                while desk.page() is None:  # noqa: ASYNC110 the forge's thread writes it
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        answer = await ingester.ingest(desk.fleet.project("acme/web"), REQUEST)
        assert (answer.revision, added(desk)) == (revision(PAGE), 1)


class TestOthersMeanwhile:
    async def test_a_page_that_somebody_changed_since_is_a_conflict(self, desk: Desk) -> None:
        losing = desk.losing("done", then=lambda: desk.repo.commit({".wiki/concepts/keys.md": OTHER}))
        with pytest.raises(Conflict, match=r"page exists: .* between read and write, after what was sent may"):
            await losing.ingest()
        assert (desk.page(), added(desk)) == (OTHER, 1)

    async def test_one_that_somebody_took_back_is_not_written_again(self, desk: Desk) -> None:
        taken_back: dict[str, str | None] = {".wiki/concepts/keys.md": None, ".wiki/index.md": INDEX}
        with pytest.raises(Conflict, match=r"keys\.md changed meanwhile and changed back — look before sending"):
            await desk.losing("done", then=lambda: desk.repo.commit(taken_back)).ingest()
        assert (desk.page(), added(desk)) == (None, 1)

    async def test_nor_is_a_change_that_somebody_took_back(self, desk: Desk) -> None:
        taken_back = {".wiki/concepts/one.md": ONE, ".wiki/index.md": INDEX}
        with pytest.raises(Conflict, match="changed meanwhile and changed back"):
            await desk.losing("done", then=lambda: desk.repo.commit({**taken_back})).ingest(
                "concepts/one", expected=revision(ONE)
            )
        assert (desk.page("concepts/one"), added(desk, "concepts/one")) == (ONE, 1)

    async def test_a_commit_elsewhere_does_not_hide_that_nothing_was_written(self, desk: Desk) -> None:
        await desk.losing("undone", then=lambda: desk.repo.commit({"README.md": "# New\n"})).ingest()
        assert (added(desk), desk.index().count(LINE)) == (1, 1)

    async def test_an_index_that_others_add_to_keeps_both_lines(self, desk: Desk) -> None:
        def add() -> None:
            desk.repo.commit({".wiki/index.md": f"{desk.index()}- Bob's note\n"})

        for fate in ("done", "undone", "late"):
            desk.repo.commit({".wiki/concepts/keys.md": None, ".wiki/index.md": INDEX})
            await desk.losing(fate, then=add).ingest()
            assert desk.page() == PAGE
            assert (desk.index().count(LINE), desk.index().count("Bob's note")) == (1, 1)

    async def test_a_line_that_somebody_put_in_other_words_stays_so(self, desk: Desk) -> None:
        def reword() -> None:
            desk.repo.commit({".wiki/index.md": desk.index().replace("what a cache is found by", "see there")})

        answer = await desk.losing("done", then=reword).ingest()
        assert (answer.created, desk.posts) == (True, 1)
        assert "see there" in desk.index()

    async def test_one_that_somebody_overwrote_is_added_again(self, desk: Desk) -> None:
        overwritten = INDEX + "- Bob's note\n"
        answer = await desk.losing("done", then=lambda: desk.repo.commit({".wiki/index.md": overwritten})).ingest()
        assert (answer.created, added(desk)) == (True, 1)
        assert desk.index() == overwritten.replace("first\n", f"first\n{LINE}")
        assert desk.server.counts[COMMIT] == 2
