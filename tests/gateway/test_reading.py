"""``knowledge.get_from``: one page, live, exactly as it stands in git."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from cache.errors import Ambiguous, InvalidArgument, NotConfigured, NotFound, NotUtf8, TimedOut, TooLarge, Unavailable
from cache.model import MAX_PAGE
from gateway.answers import PageAnswer, ProjectMatches
from gateway.reading import PageRequest
from tests.support.federation import Asked, federation_over
from tests.support.forges import WEB
from tests.support.git_files import Symlink
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

LONG = (
    "# Long\n\n" + "".join(f"line {number}\n" for number in range(100)) + "\n## Tail\n\nThe end.\n\n### Deeper\n\nx\n"
)
ODD = "\N{ZERO WIDTH NO-BREAK SPACE}# Ünï\r\n\r\ntrailing  \r\n"


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    files: dict[str, str | bytes] = {
        **WEB,
        ".wiki/concepts/long.md": LONG,
        ".wiki/concepts/odd.md": ODD,
        ".wiki/concepts/latin.md": "# Größe\n".encode("latin-1"),
        ".wiki/concepts/nul.md": b"# A\x00B\n",
        ".wiki/sources/Über Größe 50% #1.md": "# Größe\n",
    }
    async with federation_over(tmp_path, {"web": files, "team/web": {"a": "b"}}, shared="local/web") as asked:
        yield asked


async def read(source: Asked, slug: str, project: str = "local/web", **request: object) -> PageAnswer:
    return await source.federation.get_from(project, replace(PageRequest(slug), **request))  # type: ignore[arg-type]


@pytest.mark.parametrize("slug", ["concepts/odd", "/concepts/odd", ".wiki/concepts/odd.md", "Concepts/ODD"])
async def test_the_text_is_the_file_exactly(asked: Asked, slug: str) -> None:
    answer = await read(asked, slug)
    assert answer.text == ODD
    assert answer.slug == "concepts/odd"
    assert answer.next_offset is None
    assert (answer.stale, answer.age_s) == (False, 0)


async def test_names_with_spaces_percent_and_unicode(asked: Asked) -> None:
    assert (await read(asked, "sources/Über Größe 50% #1")).text == "# Größe\n"


@pytest.mark.parametrize(
    "slug",
    [" lead", "trail ", "two  spaces", "a.md", "deep/.wiki/x", "--config=x", "~x", "c:d", "$(id)", "rtl\u202ex", "%2e"],
)
async def test_what_an_answer_names_can_be_read(asked: Asked, slug: str) -> None:
    commit_files(asked.root / "web", {f".wiki/{slug}.md": f"# Zebra {slug}\n", ".wiki/a.md": "# Another\n"})
    await asked.sync()
    found = await asked.federation.ask_projects("zebra", ["local/web"])
    (entry,) = found.results
    assert isinstance(entry, ProjectMatches)
    (match,) = entry.matches
    assert match.slug == slug
    assert (await read(asked, match.slug)).text == f"# Zebra {slug}\n"


async def test_the_revision_is_the_blob_sha(asked: Asked) -> None:
    page = asked.store.page(asked.project("local/web").key, "concepts/odd")
    assert page is not None
    assert (await read(asked, "concepts/odd")).revision == page.sha


async def test_headings_of_the_page(asked: Asked) -> None:
    assert (await read(asked, "concepts/long")).headings == ("Long", "Tail", "Deeper")


async def test_a_section_alone(asked: Asked) -> None:
    answer = await read(asked, "concepts/long", section="Tail")
    assert answer.text == "## Tail\n\nThe end.\n\n### Deeper\n\nx\n"
    assert answer.chars == len(answer.text)


async def test_offset_counts_within_the_section(asked: Asked) -> None:
    whole = (await read(asked, "concepts/long", section="Tail")).text
    assert (await read(asked, "concepts/long", section="Tail", offset=9)).text == whole[9:]


async def test_a_missing_section_names_the_headings(asked: Asked) -> None:
    with pytest.raises(NotFound, match=r"section not found: Nose \(headings: Long, Tail, Deeper\)"):
        await read(asked, "concepts/long", section="Nose")


async def test_a_long_page_continues_at_next_offset(asked: Asked) -> None:
    parts, offset = [], 0
    while True:
        answer = await read(asked, "concepts/long", offset=offset, max_chars=300)
        parts.append(answer.text)
        if answer.next_offset is None:
            break
        assert answer.text.endswith("\n")
        offset = answer.next_offset
    assert "".join(parts) == LONG


async def test_a_missing_page_names_near_ones(asked: Asked) -> None:
    with pytest.raises(NotFound) as caught:
        await read(asked, "concepts/cachign")
    assert caught.value.message.startswith("page not found: local/web/.wiki/concepts/cachign.md (did you mean")
    assert "concepts/caching" in caught.value.suggestions


async def test_a_page_that_is_gone_is_not_named_as_near_itself(asked: Asked) -> None:
    commit_files(asked.root / "web", {".wiki/concepts/long.md": None})
    with pytest.raises(NotFound) as caught:
        await read(asked, "concepts/long")
    assert "concepts/long" not in caught.value.suggestions


async def test_a_missing_page_that_is_like_no_other_says_how_to_find_one(asked: Asked) -> None:
    with pytest.raises(NotFound) as caught:
        await read(asked, "zzz")
    assert caught.value.message == "page not found: local/web/.wiki/zzz.md — knowledge.list shows the pages there are"


async def test_what_comes_too_late_and_has_no_copy_says_what_to_do(asked: Asked) -> None:
    asked.forge.slow = {"local/web": 3600}
    asked.policy = replace(asked.policy, deadline=0.05)
    with pytest.raises(TimedOut) as caught:
        await read(asked, "concepts/new")
    assert caught.value.message == "timed out after 0.05 s — ask again, or raise [gateway] deadline"


async def test_a_page_pushed_since_the_last_sync_is_read(asked: Asked) -> None:
    commit_files(asked.root / "web", {".wiki/concepts/new.md": "# New\n"})
    assert (await read(asked, "concepts/new")).text == "# New\n"


async def test_the_index_itself_can_be_read(asked: Asked) -> None:
    assert (await read(asked, "index")).text == WEB[".wiki/index.md"]


async def test_the_index_can_be_read_whatever_its_file_is_called(asked: Asked) -> None:
    make_repo(asked.root / "readme", {".wiki/README.md": "# All\n\n- [A](a.md)\n", ".wiki/a.md": "# A\n"})
    await asked.sync()
    answer = await read(asked, "index", "local/readme")
    assert (answer.slug, answer.text) == ("README", "# All\n\n- [A](a.md)\n")


async def test_a_folder_is_refused_by_name(asked: Asked) -> None:
    with pytest.raises(InvalidArgument, match=r"local/web/\.wiki/raw is a directory"):
        await read(asked, "raw")


async def test_a_symbolic_link_is_refused_by_name(asked: Asked) -> None:
    commit_files(asked.root / "web", {".wiki/link.md": Symlink("/etc/passwd")})
    with pytest.raises(InvalidArgument, match=r"local/web/\.wiki/link\.md is a symbolic link"):
        await read(asked, "link")


@pytest.mark.parametrize("slug", ["../STATUS", "concepts/../../STATUS", "..\\STATUS"])
async def test_a_path_that_leaves_the_wiki_is_refused_by_name(asked: Asked, slug: str) -> None:
    with pytest.raises(InvalidArgument, match="leaves"):
        await read(asked, slug)


async def test_text_that_is_not_utf8_is_never_garbled(asked: Asked) -> None:
    with pytest.raises(NotUtf8, match=r"local/web/\.wiki/concepts/latin\.md — save the file as UTF-8"):
        await read(asked, "concepts/latin")


async def test_a_binary_file_is_refused_by_name(asked: Asked) -> None:
    with pytest.raises(InvalidArgument, match="binary"):
        await read(asked, "concepts/nul")


async def test_a_page_over_the_bound_is_refused(asked: Asked) -> None:
    (asked.root / "web/.wiki/concepts/big.md").write_bytes(b"x" * (MAX_PAGE + 1))
    with pytest.raises(TooLarge, match=r"larger than \d+ bytes — no page of that size is read: split it"):
        await read(asked, "concepts/big")


async def test_unknown_and_ambiguous_projects(asked: Asked) -> None:
    with pytest.raises(NotFound, match="unknown project — run sync first"):
        await read(asked, "concepts/odd", "local/nobody")
    with pytest.raises(Ambiguous, match="ambiguous project — one of: local/team/web, local/web"):
        await read(asked, "concepts/odd", "web")


async def test_a_forge_that_cannot_be_reached_is_answered_for_by_the_cache_with_its_age(asked: Asked) -> None:
    asked.forge.unread = {"local/web": Unavailable("local unreachable: gone")}
    asked.now += 90
    answer = await read(asked, "concepts/caching")
    assert answer.text == WEB[".wiki/concepts/caching.md"]
    assert (answer.stale, answer.age_s) == (True, 90)


async def test_the_index_too(asked: Asked) -> None:
    asked.forge.unread = {"local/web": Unavailable("local unreachable: gone")}
    assert (await read(asked, "index")).text == WEB[".wiki/index.md"]


async def test_without_a_copy_the_failure_is_the_answer(asked: Asked) -> None:
    asked.forge.unread = {"local/web": Unavailable("local unreachable: gone")}
    with pytest.raises(Unavailable, match="local unreachable: gone"):
        await read(asked, "concepts/never")


async def test_the_shared_wiki_is_read_without_naming_it(asked: Asked) -> None:
    answer = await asked.federation.get(PageRequest("concepts/caching"))
    assert answer.project == "local/web"


async def test_without_a_shared_wiki(asked: Asked) -> None:
    asked.policy = replace(asked.policy, shared="")
    with pytest.raises(NotConfigured, match=r"no shared wiki — set \[wiki\] shared"):
        await asked.federation.get(PageRequest("concepts/caching"))


async def test_an_uncommitted_page_says_so(asked: Asked) -> None:
    (asked.root / "web/.wiki/concepts/caching.md").write_text("# Edited\n")
    answer = await read(asked, "concepts/caching")
    assert answer.text == "# Edited\n"
    assert answer.uncommitted is True
