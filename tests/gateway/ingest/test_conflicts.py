"""Somebody else was there: before the page was read, or between that and the write. Nothing of theirs is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cache.errors import Conflict, InvalidArgument
from tests.fake_gitea import Symlink, web_page
from tests.fake_gitea.objects import Identity
from tests.support.ingesting import INDEX, LINE, PAGE, REQUEST, WIKI, Desk, revision

pytestmark = pytest.mark.anyio

ONE = WIKI[".wiki/concepts/one.md"]
OTHER = "# One\n\nWhat Bob found.\n"
BOB = Identity("Bob", "bob@example.test")


def bob(desk: Desk, files: dict[str, str | None]) -> None:
    """Push a commit of Bob's."""
    desk.repo.commit(files, author=BOB)


async def refusal(desk: Desk, slug: str = "concepts/one", expected: str | None = None) -> str:
    """The conflict that writing meets. Neither page nor index are touched by it."""
    with pytest.raises(Conflict) as caught:
        await desk.ingest(slug, expected=expected)
    assert PAGE not in (desk.page(slug), desk.page("concepts/one"))
    assert "Cache keys" not in desk.index()
    return caught.value.line


class TestBefore:
    async def test_a_page_that_is_there_is_not_overwritten_unread(self, desk: Desk) -> None:
        assert await refusal(desk) == (
            f"conflict: page exists: acme/web/.wiki/concepts/one.md is at revision {revision(ONE)}, changed by Somebody"
            " at 2026-01-01T00:00:00Z — read it, then send that revision as expected_revision"
        )
        assert desk.posts == 0

    async def test_nor_what_somebody_has_changed_since(self, desk: Desk) -> None:
        bob(desk, {".wiki/concepts/one.md": OTHER})
        assert await refusal(desk, expected=revision(ONE)) == (
            f"conflict: page changed: acme/web/.wiki/concepts/one.md is at revision {revision(OTHER)}, changed by Bob"
            " at 2026-01-01T00:00:01Z, before it was read here — read it, then send that revision as expected_revision"
        )

    async def test_a_page_that_went_is_not_made_anew(self, desk: Desk) -> None:
        bob(desk, {".wiki/concepts/one.md": None})
        assert await refusal(desk, expected=revision(ONE)) == (
            "conflict: page is gone: acme/web/.wiki/concepts/one.md, last changed by Bob at 2026-01-01T00:00:01Z,"
            " before it was read here — leave expected_revision out to make it anew"
        )

    async def test_nor_is_one_that_never_was(self, desk: Desk) -> None:
        told = await refusal(desk, "concepts/new", expected=revision(ONE))
        assert told.startswith("conflict: page is gone: acme/web/.wiki/concepts/new.md, before it was read here — ")

    async def test_a_dry_run_meets_the_same(self, desk: Desk) -> None:
        with pytest.raises(Conflict, match="page exists"):
            await desk.ingest("concepts/one", dry_run=True)

    async def test_the_line_of_a_page_that_stays_takes_having_read_it_too(self, desk: Desk) -> None:
        request = replace(REQUEST, slug="concepts/one", title="One", body=ONE, description="mine")
        with pytest.raises(Conflict, match="page exists"):
            await desk.ingest(request=request)

    async def test_a_forge_that_does_not_tell_who_it_was_spoils_nothing(self, desk: Desk) -> None:
        desk.server.faults.add(web_page(403), route="*/commits")
        told = await refusal(desk)
        assert told == (
            f"conflict: page exists: acme/web/.wiki/concepts/one.md is at revision {revision(ONE)} — read it, then send"
            " that revision as expected_revision"
        )


