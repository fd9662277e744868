"""The executable cases of toolset ``engineering``, and clients of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcp import Client
from mcp.types import CallToolResult, TextContent

from gateway.server import build_server
from gateway.tools.engineering import engineering_tools, instructions
from gateway.tools.registry import Listing, Registry
from sync.corpora.engineering.base import KnowledgeBase
from tests.support.knowledge_base import bytes_of, knowledge_base, put, snapshot

CASES: Final = Path(__file__).parents[1] / "recordings" / "engineering_cases.json"

_TIMESTAMP: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def cases() -> Mapping[str, Mapping[str, Any]]:
    """The cases by their ids."""
    return {case["id"]: case for case in json.loads(CASES.read_text(encoding="utf-8"))["cases"]}


def client(base: KnowledgeBase, listing: Listing = Listing()) -> Client:  # noqa: B008 it is frozen
    """A client of the toolset alone."""

    async def source() -> KnowledgeBase:
        return base

    registry = Registry(engineering_tools(source), listing)
    return Client(build_server(registry, name="x", version="1", instructions=instructions(listing)), mode="legacy")


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def answer(result: CallToolResult) -> Any:
    """The structured content, else block 2's JSON."""
    return result.structured_content or json.loads(texts(result)[1])


class Run:
    """A case as it is carried out in the folder ``root``."""

    def __init__(self, case: Mapping[str, Any], root: Path) -> None:
        self._case = case
        self._root = root
        self._saved: dict[str, Any] = {}
        put(root, case.get("files", {}))
        for path, target in case.get("links", {}).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)
        for path in case.get("fifos", ()):
            os.mkfifo(root / path)

    async def steps(self) -> None:
        async with client(knowledge_base(self._root)) as session:
            for step in self._case["steps"]:
                await self._step(session, step)
        self._check_files()

    async def _step(self, session: Client, step: Mapping[str, Any]) -> None:
        if step.get("action") == "write_file":
            put(self._root, {step["path"]: step["content"]})
            return
        before = snapshot(self._root)
        result = await session.call_tool(step["tool"], self._filled(step["args"]))
        problems = list(_problems(step["expect"], result))
        if step["expect"].get("files_unchanged") and snapshot(self._root) != before:
            problems.append("files changed")
        assert problems == [], (step, texts(result))
        if "save" in step:
            self._saved[step["save"]] = answer(result)

    def _filled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments with ``${name.field}`` and ``$repeat`` put in."""
        filled = {}
        for name, value in arguments.items():
            match value:
                case {"$repeat": [text, times]}:
                    filled[name] = text * times
                case str() if found := re.fullmatch(r"\$\{(\w+)\.(\w+)\}", value):
                    filled[name] = self._saved[found[1]][found[2]]
                case _:
                    filled[name] = value
        return filled

    def _check_files(self) -> None:
        found = snapshot(self._root)
        for path, content in self._case.get("final_files", {}).items():
            wanted = bytes_of(content)
            assert (_TIMESTAMP.sub(b"<ts>", found[path]) if b"<ts>" in wanted else found[path]) == wanted, path
        assert [path for path in found if path.endswith(".tmp")] == []


def _problems(expected: Mapping[str, Any], result: CallToolResult) -> Iterator[str]:
    """What is not as a step expects it; a word that is not known here is a problem too."""
    failed = bool(result.is_error)
    text = "\n".join(texts(result))
    code = text.partition(":")[0]
    checks: Mapping[str, Callable[[Any], bool]] = {
        "ok": lambda wanted: failed is not wanted,
        "error": lambda wanted: failed and code == wanted,
        "error_in": lambda wanted: failed and code in wanted,
        "text": lambda wanted: text == wanted,
        "contains": lambda wanted: all(part in text for part in wanted),
        "not_contains": lambda wanted: not any(part in text for part in wanted),
        "result": lambda wanted: not failed and _holds(answer(result), wanted),
        "paths": lambda wanted: not failed and [one["path"] for one in answer(result)["results"]] == wanted,
        "files_unchanged": lambda _: True,  # the caller looks
    }
    for word, wanted in expected.items():
        if word not in checks or not checks[word](wanted):
            yield word


def _holds(found: Any, expected: Any) -> bool:
    """Whether ``expected`` is a subset of ``found``; elements of a list match as subsets, in order."""
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(
            key in found and _holds(found[key], value) for key, value in expected.items()
        )
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        return len(found) == len(expected) and all(map(_holds, found, expected))
    return bool(found == expected)
