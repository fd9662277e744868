"""What is refused, each on its own line with the remedy, and that nothing was written then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cache.errors import Denied, InvalidArgument, KnowledgeError, NotConfigured, NotFound, NotUtf8, TooLarge
from gateway.ingest import Ingester
from gateway.naming import Names
from gateway.write_policy import WritePolicy
from sync.page_edit import MAX_BODY
from tests.fake_gitea import Access, Json
from tests.support.gitea_client import ALICE, client_of
from tests.support.ingesting import PAGE, REQUEST, Desk, revision

pytestmark = pytest.mark.anyio

BOB, READER = "fake-token-bob", "fake-token-reader"
SECRET = "ghp_" + "R4nD0mF4k3V4lu3N0tR34lQzXwVuTsRqPoNm"  # of the shape alone


async def refused(desk: Desk, error: type[KnowledgeError], **changes: str) -> str:
    """Why writing the request with ``changes`` is refused. No commit comes of it."""
    before = desk.commits
    with pytest.raises(error) as caught:
        await desk.ingest(request=replace(REQUEST, **changes))  # type: ignore[arg-type] # its texts only
    assert desk.commits == before
    return caught.value.message


class TestPolicy:
    async def test_a_gateway_that_only_reads_does_not_ask_the_forge(self, desk: Desk) -> None:
        told = await refused(replace(desk, policy=WritePolicy(read_only=True)), Denied)
        assert told == "this gateway is read-only — start it without --read-only, and unset [gateway] read_only"
        assert desk.server.requests == []

    async def test_a_project_that_the_allow_list_leaves_out(self, desk: Desk) -> None:
        told = await refused(replace(desk, policy=WritePolicy(allow=("acme/api", "other/*"))), Denied)
        assert told == "acme/web is not to be written to — add it to [write] allow"
        assert desk.server.requests == []

    @pytest.mark.parametrize("argument", ["slug", "title", "body", "description"])
    async def test_a_secret_wherever_it_stands(self, desk: Desk, argument: str) -> None:
        told = await refused(desk, Denied, **{argument: SECRET})
        assert told == (
            f"secret in {argument}: line 1 looks like a GitHub token — remove it, or set [write] allow_secrets"
        )
        assert desk.server.requests == []

    async def test_one_is_written_where_the_configuration_lets_it(self, desk: Desk) -> None:
        await replace(desk, policy=WritePolicy(allow_secrets=True)).ingest(body=SECRET)
        assert SECRET in (desk.page() or "")


class TestWords:
    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"slug": "concepts/keys.md"}, "slug: leave .md out — it is added"),
            ({"slug": "../keys"}, "slug: .. begins with a dot — leave that out"),
            ({"slug": "index"}, "slug: index is the name of an index, which is edited by hand — choose another name"),
            ({"type": "guides"}, "type guides is none — type is one of entities, concepts, packages, sources, raw"),
            ({"slug": "entities/keys"}, "type concepts contradicts entities/keys, which is among the entities"),
            ({"title": "  "}, "title is empty — say in a few words what the page is about"),
            ({"title": "x" * 301}, "title must have at most 300 characters"),
            ({"description": "x" * 501}, "description must have at most 500 characters"),
            ({"title": "a\x07"}, "title holds U+0007, which no text can — leave it out"),
            ({"body": " \n"}, "body is empty — write what the page is to say"),
        ],
        ids=str,
    )
    async def test_what_no_page_can_have(self, desk: Desk, changes: dict[str, str], told: str) -> None:
        assert told in await refused(desk, InvalidArgument, **changes)

    async def test_a_new_page_without_a_type(self, desk: Desk) -> None:
        with pytest.raises(InvalidArgument, match="a new page needs type, or a slug that starts with one"):
            await desk.ingest(request=replace(REQUEST, type=None))

    async def test_a_body_that_is_too_large(self, desk: Desk) -> None:
        assert await refused(desk, TooLarge, body="ä" * (MAX_BODY // 2 + 1)) == f"body is larger than {MAX_BODY} bytes"
        assert (await desk.ingest(body="# Cache keys\n" + "x" * (MAX_BODY - 14) + "\n")).created

    async def test_a_page_that_is_no_text(self, desk: Desk) -> None:
        desk.repo.commit({".wiki/concepts/odd.md": b"\xff"})
        assert await refused(desk, NotUtf8, slug="concepts/odd") == "not UTF-8 text: .wiki/concepts/odd.md"


class TestForge:
    @pytest.mark.parametrize(
        ("prepare", "told"),
        [
            (lambda desk: desk.repo.archive(), "acme/web is archived — unarchive it, or write elsewhere"),
            (
                lambda desk: desk.server.faults.add(
                    Json({"full_name": "acme/web", "mirror": True}), route="/repos/{owner}/{repo}"
                ),
                "acme/web is a mirror — write to the repository that it mirrors",
            ),
        ],
        ids=["archived", "mirror"],
    )
    async def test_a_repository_that_takes_nothing(
        self, desk: Desk, prepare: Callable[[Desk], None], told: str
    ) -> None:
        prepare(desk)
        if told.endswith("mirrors"):
            desk.repo.protect()  # what a mirror answers, is nowhere recorded: some refusal
        assert (await refused(desk, Denied)).startswith(f"{told} (127.0.0.1:")  # the forge's own words follow

    async def test_a_collaborator_who_may_only_read(self, desk: Desk) -> None:
        desk.server.add_user("bob", token=BOB)
        desk.repo.share("bob", Access.READ)
        async with client_of(desk.server, token=BOB) as client:
            told = await refused(replace(desk, forge=client), Denied)
        assert told.startswith("no more than a read-only collaborator of acme/web — ask for write access (127.0.0.1:")

    async def test_a_token_without_the_scope(self, desk: Desk) -> None:
        desk.server.add_token("alice", READER, {"read:user", "read:repository"})
        async with client_of(desk.server, token=READER) as client:
            told = await refused(replace(desk, forge=client), Denied)
        assert "write:repository" in told

    async def test_a_token_that_was_revoked(self, desk: Desk) -> None:
        desk.server.revoke(ALICE)
        assert "token refused" in await refused(desk, Denied)

    async def test_a_repository_that_is_gone(self, desk: Desk) -> None:
        project = desk.fleet.project("acme/web")
        desk.server.remove("acme/web")
        with pytest.raises(NotFound, match="not found or not visible to this token"):
            await desk.ingester.ingest(project, REQUEST)

    async def test_a_project_that_nobody_knows(self, desk: Desk) -> None:
        with pytest.raises(NotFound, match="unknown project — run sync first"):
            await desk.fleet.federation.ingest("acme/nothing", REQUEST)
        with pytest.raises(InvalidArgument, match="target_project: names, not patterns"):
            await desk.fleet.federation.ingest("acme/*", REQUEST)

    async def test_a_forge_that_left_the_configuration(self, desk: Desk) -> None:
        ingester = Ingester(desk.fleet.store, {}, Names(()), WritePolicy(), desk.fleet.clock, 20.0)
        with pytest.raises(NotConfigured, match="forge main is not configured any more"):
            await ingester.ingest(desk.fleet.project("acme/web"), REQUEST)

    async def test_a_repository_of_another_name_is_no_refusal(self, desk: Desk) -> None:
        desk.repo.rename("acme/site")
        answer = await desk.ingest()
        repo = desk.server.repo("acme/site")
        assert (repo.read(".wiki/concepts/keys.md"), answer.revision) == (PAGE.encode(), revision(PAGE))
