"""``knowledge.ask_projects``: each row of the tool contract's table, on real repositories."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cache.errors import Denied, InvalidArgument, NotFound, Unavailable
from cache.model import ProjectState, RepoRef
from gateway.answers import ProjectError, ProjectMatches
from gateway.federation import Federation
from sync.forge.base import Answer
from tests.support.federation import Asked, federation_over
from tests.support.forges import API, NO_WIKI, WEB
from tests.support.repos import commit_files, make_repo

pytestmark = pytest.mark.anyio

FLEET: dict[str, dict[str, str | bytes]] = {
    "web": WEB,
    "api": API,
    "tool": NO_WIKI,
    "team/web": {".wiki/concepts/yarn.md": "# Yarn for the team\n"},
    "void": {},
    "listed": {".wiki/index.md": "# Nothing yet\n"},
    "odd": {".wiki/index.md": b"\x00"},
    "half": {".wiki/index.md": b"\x00", ".wiki/concepts/yarn.md": "# Yarn\n"},
}


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    async with federation_over(tmp_path, FLEET) as asked:
        yield asked


@pytest.fixture
async def unmirrored(tmp_path: Path) -> AsyncIterator[Asked]:
    async with federation_over(tmp_path, {"web": WEB, "api": API}, mirrored=False, shared="") as asked:
        yield asked


async def entry(source: Asked, query: str, project: str, limit: int = 5) -> ProjectMatches | ProjectError:
    answer = await source.federation.ask_projects(query, [project], limit=limit)
    (only,) = answer.results
    return only


async def matches(source: Asked, query: str, project: str, limit: int = 5) -> ProjectMatches:
    found = await entry(source, query, project, limit)
    assert isinstance(found, ProjectMatches), found
    return found


async def error(source: Asked, query: str, project: str) -> ProjectError:
    found = await entry(source, query, project)
    assert isinstance(found, ProjectError), found
    return found


async def test_a_hit_carries_the_live_pages_snippet(asked: Asked) -> None:
    (match, *_) = (await matches(asked, "windows yarn", "local/web")).matches
    assert (match.slug, match.type, match.title) == ("concepts/windows-yarn-exec", "concepts", "Windows yarn exec")
    assert "cmd.exe" in match.snippet
    assert match.listed
    assert match.stale is None
    assert match.url is None


async def test_of_a_title_in_front_matter_the_snippet_is_the_first_prose(asked: Asked) -> None:
    commit_files(asked.root / "web", {".wiki/z.md": "---\ntitle: Zebra handling\n---\n\n# Stripes\n\nFeed them.\n"})
    await asked.sync()
    (match,) = (await matches(asked, "zebra", "local/web")).matches
    assert (match.title, match.snippet) == ("Zebra handling", "Feed them.")


async def test_a_question_finds_the_page_that_answers_it(asked: Asked) -> None:
    found = await matches(asked, "how do we run yarn on windows", "local/web")
    assert found.matches[0].slug == "concepts/windows-yarn-exec"


async def test_raw_pages_answer_only_when_asked_for(asked: Asked) -> None:
    without = await asked.federation.ask_projects("chat", ["local/web"])
    given = await asked.federation.ask_projects("chat", ["local/web"], types=["raw"])
    assert not without.found
    assert given.found


async def test_types_are_compared_as_the_type_rule_does(asked: Asked) -> None:
    answer = await asked.federation.ask_projects("yarn", ["local/web"], types=["Concept"])
    assert answer.found


async def test_more_counts_the_matches_beyond_the_limit(asked: Asked) -> None:
    found = await matches(asked, "c", "local/web", limit=1)
    assert len(found.matches) == 1
    assert found.more == 1


async def test_the_body_is_read_live_not_from_the_last_sync(asked: Asked) -> None:
    commit_files(asked.root / "web", {".wiki/concepts/caching.md": "# Caching\n\nNow caching lives in Redis.\n"})
    (match,) = (await matches(asked, "caching", "local/web")).matches
    assert "Redis" in match.snippet


async def test_an_edit_that_is_not_committed_is_seen_and_marked(asked: Asked) -> None:
    (asked.root / "web/.wiki/concepts/caching.md").write_text("# Caching\n\nCaching, edited just now.\n")
    (match,) = (await matches(asked, "caching", "local/web")).matches
    assert "edited just now" in match.snippet
    assert match.uncommitted is True


async def test_a_committed_page_carries_no_mark(asked: Asked) -> None:
    (match,) = (await matches(asked, "caching", "local/web")).matches
    assert match.uncommitted is None


async def test_not_in_the_cache(asked: Asked) -> None:
    found = await error(asked, "yarn", "local/wbe")
    assert found.error == "unknown project — run sync first"
    assert found.did_you_mean
    assert "local/web" in found.did_you_mean


async def test_a_name_that_fits_several(asked: Asked) -> None:
    found = await error(asked, "yarn", "web")
    assert found.error == "ambiguous project — one of: local/team/web, local/web"


async def test_no_wiki(asked: Asked) -> None:
    assert (await error(asked, "yarn", "tool")).error == "no wiki — repo has no .wiki/index.md"


async def test_an_index_but_no_page(asked: Asked) -> None:
    assert await matches(asked, "yarn", "listed") == ProjectMatches("local/listed", (), 0)


async def test_a_malformed_index_and_no_page(asked: Asked) -> None:
    assert (await error(asked, "yarn", "odd")).error == "wiki index malformed: NUL bytes"


async def test_a_malformed_index_with_pages(asked: Asked) -> None:
    found = await matches(asked, "yarn", "half")
    assert [match.slug for match in found.matches] == ["concepts/yarn"]
    assert found.warning == "wiki index malformed: NUL bytes"


async def test_an_empty_repository(asked: Asked) -> None:
    assert (await error(asked, "yarn", "void")).error == "empty repository"


async def test_no_longer_visible(unmirrored: Asked) -> None:
    unmirrored.forge.unread = {"local/web": NotFound("not found or not visible to this token")}
    assert (await error(unmirrored, "yarn", "web")).error == "not found or not visible to this token"


async def test_of_what_is_no_longer_visible_no_copy_is_shown(asked: Asked) -> None:
    asked.forge.unread = {"local/web": NotFound("not found or not visible to this token")}
    assert (await error(asked, "yarn", "local/web")).error == "not found or not visible to this token"


@pytest.mark.parametrize(
    "failure",
    [Denied("token refused by local — run gateway doctor"), Unavailable("local unreachable: connection refused")],
)
async def test_a_forge_that_fails_is_the_entrys_error(unmirrored: Asked, failure: Denied | Unavailable) -> None:
    unmirrored.forge.unread = {"local/web": failure}
    assert (await error(unmirrored, "yarn", "web")).error == failure.message


async def test_unless_cached_copies_can_answer(asked: Asked) -> None:
    asked.forge.unread = {"local/web": Unavailable("local unreachable: connection refused")}
    found = await matches(asked, "caching", "local/web")
    assert found.warning == "local unreachable: connection refused; copies are 0 s old"
    assert found.matches[0].stale is True
    assert "cache keys" in found.matches[0].snippet


async def test_a_page_that_cannot_be_read_and_has_no_copy(asked: Asked) -> None:
    path = asked.root / "web/.wiki/concepts/caching.md"
    path.write_bytes(b"caching \xff\xfe")
    asked.store.clear()
    await asked.sync()
    (match,) = (await matches(asked, "caching", "local/web")).matches
    assert match.snippet == "(fetch failed)"
    assert match.stale is None


async def test_a_page_gone_since_the_last_look_is_left_out_and_its_project_looked_at_again(asked: Asked) -> None:
    commit_files(asked.root / "web", {".wiki/concepts/caching.md": None})
    assert (await matches(asked, "caching", "local/web")).matches == ()
    assert asked.project("local/web").pages == 4
    before = [name for what, name in asked.forge.calls if what == "head"]
    await asked.sync()
    assert asked.project("local/web").pages == 3
    assert len([name for what, name in asked.forge.calls if what == "head"]) > len(before)


async def test_the_next_match_takes_the_place_of_a_page_that_is_gone(asked: Asked) -> None:
    commit_files(asked.root / "web", {".wiki/concepts/windows-yarn-exec.md": None})
    found = await matches(asked, "c", "local/web", limit=1)
    assert [match.slug for match in found.matches] == ["concepts/caching"]
    assert found.more == 0


async def test_pages_that_are_gone_are_no_further_matches(asked: Asked) -> None:
    gone = {f".wiki/yarn/{number}.md": f"# Yarn {number}\n" for number in range(9)}
    commit_files(asked.root / "listed", gone)
    await asked.sync()
    commit_files(asked.root / "listed", dict.fromkeys(gone))
    found = await matches(asked, "yarn", "listed", limit=3)
    assert (found.matches, found.more) == ((), 0)


async def test_what_cannot_be_read_in_the_place_of_a_page_that_is_gone_leaves_the_rest(asked: Asked) -> None:
    commit_files(asked.root / "listed", {f".wiki/yarn/{number}.md": "# Yarn\n" for number in range(3)})
    await asked.sync()
    commit_files(asked.root / "listed", {".wiki/yarn/0.md": None})
    read = asked.forge.read

    async def once(repo: RepoRef, paths: Sequence[str], *, limit: int) -> tuple[Answer, ...]:
        answers = await read(repo, paths, limit=limit)
        asked.forge.unread = {"local/listed": Unavailable("local unreachable: gone")}
        return answers

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asked.forge, "read", once)
        found = await matches(asked, "yarn", "listed", limit=2)
    assert [(match.stale, match.age_s) for match in found.matches] == [(None, None), (True, 0)]
    assert found.warning == "local unreachable: gone; copies are 0 s old"


async def test_over_the_deadline_the_matches_stay(unmirrored: Asked) -> None:
    unmirrored.policy = replace(unmirrored.policy, deadline=0.05)
    unmirrored.forge.slow = {"local/web": 30}
    found = await matches(unmirrored, "caching", "web")
    assert found.warning == "timed out after 0.05 s"
    assert [match.snippet for match in found.matches] == ["(fetch failed)"]


async def test_over_the_deadline_cached_copies_answer(asked: Asked) -> None:
    asked.policy = replace(asked.policy, deadline=0.05)
    asked.forge.slow = {"local/web": 30}
    found = await matches(asked, "caching", "local/web")
    assert found.warning == "timed out after 0.05 s"
    assert found.matches[0].stale is True


async def test_one_slow_project_leaves_the_rest_whole(asked: Asked) -> None:
    asked.policy = replace(asked.policy, deadline=0.05)
    asked.forge.slow = {"local/web": 30}
    answer = await asked.federation.ask_projects("rate", ["local/web", "api"])
    by_name = {found.project: found for found in answer.results}
    api = by_name["local/api"]
    assert isinstance(api, ProjectMatches)
    assert api.warning is None
    assert api.matches[0].stale is None


async def test_a_pattern_fails_the_whole_call(asked: Asked) -> None:
    with pytest.raises(InvalidArgument, match="names, not patterns"):
        await asked.federation.ask_projects("yarn", ["local/web", "acme/*"])


async def test_a_project_that_is_called_like_a_pattern_can_be_asked(asked: Asked) -> None:
    make_repo(asked.root / "what?", {".wiki/yarn.md": "# Yarn\n"})
    await asked.sync()
    assert [match.slug for match in (await matches(asked, "yarn", "local/what?")).matches] == ["yarn"]


async def test_the_callers_words_are_repeated_in_order_and_each_project_answers_once(asked: Asked) -> None:
    answer = await asked.federation.ask_projects("rate", ["api", "LOCAL/API", "tool"])
    assert answer.asked_projects == ("api", "LOCAL/API", "tool")
    assert [found.project for found in answer.results] == ["local/api", "local/tool"]


async def test_a_project_whose_look_failed_says_why(asked: Asked) -> None:
    asked.forge.broken = {"local/tool": Unavailable("local/tool: HEAD is damaged")}
    commit_files(asked.root / "tool", {"a": "b"})
    await asked.sync()
    assert asked.project("tool").state is ProjectState.FAILED
    assert (await error(asked, "yarn", "tool")).error == "local/tool: HEAD is damaged"


async def test_titles_read_live_are_remembered(unmirrored: Asked) -> None:
    (match,) = (await matches(unmirrored, "unlisted", "web")).matches
    assert match.title == "Kept aside"
    page = unmirrored.store.page(unmirrored.project("web").key, "notes/unlisted")
    assert page is not None
    assert page.title == "Kept aside"


async def test_bodies_young_enough_come_from_the_cache(asked: Asked) -> None:
    asked.policy = replace(asked.policy, max_age=60.0)
    asked.forge.calls.clear()
    asked.now += 20
    (match,) = (await matches(asked, "caching", "local/web")).matches
    assert (match.stale, match.age_s) == (None, 20)
    assert asked.forge.calls == []
    asked.now += 61
    await matches(asked, "caching", "local/web")
    assert ("read", "local/web") in asked.forge.calls


async def test_an_empty_query_is_refused(asked: Asked) -> None:
    with pytest.raises(InvalidArgument, match="query is empty"):
        await asked.federation.ask_projects("  \n", ["local/web"])


async def test_projects_of_several_forges_are_named_with_their_forge(asked: Asked) -> None:
    both = Federation(
        asked.store, {"default": asked.forge, "other": asked.forge}, asked.policy, clock=lambda: asked.now
    )
    answer = await both.ask_projects("rate", ["default:local/api", "other:local/api"])
    assert [found.project for found in answer.results] == ["default:local/api", "other:local/api"]
    assert isinstance(answer.results[0], ProjectMatches)
    assert isinstance(answer.results[1], ProjectError)


async def test_a_fault_of_our_own_spoils_one_projects_answer_only(
    asked: Asked, caplog: pytest.LogCaptureFixture
) -> None:
    asked.forge.unread = {"local/web": ValueError("secret detail")}
    answer = await asked.federation.ask_projects("c", ["local/web", "local/api"])
    web, api = answer.results
    assert web == ProjectError("local/web", "internal error (see the log)")
    assert isinstance(api, ProjectMatches)
    assert "internal error" in caplog.text


async def test_one_without_pages_does_so_too_once_it_was_looked_for_again(asked: Asked) -> None:
    shutil.rmtree(asked.root / "tool")
    with pytest.raises(NotFound):
        await asked.federation.refresh("tool")
    assert (await error(asked, "rate", "local/tool")).error == "not found or not visible to this token"


async def test_a_local_repository_that_went_away_reads_as_the_contract_says(asked: Asked) -> None:
    shutil.rmtree(asked.root / "api")
    assert (await error(asked, "rate", "local/api")).error == "not found or not visible to this token"
