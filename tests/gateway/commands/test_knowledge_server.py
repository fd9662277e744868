"""``gateway knowledge-server``: a SwarmKit checkout over stdio, and beside other toolsets in ``gateway serve``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import Home, Inside, gateway
from tests.support.stdio_process import StdioProcess, call, request
from tests.support.swarmkit import WORKSPACE, listing, swarmkit_python
from tests.support.swarmkit_repo import make_repo

RUN = Path(__file__).parents[2] / "support" / "swarmkit_run.py"
NAMES = {
    "search_docs", "get_schema", "list_schemas", "get_design_note", "list_design_notes", "get_error_reference",
    "validate_workspace", "list_reference_skills",
}  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repo(tmp_path_factory.mktemp("swarmkit"))


@pytest.fixture(scope="module")
def served(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioProcess]:
    folder = tmp_path_factory.mktemp("home")
    environ = {**Home(folder).environ, "SOME_TOKEN": "fake-value-0c11a7"}
    with StdioProcess(folder / "log", gateway(["knowledge-server", "--repo", str(checkout)]), env=environ) as server:
        server.handshake()
        yield server


def asked(server: StdioProcess, tool: str, **arguments: object) -> Mapping[str, Any]:
    result: Mapping[str, Any] = server.ask(call(tool, tool, **arguments))["result"]
    return result


class TestAlone:
    def test_it_lists_its_eight_tools_and_no_others(self, served: StdioProcess) -> None:
        listed = served.ask(request("list", "tools/list"))["result"]["tools"]
        assert {tool["name"] for tool in listed} == NAMES
        assert all(tool["annotations"]["readOnlyHint"] for tool in listed)

    def test_it_searches(self, served: StdioProcess) -> None:
        (found, *_) = asked(served, "search_docs", query="topology loader limits")["structuredContent"]["results"]
        assert found["path"] == "design/details/topology-loader-limits.md"

    def test_it_validates_and_leaves_the_checkout_as_it_was(self, served: StdioProcess, checkout: Path) -> None:
        before = listing(checkout)
        answer = asked(served, "validate_workspace", path=WORKSPACE)["structuredContent"]
        assert (answer["workspace"], answer["errors"]) == ("hello", [])
        assert listing(checkout) == before

    def test_what_it_says_holds_neither_variables_nor_paths(self, served: StdioProcess, checkout: Path) -> None:
        for tool, arguments in (
            ("validate_workspace", {"path": "/etc"}),
            ("validate_workspace", {"path": "examples"}),
            ("get_design_note", {"slug": "../../../../etc/passwd"}),
            ("get_schema", {"artifact_type": "../../../../../etc/passwd"}),
        ):
            told = json.dumps(asked(served, tool, **arguments))
            assert "fake-value-0c11a7" not in told
            assert str(checkout) not in told
            assert "root:" not in told


class TestWhere:
    @pytest.mark.parametrize("folder", [".", "examples/hello"])
    def test_it_serves_the_checkout_that_it_is_started_in(self, checkout: Path, folder: str, home: Home) -> None:
        code = (
            "import os, sys; os.chdir(sys.argv[1]); os.execv(sys.executable,"
            " [sys.executable, '-P', '-m', 'gateway', 'knowledge-server'])"
        )
        command = [gateway([])[0], "-c", code, str(checkout / folder)]
        with StdioProcess(home.path / "log", command, env=home.environ) as server:
            server.handshake()
            assert asked(server, "list_schemas")["structuredContent"]["schemas"]

    def test_elsewhere_it_starts_and_each_tool_says_what_is_missing(self, home: Home) -> None:
        with StdioProcess(home.path / "log", gateway(["knowledge-server"]), env=home.environ) as server:
            server.handshake()
            result = asked(server, "list_schemas")
            assert result["isError"]
            assert [block["text"] for block in result["content"]] == [
                "not_configured: no SwarmKit checkout — set [swarmkit] repo, or start in the repository"
            ]

    def test_a_folder_that_is_none_is_a_slip(self, run: Inside) -> None:
        shown = run("knowledge-server", "--repo", "nothing")
        assert shown.code == 2
        assert "nothing" in shown.err

    def test_the_configuration_may_name_it(self, checkout: Path, home: Home) -> None:
        home.configure(f'[swarmkit]\nrepo = "{checkout}"\n')
        with StdioProcess(home.path / "log", gateway(["serve"]), env=home.environ) as server:
            server.handshake()
            listed = server.ask(request("list", "tools/list"))["result"]["tools"]
            assert {tool["name"] for tool in listed} == NAMES
            assert asked(server, "get_design_note", slug="topology-loader-limits")["structuredContent"]["content"]

    def test_beside_the_federation_both_are_listed(self, checkout: Path, home: Home) -> None:
        home.with_fleet()
        home.configure(home.config.read_text() + f'[swarmkit]\nrepo = "{checkout}"\n')
        with StdioProcess(home.path / "log", gateway(["serve"]), env=home.environ) as server:
            server.handshake()
            names = {tool["name"] for tool in server.ask(request("list", "tools/list"))["result"]["tools"]}
            assert {"knowledge.search", *NAMES} <= names


class TestClientConfig:
    def test_it_prints_entry_and_skill(self, run: Inside, checkout: Path, home: Home) -> None:
        home.configure(f'[swarmkit]\nrepo = "{checkout}"\n')
        shown = run("client-config", "swarmkit")
        assert (shown.code, shown.err) == (0, "")
        entry, skill = yaml.safe_load_all(shown.out)
        assert entry["mcp_servers"][0]["command"][-2:] == ["--repo", str(checkout)]
        assert skill["metadata"]["id"] == "query-swarmkit-docs"

    def test_it_writes_into_nobodys_workspace(self, run: Inside) -> None:
        assert run("client-config", "swarmkit", "--write").code == 2


@pytest.mark.full
class TestWithSwarmKit:
    """The real runtime (``scripts/test --full``)."""

    def test_a_workspace_is_checked_by_the_interpreter_that_is_named(self, checkout: Path, home: Home) -> None:
        command = gateway(["knowledge-server", "--repo", str(checkout), "--swarmkit-python", str(swarmkit_python())])
        with StdioProcess(home.path / "log", command, env=home.environ) as server:
            server.handshake()
            answer = asked(server, "validate_workspace", path=WORKSPACE)["structuredContent"]
            assert (answer["valid"], answer["complete"]) == (True, True)
            server.end_input()
            assert server.exit_code() == 0

    def test_an_agents_skill_gets_real_text_back(self, checkout: Path, home: Home) -> None:
        """The entry and the skill that client-config prints, run by SwarmKit with a stub for its model."""
        printed = home.run("client-config", "swarmkit", cwd=checkout)
        entry, skill = yaml.safe_load_all(printed.out)
        workspace = home.path / "workspace"
        about = {"apiVersion": "swarmkit/v1", "metadata": {"id": "live", "name": "Live"}, "memory": {"enabled": False}}
        agent = {
            "id": "root",
            "role": "root",
            "model": {"provider": "mock", "name": "mock"},
            "prompt": {"system": "Ask."},
            "skills": [skill["metadata"]["id"]],
            "iam": {"base_scope": ["knowledge:read"]},
        }
        topology = {"metadata": {"name": "ask", "version": "1.0.0"}, "agents": {"root": agent}}
        files = {
            "workspace.yaml": {**about, "kind": "Workspace", **entry},
            "skills/query-swarmkit-docs.yaml": skill,
            "topologies/ask.yaml": {"apiVersion": "swarmkit/v1", "kind": "Topology", **topology},
        }
        for path, content in files.items():
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_text(yaml.safe_dump(content), encoding="utf-8")
        done = subprocess.run(
            [swarmkit_python(), RUN, workspace, "ask", "topology loader limits"],
            env=home.environ,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        answer = done.stdout
        assert '"path":"design/details/topology-loader-limits.md"' in answer
        assert "[source: swarmkit-knowledge:search_docs" in answer
