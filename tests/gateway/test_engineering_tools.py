"""Toolset ``engineering`` over the protocol: what is listed, and results in the contract's shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from cache.errors import NotConfigured
from gateway.engineering import open_engineering
from gateway.settings import EngineeringSection, Settings
from gateway.tools.registry import Listing
from gateway.toolsets import configured
from tests.support.engineering import answer, client, texts
from tests.support.knowledge_base import STAMP, knowledge_base, put, snapshot

pytestmark = pytest.mark.anyio

READING = {"search_knowledge", "list_knowledge_topics", "get_knowledge"}
WRITING = {"capture_knowledge", "create_knowledge", "update_knowledge"}
X = "---\ntags: [net]\n---\n# X\n\n## Ports\n\nWe listen on 8080.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, {"knowledge/api/x.md": X})
    return tmp_path


@pytest.fixture
def session(root: Path) -> Client:
    return client(knowledge_base(root))


class TestTheList:
    async def test_has_six_tools_that_tell_truly_what_they_do(self, session: Client) -> None:
        async with session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert tools.keys() == READING | WRITING
        hints = {name: tool.annotations for name, tool in tools.items()}
        assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == READING
        assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == {"update_knowledge"}
        assert {name for name, hint in hints.items() if hint and not hint.idempotent_hint} == {
            "capture_knowledge", "update_knowledge",
        }  # fmt: skip
        assert not any(hint and hint.open_world_hint for hint in hints.values())

    async def test_read_only_has_those_that_read_and_the_others_refuse(self, root: Path) -> None:
        before = snapshot(root)
        async with client(knowledge_base(root), Listing(read_only=True)) as session:
            assert {tool.name for tool in (await session.list_tools()).tools} == READING
            assert session.instructions is not None
            assert not any(name in session.instructions for name in WRITING)
            result = await session.call_tool("capture_knowledge", {"content": "x"})
            assert texts(result)[0].startswith("denied: this gateway is read-only")
        assert snapshot(root) == before


class TestResults:
    async def test_each_is_what_its_schema_says(self, session: Client) -> None:
        calls: dict[str, dict[str, object]] = {
            "search_knowledge": {"query": "listen", "limit": 3},
            "list_knowledge_topics": {},
            "capture_knowledge": {"content": "x", "suggestedTopic": None},
            "create_knowledge": {"topic": "new", "title": "New", "content": "y"},
            "update_knowledge": {"topicOrPath": "x", "heading": "Ports", "content": "z"},
        }
        found = {}
        async with session:
            schemas = {tool.name: tool.output_schema for tool in (await session.list_tools()).tools}
            for name, arguments in calls.items():
                result = await session.call_tool(name, arguments)
                assert not result.is_error, texts(result)
                schema = schemas[name]
                assert schema is not None
                Draft202012Validator(schema).validate(result.structured_content)
                found[name] = answer(result)
        (hit,) = found["search_knowledge"]["results"]
        assert hit["snippet"] == "We listen on 8080."
        assert {name: hit[name] for name in ("path", "title", "heading")} == {
            "path": "knowledge/api/x.md", "title": "X", "heading": "Ports",
        }  # fmt: skip
        assert found["list_knowledge_topics"] == {
            "documents": [{"path": "knowledge/api/x.md", "title": "X", "tags": ["net"]}]
        }
        assert found["capture_knowledge"] == {"path": "inbox/knowledge-inbox.md", "timestamp": STAMP}
        assert found["create_knowledge"].keys() == {"path", "title", "etag"}
        assert found["update_knowledge"].keys() == {"path", "etag", "created_section"}

    async def test_a_document_is_its_text_and_one_line_of_json(self, session: Client) -> None:
        async with session:
            result = await session.call_tool("get_knowledge", {"topicOrPath": "x"})
        text, about = texts(result)
        assert text == X
        assert result.structured_content is None
        assert "\n" not in about
        told = json.loads(about)
        assert told.pop("etag")
        assert told == {"path": "knowledge/api/x.md", "title": "X", "tags": ["net"], "lossy": False}

    async def test_an_etag_goes_round(self, session: Client) -> None:
        async with session:
            etag = answer(await session.call_tool("get_knowledge", {"topicOrPath": "x"}))["etag"]
            update = {"topicOrPath": "x", "heading": "Ports", "content": "z", "mode": "replace", "etag": etag}
            assert not (await session.call_tool("update_knowledge", update)).is_error
            refused = await session.call_tool("update_knowledge", update)
        assert texts(refused)[0].startswith("conflict: knowledge/api/x.md is not as you read it")

    async def test_an_error_names_no_folder_of_the_machine(self, root: Path, session: Client) -> None:
        (root / "knowledge/link.md").symlink_to("/etc/passwd")
        put(root, {"knowledge/bad.md": {"b64": "/w=="}})
        lines = []
        async with session:
            for reference in ("nope", "../x", "link", "bad", "x"):
                arguments = {"topicOrPath": reference, "heading": "", "content": "```"}
                lines += texts(await session.call_tool("update_knowledge", {**arguments, "heading": "Ports"}))
        assert len(lines) == 5
        assert all(str(root) not in line and "passwd" not in line and "\n" not in line for line in lines)


def test_it_is_served_where_its_folder_is_set(tmp_path: Path) -> None:
    assert configured(Settings(engineering=EngineeringSection(root=str(tmp_path)))) == ("engineering",)
    assert open_engineering(EngineeringSection(root=str(tmp_path))).topics() == []
    with pytest.raises(NotConfigured, match=r"set \[engineering\] root, or name one with --root"):
        open_engineering(EngineeringSection())
