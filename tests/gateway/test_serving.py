"""``gateway serve`` as clients start it: without configuration, and verbose over a fleet in which much is broken."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.repos import make_repo
from tests.support.stdio_process import PATIENCE, StdioProcess, call, request

SERVE = [sys.executable, "-m", "gateway", "serve", "-v"]

CALLS: Mapping[str, Mapping[str, object]] = {
    "knowledge.search": {"query": "x"},
    "knowledge.get": {"slug": "x"},
    "knowledge.list": {},
    "knowledge.ask_projects": {"query": "x", "projects": ["broken", "../fleet", "nothing"]},
    "knowledge.get_from": {"project": "broken", "slug": "../../../etc/passwd"},
    "projects.list": {},
    "projects.status": {"project": "broken"},
    "projects.refresh": {"project": "broken"},
    "knowledge.ingest": {"target_project": "broken", "slug": "concepts/x", "title": "x", "body": "x"},
    "tasks.create": {"target_project": "broken", "body": "x"},
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, without configuration."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "GATEWAY_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def broken_fleet(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shared wiki that was synced and lost its objects since, a folder that is none, and a root that is gone."""
    repository = make_repo(home / "fleet/broken", {".wiki/index.md": "# Index\n", ".wiki/x.md": "# X\n"}, bare=True)
    (home / "fleet" / "empty").mkdir()
    (home / "missing").mkdir()
    monkeypatch.setenv("GATEWAY_FORGE__KIND", "local")
    monkeypatch.setenv("GATEWAY_FORGE__ROOTS", json.dumps([str(home / "fleet"), str(home / "missing")]))
    monkeypatch.setenv("GATEWAY_WIKI__SHARED", "local/fleet/broken")
    subprocess.run([sys.executable, "-m", "gateway", "sync"], check=True, timeout=PATIENCE)
    for folder in (repository / "objects").iterdir():
        folder.rename(home / folder.name)
    (home / "missing").rmdir()
    return home


def test_without_configuration_it_starts_and_each_tool_says_what_is_missing(home: Path) -> None:
    with StdioProcess(home / "log", SERVE) as server:
        server.handshake()
        listed = server.ask(request("list", "tools/list"))["result"]["tools"]
        assert {tool["name"] for tool in listed} == CALLS.keys()
        for name, arguments in CALLS.items():
            result = server.ask(call(name, name, **arguments))["result"]
            assert result["isError"]
            assert [block["text"] for block in result["content"]] == ["not_configured: no auth.toml — run gateway init"]


def test_over_a_broken_fleet_each_call_has_one_answer_and_the_wire_carries_nothing_else(broken_fleet: Path) -> None:
    with StdioProcess(broken_fleet / "log", SERVE) as server:
        server.handshake()
        told = {
            name: json.dumps(server.ask(call(name, name, **arguments))["result"], ensure_ascii=False)
            for name, arguments in CALLS.items()
        }
        for answer in told.values():
            assert "internal error" not in answer
            assert str(broken_fleet) not in answer
            assert "root:" not in answer
        assert "local/fleet/broken cannot be read: its object " in told["knowledge.ask_projects"]
        assert "local/fleet/broken cannot be read: its object " in told["projects.refresh"]
        assert server.ask(request("on", "ping"))["result"] == {}
        server.end_input()
        assert server.rest() == []
        assert server.exit_code() == 0
    assert "gateway: projects.refresh failed:\nTraceback" in server.log.read_text()
