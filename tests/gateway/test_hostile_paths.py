"""Words that are paths, in every argument of every federation tool: nothing outside is read or written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cache.errors import KnowledgeError
from gateway.federation import Federation
from gateway.tools.arguments import Arguments
from gateway.tools.federation import federation_tools, unconfigured
from gateway.tools.registry import Listing, Result, Structured, Tool
from tests.support.federation import Asked, federation_over
from tests.support.forges import WEB

pytestmark = pytest.mark.anyio

CANARY = "the canary sings of tangerines"
FITTING: Mapping[str, object] = {
    "query": "tangerines",
    "project": "web",
    "projects": ["web"],
    "target_project": "web",
    "slug": "concepts/caching",
    "type": "concepts",
    "title": "Words",
    "body": "Words.",
}
TOOLS = {tool.name: tool for tool in federation_tools(unconfigured, Listing())}
PLACES = [
    (name, argument)
    for name, tool in TOOLS.items()
    for argument, schema in tool.input_schema["properties"].items()  # type: ignore[attr-defined] # JSON Schema's own rule
    if schema["type"] in ("string", "array")
]


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    """A shared wiki, and what lies around it: in the repository, beside it, beside the root."""
    async with federation_over(tmp_path, {"web": {**WEB, "canary.md": CANARY}}) as asked:
        for folder in (asked.root / "folder", tmp_path):
            folder.mkdir(exist_ok=True)
            (folder / "canary.md").write_text(CANARY, encoding="utf-8")
        yield asked


def hostile(root: Path) -> Iterator[str]:
    for outside in (root / "web/canary", root / "folder/canary", root.parent / "canary"):
        yield str(outside)
        yield f"file://{outside}.md"
    for up in ("..", "../..", "../../..", "concepts/../..", ".wiki/..", "web/..", "local/..", "local/../.."):
        yield f"{up}/canary"
        yield f"{up}/canary.md"
        yield f"{up}/folder".replace("/", "\\")
    yield from (
        "..",
        ".",
        "/",
        "~",
        "~/canary",
        "%2e%2e/canary",
        "..%2fcanary",
        "..\0/canary",
        "\0",
        "\ud800/../canary",
    )
    yield from ("web/.git/config", ".git/HEAD", ".wiki/../.git/HEAD", "local/web/../../canary")


def outside(root: Path) -> dict[str, bytes]:
    """Every file that is no page and no task of the repository."""
    return {
        str(file): file.read_bytes()
        for file in root.parent.rglob("*")
        if file.is_file() and not {".wiki", ".tasks", ".git"} & set(file.parts) and not file.name.startswith("cache.db")
    }


def required(tool: Tool) -> dict[str, object]:
    return {name: FITTING[name] for name in tool.input_schema.get("required", ())}  # type: ignore[attr-defined]


def told(result: Result) -> str:
    return repr(result.content) if isinstance(result, Structured) else "\n".join(result.blocks)


@pytest.mark.parametrize(("name", "argument"), PLACES)
async def test_a_word_that_is_a_path_reaches_nothing(asked: Asked, name: str, argument: str) -> None:
    async def source() -> Federation:
        return asked.federation

    (tool,) = [tool for tool in federation_tools(source, Listing()) if tool.name == name]
    is_list = tool.input_schema["properties"][argument]["type"] == "array"  # type: ignore[index]
    check = Arguments(tool.input_schema).check
    before = outside(asked.root)
    for word in hostile(asked.root):
        arguments: dict[str, Any] = {**required(tool), argument: [word] if is_list else word}
        try:
            answer = told(await tool.run(check(arguments)))
        except KnowledgeError as error:
            answer = error.line
        assert CANARY not in answer, word
        assert "[core]" not in answer, word
    assert outside(asked.root) == before
