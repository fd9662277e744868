"""Toolset ``federation``: what each tool returns, in the shape that its schema promises."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cache.errors import NotConfigured
from gateway.answers import IngestAnswer, Proposal, content
from gateway.federation import Federation
from gateway.tools.federation import federation_tools, instructions, unconfigured
from gateway.tools.federation_schemas import NOTICE
from gateway.tools.registry import Listing, NameForm, Registry, Structured, Texts, Tool
from sync.ingest import MAX_TITLE
from sync.page_edit import MAX_BODY
from sync.wiki_links import MAX_DESCRIPTION
from tests.support.federation import Asked, federation_over
from tests.support.forges import API, NO_WIKI, WEB
from tests.support.registries import check_registry

pytestmark = pytest.mark.anyio

CALLS: Mapping[str, Mapping[str, object]] = {
    "knowledge.search": {"query": "caching"},
    "knowledge.get": {"slug": "concepts/caching"},
    "knowledge.list": {},
    "knowledge.ask_projects": {"query": "rate", "projects": ["web", "api", "tool", "nobody"]},
    "knowledge.get_from": {"project": "web", "slug": "concepts/caching"},
    "projects.list": {},
    "projects.status": {"project": "web"},
    "projects.refresh": {"project": "web"},
    "knowledge.ingest": {"slug": "concepts/keys", "title": "Cache keys", "body": "One each.\n", "dry_run": True},
    "tasks.create": {"target_project": "web", "body": "Fix yarn", "labels": ["bug"]},
}
WRITING = ["knowledge.ingest", "tasks.create"]


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    async with federation_over(tmp_path, {"web": WEB, "api": API, "tool": NO_WIKI}) as asked:
        yield asked


def tools(asked: Asked, form: NameForm = NameForm.DOTTED, *, read_only: bool = False) -> dict[str, Tool]:
    async def source() -> Federation:
        return asked.federation

    return {tool.name: tool for tool in federation_tools(source, Listing(form, read_only))}


def arguments_of(name: str) -> Mapping[str, Any]:
    (tool,) = [tool for tool in federation_tools(unconfigured, Listing()) if tool.name == name]
    properties: Mapping[str, Any] = tool.input_schema["properties"]  # type: ignore[assignment] # JSON Schema's own rule
    return properties


async def structured(tool: Tool, **arguments: object) -> Mapping[str, object]:
    result = await tool.run(arguments)
    assert isinstance(result, Structured)
    return result.content


def test_there_is_a_call_for_each_tool() -> None:
    assert [tool.name for tool in federation_tools(unconfigured, Listing())] == list(CALLS)


@pytest.mark.parametrize("form", NameForm)
def test_the_toolset_keeps_the_rules_of_clients(form: NameForm) -> None:
    listing = Listing(form)
    registry = Registry(federation_tools(unconfigured, listing), listing)
    assert check_registry(registry, instructions=instructions(listing)) == []


@pytest.mark.parametrize("name", CALLS)
async def test_without_configuration_each_tool_says_so(name: str) -> None:
    (tool,) = [tool for tool in federation_tools(unconfigured, Listing()) if tool.name == name]
    with pytest.raises(NotConfigured, match=r"no auth\.toml — run gateway init"):
        await tool.run(CALLS[name])


@pytest.mark.parametrize("name", CALLS)
async def test_each_result_is_what_the_schema_promises(asked: Asked, name: str) -> None:
    tool = tools(asked)[name]
    result = await tool.run(CALLS[name])
    if tool.output_schema is None:
        assert isinstance(result, Texts)
        _, about = result.blocks
        assert "\n" not in about
        assert json.loads(about)["notice"] == NOTICE
    else:
        assert isinstance(result, Structured)
        jsonschema.validate(json.loads(json.dumps(result.content)), tool.output_schema)


async def test_a_page_is_two_blocks_the_text_exactly_and_one_line_about_it(asked: Asked) -> None:
    result = await tools(asked)["knowledge.get_from"].run({"project": "web", "slug": "concepts/caching"})
    assert isinstance(result, Texts)
    text, about = result.blocks
    assert text == WEB[".wiki/concepts/caching.md"]
    assert json.loads(about) == {
        "project": "local/web",
        "slug": "concepts/caching",
        "title": "Caching",
        "revision": json.loads(about)["revision"],
        "chars": len(text),
        "offset": 0,
        "next_offset": None,
        "headings": ["Caching"],
        "stale": False,
        "age_s": 0,
        "notice": NOTICE,
    }


@pytest.mark.parametrize("form", NameForm)
async def test_the_hint_after_a_hit_names_the_tool_as_it_is_listed(asked: Asked, form: NameForm) -> None:
    answer = await structured(tools(asked, form)["knowledge.ask_projects"], query="rate", projects=["api"])
    assert answer["next_action_hint"] == f"{form.spell('knowledge.get_from')}(project, slug) for the full text"


@pytest.mark.parametrize("read_only", [False, True])
async def test_the_hint_after_a_miss_names_only_tools_that_are_listed(asked: Asked, read_only: bool) -> None:
    listed = tools(asked, read_only=read_only)
    for answer in (
        await structured(listed["knowledge.ask_projects"], query="zebra", projects=["api"]),
        await structured(listed["knowledge.search"], query="zebra"),
    ):
        assert "projects.list" in str(answer["next_action_hint"])
        filing = "tasks.create(target_project, body) if nobody has written it down"
        assert (filing in str(answer["next_action_hint"])) == (not read_only)
        assert read_only or "tasks" in str(answer["next_action_hint"])


@pytest.mark.parametrize("form", NameForm)
def test_the_instructions_name_only_tools_that_are_listed(form: NameForm) -> None:
    written = {form.spell(name) for name in WRITING}
    assert all(name in instructions(Listing(form)) for name in written)
    assert not any(name in instructions(Listing(form, read_only=True)) for name in written)


@pytest.mark.parametrize("form", NameForm)
def test_the_descriptions_of_tools_that_read_name_none_that_writes(form: NameForm) -> None:
    for tool in federation_tools(unconfigured, Listing(form, read_only=True)):
        if tool.read_only:
            assert not any(form.spell(name) in tool.description for name in WRITING)


async def test_a_page_is_told_in_the_fields_of_the_contract(asked: Asked) -> None:
    ingest = tools(asked)["knowledge.ingest"]
    page = {"slug": "keys", "title": "Cache keys", "body": "One each.\n", "type": "concept", "target_project": "web"}
    shown = await structured(ingest, **page, dry_run=True)
    assert (shown["dry_run"], shown["notice"]) == (True, NOTICE)
    assert str(shown["diff"]).startswith("--- /dev/null\n+++ b/.wiki/concepts/keys.md\n")
    answer = await structured(ingest, **page)
    assert answer == {
        "project": "local/web",
        "slug": "concepts/keys",
        "revision": shown["revision"],
        "created": True,
        "dry_run": False,
        "next_action_hint": "it is in the working tree: commit it there",
    }


async def test_a_proposal_is_told_in_the_fields_of_the_contract() -> None:
    proposed = IngestAnswer("acme/web", "concepts/keys", "ab" * 20, True, False, pull_request=Proposal(3, "https://x"))
    told = content(proposed)
    (tool,) = [tool for tool in federation_tools(unconfigured, Listing()) if tool.name == "knowledge.ingest"]
    assert told["pull_request"] == {"number": 3, "url": "https://x"}
    jsonschema.validate(told, tool.output_schema or {})


async def test_a_task_is_told_in_the_fields_of_the_contract(asked: Asked) -> None:
    create = tools(asked)["tasks.create"]
    answer = await structured(create, target_project="web", body="# Fix yarn\n\nNow.\n")
    assert answer == {
        "project": "local/web",
        "kind": "file",
        "path": ".tasks/2096-10-02-fix-yarn.md",
        "created": True,
        "dry_run": False,
    }
    again = await structured(create, target_project="web", body="# Fix yarn\n\nNow.\n", dry_run=True)
    assert again == {**answer, "created": False, "dry_run": True}
    named = await structured(create, target_project="web", body="Now.", title="Fix yarn", labels=["bug"], dry_run=True)
    assert named == {**answer, "path": ".tasks/2096-10-02-fix-yarn-2.md", "dry_run": True}


async def test_every_result_with_page_text_says_that_it_is_data(asked: Asked) -> None:
    listed = tools(asked)
    for name in ("knowledge.search", "knowledge.ask_projects"):
        assert (await structured(listed[name], **CALLS[name]))["notice"] == NOTICE


async def test_absent_fields_are_left_out_not_null(asked: Asked) -> None:
    answer = await structured(tools(asked)["knowledge.ask_projects"], query="rate", projects=["api", "nobody"])
    assert "null" not in json.dumps(answer)


def test_all_tools_but_those_only_read() -> None:
    assert [tool.name for tool in federation_tools(unconfigured, Listing()) if not tool.read_only] == WRITING


def test_writing_a_page_replaces_what_is_there_and_may_be_sent_again() -> None:
    (ingest,) = [tool for tool in federation_tools(unconfigured, Listing()) if tool.name == "knowledge.ingest"]
    assert (ingest.read_only, ingest.destructive, ingest.idempotent, ingest.open_world) == (False, True, True, True)


def test_the_bounds_of_a_page_are_those_of_who_writes_it() -> None:
    bounds = {name: schema.get("maxLength") for name, schema in arguments_of("knowledge.ingest").items()}
    assert (bounds["title"], bounds["description"], bounds["body"]) == (MAX_TITLE, MAX_DESCRIPTION, MAX_BODY)


def test_filing_a_task_adds_to_what_is_there_and_may_be_sent_again() -> None:
    (create,) = [tool for tool in federation_tools(unconfigured, Listing()) if tool.name == "tasks.create"]
    assert (create.read_only, create.destructive, create.idempotent, create.open_world) == (False, False, True, True)


@pytest.mark.parametrize(
    ("tool", "argument", "default", "least", "most"),
    [
        ("knowledge.search", "limit", 10, 1, 50),
        ("knowledge.get", "offset", 0, 0, None),
        ("knowledge.get", "max_chars", 40_000, 1, 200_000),
        ("knowledge.list", "limit", 50, 1, 500),
        ("knowledge.ask_projects", "limit", 5, 1, 20),
        ("knowledge.get_from", "offset", 0, 0, None),
        ("knowledge.get_from", "max_chars", 40_000, 1, 200_000),
        ("projects.list", "limit", 50, 1, 500),
    ],
)
def test_each_number_has_the_contracts_default_and_bounds(
    tool: str, argument: str, default: int, least: int, most: int | None
) -> None:
    schema = arguments_of(tool)[argument]
    assert (schema["default"], schema["minimum"], schema.get("maximum")) == (default, least, most)


def test_each_text_may_be_as_long_as_the_contract_says() -> None:
    most = {"query": 2_000, "project": 1_000, "slug": 1_000, "section": 1_000}
    for tool in CALLS:
        for name, schema in arguments_of(tool).items():
            assert schema.get("maxLength") == most.get(name, schema.get("maxLength")), (tool, name)


def test_one_to_fifty_projects_are_asked() -> None:
    projects = arguments_of("knowledge.ask_projects")["projects"]
    assert (projects["minItems"], projects["maxItems"], projects["items"]["maxLength"]) == (1, 50, 1_000)


def test_those_that_ask_the_forge_say_that_their_world_is_open() -> None:
    asking = [tool.name for tool in federation_tools(unconfigured, Listing()) if tool.open_world]
    reading = ["knowledge.get", "knowledge.ask_projects", "knowledge.get_from", "projects.refresh"]
    assert asking == [*reading, *WRITING]


def test_three_tools_are_core() -> None:
    core = [tool.name for tool in federation_tools(unconfigured, Listing()) if tool.core]
    assert core == ["knowledge.search", "knowledge.ask_projects", "knowledge.get_from"]
