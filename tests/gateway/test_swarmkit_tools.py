"""Toolset ``swarmkit``: what each tool returns, in the shape that its schema promises."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp.types import TextContent

from cache.errors import NotConfigured
from gateway.server import build_server
from gateway.tools.registry import Listing, NameForm, Registry, Structured, Tool
from gateway.tools.swarmkit import instructions, swarmkit_tools, unconfigured
from sync.corpora.swarmkit.corpus import Corpus
from sync.corpora.swarmkit.validation import Validator
from tests.support.registries import check_registry
from tests.support.swarmkit_repo import make_repo, titles, write

pytestmark = pytest.mark.anyio

CALLS: Mapping[str, Mapping[str, object]] = {
    "search_docs": {"query": "topology loader", "max_results": 3},
    "get_schema": {"artifact_type": "topology"},
    "list_schemas": {},
    "get_design_note": {"slug": "topology-loader-limits"},
    "list_design_notes": {"tag": "shared tag"},
    "get_error_reference": {"code": "agent.unknown-skill"},
    "validate_workspace": {"path": "examples/hello"},
    "list_reference_skills": {},
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_repo(tmp_path_factory.mktemp("swarmkit"))
    write(root / "reference/skills/bad.yaml", "a: b: c\n")
    return root


@pytest.fixture(scope="module")
def corpus(checkout: Path) -> Iterator[Corpus]:
    corpus = Corpus(checkout, Validator("", os.environ), clock=time.time)
    yield corpus
    corpus.close()


@pytest.fixture
def tools(corpus: Corpus) -> Mapping[str, Tool]:
    async def source() -> Corpus:
        return corpus

    return {tool.name: tool for tool in swarmkit_tools(source)}


async def structured(tool: Tool, **arguments: object) -> Mapping[str, Any]:
    result = await tool.run(arguments)
    assert isinstance(result, Structured)
    return result.content


def test_there_are_the_eight_tools_of_the_contract() -> None:
    assert [tool.name for tool in swarmkit_tools(unconfigured)] == list(CALLS)


@pytest.mark.parametrize("form", NameForm)
def test_the_toolset_keeps_the_rules_of_clients(form: NameForm) -> None:
    listing = Listing(form)
    assert check_registry(Registry(swarmkit_tools(unconfigured), listing), instructions=instructions(listing)) == []


def test_every_tool_only_reads_and_nothing_beyond_this_machine() -> None:
    for tool in swarmkit_tools(unconfigured):
        assert (tool.read_only, tool.destructive, tool.idempotent, tool.open_world) == (True, False, True, False)


@pytest.mark.parametrize("name", CALLS)
async def test_without_a_checkout_each_tool_says_so(name: str) -> None:
    (tool,) = [tool for tool in swarmkit_tools(unconfigured) if tool.name == name]
    with pytest.raises(
        NotConfigured, match=r"no SwarmKit checkout — set \[swarmkit\] repo, or start in the repository"
    ):
        await tool.run(CALLS[name])


@pytest.mark.parametrize("name", CALLS)
async def test_each_result_is_what_the_schema_promises(tools: Mapping[str, Tool], name: str) -> None:
    content = await structured(tools[name], **CALLS[name])
    assert content
    schema = tools[name].output_schema
    assert schema is not None
    jsonschema.validate(content, schema)


async def test_search_takes_five_where_nobody_says_how_many(tools: Mapping[str, Tool]) -> None:
    assert len((await structured(tools["search_docs"], query="topology"))["results"]) == 5


async def test_all_notes_are_listed_without_a_tag(tools: Mapping[str, Tool]) -> None:
    assert len((await structured(tools["list_design_notes"]))["notes"]) == len(titles())


async def test_a_bad_skill_has_an_error_and_the_others_have_none(tools: Mapping[str, Tool]) -> None:
    skills = (await structured(tools["list_reference_skills"]))["skills"]
    assert len(skills) == 28
    assert {skill["id"]: skill.get("error") for skill in skills if "error" in skill} == {
        "bad": "not valid YAML (line 1)"
    }


@pytest.mark.parametrize(
    ("name", "argument", "line"),
    [
        ("get_schema", "x", "not_found: no schema: x — one of: approval-policy, "),
        ("get_design_note", "README", "invalid_argument: not a design note: README"),
        ("get_design_note", "topology-loader-limit", "not_found: no design note: topology-loader-limit (did you mean "),
        ("get_error_reference", "agent.x", "not_found: no such error code: agent.x"),
        ("validate_workspace", "x", "not_found: no workspace folder: x"),
        ("validate_workspace", "../x", "invalid_argument: ../x leaves the checkout — name it by its whole path"),
    ],
)
async def test_a_miss_is_one_line(tools: Mapping[str, Tool], name: str, argument: str, line: str) -> None:
    server = build_server(Registry(tuple(tools.values())), name="x", version="1", instructions="")
    async with Client(server, mode="legacy") as session:
        result = await session.call_tool(name, dict.fromkeys(CALLS[name], argument))
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert result.is_error
    assert block.text.startswith(line)
