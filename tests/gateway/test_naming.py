"""Projects by the names that callers give them, with several forges configured."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cache.errors import NotFound
from cache.model import Listed, ProjectKey, ProjectState, RepoRef, Snapshot
from gateway.naming import Names
from tests.support.federation import NOW, Asked, federation_over
from tests.support.forges import API, WEB

pytestmark = pytest.mark.anyio


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    async with federation_over(tmp_path, {"web": WEB, "api": API}) as asked:
        other = Listed(RepoRef(ProjectKey("other", 1), "local/web", "main"), "stamp")
        web = Snapshot(other, ProjectState.EMPTY, NOW, "settings")
        asked.store.commit(web, listed_at=NOW)
        yield asked


def suggestions(asked: Asked, word: str, *forges: str) -> tuple[str, ...]:
    with pytest.raises(NotFound) as raised:
        Names(forges).find(word, asked.store)
    return raised.value.suggestions


async def test_near_names_are_given_with_their_forge_as_answers_are(asked: Asked) -> None:
    assert suggestions(asked, "local/wbe", "default", "other") == ("default:local/web", "other:local/web")


async def test_near_names_of_the_forge_that_was_named(asked: Asked) -> None:
    assert suggestions(asked, "other:local/wbe", "default", "other") == ("other:local/web",)


async def test_near_names_of_the_only_forge_stand_alone(asked: Asked) -> None:
    assert suggestions(asked, "local/wbe", "default") == ("local/web",)