class TestBetweenReadAndWrite:
    async def test_a_page_that_somebody_was_faster_with_is_theirs(self, desk: Desk) -> None:
        busy = desk.meanwhile(lambda: bob(desk, {".wiki/concepts/keys.md": OTHER}))
        assert await refusal(busy, "keys") == (
            f"conflict: page exists: acme/web/.wiki/concepts/keys.md is at revision {revision(OTHER)}, changed by Bob"
            " at 2026-01-01T00:00:01Z, between read and write — read it, then send that revision as expected_revision"
        )
        assert desk.page() == OTHER

    async def test_a_change_of_the_page_is_told_and_kept(self, desk: Desk) -> None:
        busy = desk.meanwhile(lambda: bob(desk, {".wiki/concepts/one.md": OTHER}))
        assert await refusal(busy, expected=revision(ONE)) == (
            f"conflict: page changed: acme/web/.wiki/concepts/one.md is at revision {revision(OTHER)}, changed by Bob"
            " at 2026-01-01T00:00:01Z, between read and write — read it, then send that revision as expected_revision"
        )
        assert desk.page("concepts/one") == OTHER

    async def test_a_page_that_goes_is_told(self, desk: Desk) -> None:
        busy = desk.meanwhile(lambda: bob(desk, {".wiki/concepts/one.md": None}))
        told = await refusal(busy, expected=revision(ONE))
        assert "page is gone: acme/web/.wiki/concepts/one.md, last changed by Bob" in told
        assert "between read and write" in told

    async def test_a_page_outside_of_the_five_folders_that_goes_is_told(self, desk: Desk) -> None:
        desk.repo.commit({".wiki/guides/deploy.md": "# Deploy\n"})
        busy = desk.meanwhile(lambda: bob(desk, {".wiki/guides/deploy.md": None}))
        with pytest.raises(Conflict, match="page is gone"):
            await busy.ingest(
                request=replace(REQUEST, slug="guides/deploy", type=None), expected=revision("# Deploy\n")
            )

    async def test_a_page_of_nearly_the_same_name_is_told(self, desk: Desk) -> None:
        busy = desk.meanwhile(lambda: bob(desk, {".wiki/concepts/Keys.md": OTHER, ".wiki/index.md": INDEX + "\n"}))
        with pytest.raises(InvalidArgument, match="concepts/Keys exists"):
            await busy.ingest("keys")

    async def test_the_very_same_page_by_somebody_else_is_no_conflict(self, desk: Desk) -> None:
        index = INDEX.replace("first\n", f"first\n{LINE}")
        busy = desk.meanwhile(lambda: bob(desk, {".wiki/concepts/keys.md": PAGE, ".wiki/index.md": index}))
        answer = await busy.ingest()
        assert (answer.created, answer.commit, answer.revision) == (False, None, revision(PAGE))

    @pytest.mark.parametrize("times", [1, 2, 3])
    async def test_an_index_that_others_change_keeps_their_lines(self, desk: Desk, times: int) -> None:
        def another() -> None:
            bob(desk, {".wiki/index.md": f"{desk.index()}- Bob's note {desk.posts}\n"})

        answer = await desk.meanwhile(*[another] * times).ingest()
        assert answer.created
        assert desk.posts == times + 1
        assert desk.index().count(LINE) == 1
        assert all(f"- Bob's note {number}\n" in desk.index() for number in range(times))

    async def test_one_that_does_not_come_to_rest_is_given_up(self, desk: Desk) -> None:
        def another() -> None:
            bob(desk, {".wiki/index.md": f"{desk.index()}- Bob's note {desk.posts}\n"})

        with pytest.raises(Conflict, match=r"\.wiki/index\.md changed 4 times meanwhile — try again"):
            await desk.meanwhile(*[another] * 9).ingest()
        assert (desk.posts, desk.page()) == (4, None)

    async def test_an_index_that_appears_is_added_to(self, desk: Desk) -> None:
        desk.repo.commit({".wiki/index.md": None})
        await desk.meanwhile(lambda: bob(desk, {".wiki/index.md": "# Ours\n"})).ingest()
        assert desk.index() == f"# Ours\n\n## Concepts\n\n{LINE}"

    async def test_an_index_that_goes_is_made_anew(self, desk: Desk) -> None:
        await desk.meanwhile(lambda: bob(desk, {".wiki/index.md": None})).ingest()
        assert desk.index().startswith("# Wiki\n\n## Entities\n")
        assert desk.index().count(LINE) == 1

    async def test_both_page_and_index_of_others_are_a_conflict(self, desk: Desk) -> None:
        theirs = {".wiki/concepts/one.md": OTHER, ".wiki/index.md": f"{INDEX}- Bob's note\n"}
        told = await refusal(desk.meanwhile(lambda: bob(desk, {**theirs})), expected=revision(ONE))
        assert "page changed" in told
        assert desk.index() == theirs[".wiki/index.md"]

    async def test_what_others_write_elsewhere_does_not_matter(self, desk: Desk) -> None:
        await desk.meanwhile(lambda: bob(desk, {"README.md": "# New\n", ".wiki/concepts/two.md": "# Two\n"})).ingest()
        assert (desk.posts, desk.page()) == (1, PAGE)
        assert desk.page("concepts/two") == "# Two\n"


class TestIndex:
    @pytest.mark.parametrize(
        ("index", "reason"),
        [
            (b"# Wiki\n\0", "NUL bytes"),
            (b"# Wiki\xff\n", "not UTF-8"),
            (b"<<<<<<< a\n=======\n>>>>>>> b\n", "conflict markers"),
            (b"x" * (1024 * 1024 + 1), "over 1 MiB"),
        ],
        ids=["NUL", "UTF-8", "conflict", "size"],
    )
    async def test_one_that_cannot_be_read_is_not_written(self, desk: Desk, index: bytes, reason: str) -> None:
        desk.repo.commit({".wiki/index.md": index})
        told = rf"wiki index malformed: {reason} — mend \.wiki/index\.md, then try again"
        with pytest.raises(Conflict, match=told):
            await desk.ingest()
        assert (desk.posts, desk.page()) == (0, None)

    async def test_a_link_in_its_place_is_not_replaced(self, desk: Desk) -> None:
        desk.repo.commit({".wiki/index.md": Symlink("../README.md")})
        with pytest.raises(
            Conflict, match=r"\.wiki/index\.md is in the way of an index — put a regular file in its place"
        ):
            await desk.ingest()
        assert desk.posts == 0
