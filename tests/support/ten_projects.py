"""Ten projects on a fake Gitea that answer one question, and what is asked of them."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from gateway.answers import AskAnswer, PageAnswer, ProjectError, ProjectMatches
from gateway.federation import Federation
from gateway.reading import PageRequest
from tests.support.gitea_fleet import wiki

TEN = [f"acme/r{number}" for number in range(10)]
SIX = tuple(f"Yarn {word}" for word in ("exec", "cache", "lock", "berry", "pnp", "patch"))
FLEET = dict.fromkeys(TEN, wiki(*SIX, about="runs on Windows"))
PAGE = ".wiki/concepts/yarn-exec.md"
GONE = "not found or not visible to this token"
BOUND = 20  # seconds within which any of these tests is over


async def ask(federation: Federation, projects: Sequence[str] = TEN, query: str = "yarn", limit: int = 5) -> AskAnswer:
    with anyio.fail_after(BOUND):
        return await federation.ask_projects(query, projects, limit=limit)


async def get(federation: Federation, slug: str = "concepts/yarn-exec", project: str = "acme/r0") -> PageAnswer:
    with anyio.fail_after(BOUND):
        return await federation.get_from(project, PageRequest(slug))


def entry(answer: AskAnswer, project: str) -> ProjectMatches:
    (found,) = [result for result in answer.results if result.project == project]
    assert isinstance(found, ProjectMatches), found
    return found


def error(answer: AskAnswer, project: str) -> ProjectError:
    (found,) = [result for result in answer.results if result.project == project]
    assert isinstance(found, ProjectError), found
    return found


def expect_whole(answer: AskAnswer, projects: Sequence[str] = TEN) -> None:
    """Each of ``projects`` has five matches, read just now."""
    for project in projects:
        found = entry(answer, project)
        assert found.warning is None
        assert [match.stale for match in found.matches] == [None] * 5
        assert all("on Windows" in match.snippet for match in found.matches)
