"""``gateway serve`` by its flags and by the configuration: what is listed, under which names, and where."""

from __future__ import annotations

import json
import signal
import subprocess

import httpx2
import pytest

from gateway.tools.federation import federation_tools, unconfigured
from gateway.tools.registry import Listing, fold
from tests.support.cli import Home, Inside, gateway
from tests.support.stdio_process import StdioProcess, call, request
from tests.support.terminal import converse


def listed(home: Home, *args: str) -> set[str]:
    with StdioProcess(home.path / "log", gateway(["serve", *args])) as server:
        server.handshake()
        return {tool["name"] for tool in server.ask(request(1, "tools/list"))["result"]["tools"]}


def test_what_a_client_was_told_to_start_answers_the_question(home: Home, run: Inside) -> None:
    """The main job as Claude Code does it: the command of its entry, a question, the page."""
    home.with_fleet()
    run("sync")
    entry = json.loads(run("client-config", "claude-code").out)["mcpServers"]["knowledge"]
    with StdioProcess(home.path / "log", [entry["command"], *entry["args"]]) as server:
        server.handshake()
        asked = server.ask(call(1, "knowledge.ask_projects", query="yarn on windows", projects=["web", "payments"]))
        hit, miss = asked["result"]["structuredContent"]["results"]
        assert (hit["project"], hit["matches"][0]["slug"]) == ("local/acme/web", "concepts/windows-yarn-exec")
        assert miss["matches"] == []
        read = server.ask(call(2, "knowledge.get_from", project=hit["project"], slug=hit["matches"][0]["slug"]))
        page = home.path / "src/acme/web/.wiki/concepts/windows-yarn-exec.md"
        assert read["result"]["content"][0]["text"] == page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("run")
def test_a_flag_outweighs_the_configuration_and_that_the_default(home: Home) -> None:
    home.configure('[gateway]\ntool_names = "underscore"\nread_only = true\n')
    names = {tool.name for tool in federation_tools(unconfigured, Listing()) if tool.read_only}
    assert listed(home) == set(map(fold, names))
    assert listed(home, "--tool-names", "dotted", "--toolsets", "federation") == names


ENGINEERING = {
    "search_knowledge", "list_knowledge_topics", "get_knowledge",
    "capture_knowledge", "create_knowledge", "update_knowledge",
}  # fmt: skip


@pytest.mark.usefixtures("run")
def test_a_knowledge_folder_is_served_alone_and_beside_the_federation(home: Home) -> None:
    federation = {tool.name for tool in federation_tools(unconfigured, Listing())}
    (home.path / "kb").mkdir()
    folder = str(home.path / "kb")
    assert listed(home, "--toolsets", "engineering", "--root", folder) == ENGINEERING
    assert listed(home, "--root", folder) == ENGINEERING
    home.with_fleet()
    assert listed(home, "--root", folder) == federation | ENGINEERING
    home.configure(f'{home.config.read_text()}[engineering]\nroot = "~/kb"\n')
    assert listed(home) == federation | ENGINEERING
    assert listed(home, "--toolsets", "federation") == federation


@pytest.mark.usefixtures("run")
def test_an_empty_folder_is_filled_by_the_first_write(home: Home) -> None:
    (home.path / "kb").mkdir()
    with StdioProcess(
        home.path / "log", gateway(["serve", "--toolsets", "engineering", "--root", str(home.path / "kb")])
    ) as server:
        server.handshake()
        asked = server.ask(call(1, "search_knowledge", query="limits"))
        assert asked["result"]["structuredContent"] == {"results": []}
        made = server.ask(call(2, "create_knowledge", topic="limits", title="Limits", content="Sixty a minute."))
        assert made["result"]["structuredContent"]["path"] == "knowledge/general/limits.md"
        asked = server.ask(call(3, "search_knowledge", query="limits"))
        assert [hit["title"] for hit in asked["result"]["structuredContent"]["results"]] == ["Limits"]


def test_a_toolset_without_a_folder_says_what_is_missing(home: Home) -> None:
    with StdioProcess(home.path / "log", gateway(["serve", "--toolsets", "engineering"])) as server:
        server.handshake()
        asked = server.ask(call(1, "search_knowledge", query="limits"))["result"]
    assert asked["isError"]
    assert asked["content"][0]["text"].startswith("not_configured: no knowledge folder — set [engineering] root")


@pytest.mark.parametrize("source", ["flag", "configuration"])
def test_an_unknown_toolset_is_an_error_with_the_choices(home: Home, run: Inside, source: str) -> None:
    if source == "configuration":
        home.configure('[gateway]\ntoolsets = ["engneering"]\n')
    shown = run("serve", *(["--toolsets", "engneering"] if source == "flag" else []))
    assert shown.code in (2, 3)
    assert all(name in shown.err for name in ("federation", "swarmkit", "engineering"))


def test_a_person_who_starts_it_is_told_who_should(home: Home) -> None:
    end_of_file = "\x04"
    code, shown = converse(home, ["serve"], [("an MCP client starts this (see gateway client-config)", end_of_file)])
    assert code == 0, shown


@pytest.mark.usefixtures("run")
def test_http_says_where_it_is_and_lists_underscored_names(home: Home) -> None:
    with subprocess.Popen(gateway(["serve", "--http", "127.0.0.1:0"]), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = server.stderr.readline().removeprefix("gateway: serving at ").strip()
            headers = {"Accept": "application/json, text/event-stream"}
            answer = httpx2.post(url, json=request(1, "tools/list"), headers=headers, timeout=30)
            assert "knowledge_ask_projects" in answer.text
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.test"])  # noqa: S104 it is refused
def test_an_address_that_others_can_reach_is_refused(run: Inside, host: str) -> None:
    shown = run("serve", "--http", f"{host}:8321")
    assert shown.code == 3
    assert shown.err == ("gateway: only 127.0.0.1, ::1 or localhost can be served: there is no authentication yet\n")


def test_a_broken_configuration_ends_the_start(home: Home, run: Inside) -> None:
    home.configure("[gatway]\n")
    shown = run("serve")
    assert (shown.code, shown.out) == (3, "")
    assert shown.err.endswith("gatway: unknown key — did you mean gateway?\n")
