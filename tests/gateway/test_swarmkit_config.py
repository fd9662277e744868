"""What a SwarmKit workspace needs to ask about SwarmKit."""

from __future__ import annotations

from pathlib import Path

import yaml

from gateway.swarmkit_config import workspace_entry

PROGRAM = ("/opt/tools/bin/gateway",)


def test_the_entry_starts_this_gateway_on_that_checkout() -> None:
    entry, _ = yaml.safe_load_all(workspace_entry(PROGRAM, Path("/src/swarm kit"), "/opt/kit/bin/python"))
    (server,) = entry["mcp_servers"]
    assert server == {
        "id": "swarmkit-knowledge",
        "transport": "stdio",
        "command": [
            *PROGRAM,
            "knowledge-server",
            "--repo",
            "/src/swarm kit",
            "--swarmkit-python",
            "/opt/kit/bin/python",
        ],
    }


def test_it_may_leave_the_checkout_to_the_configuration() -> None:
    entry, _ = yaml.safe_load_all(workspace_entry(PROGRAM, None, ""))
    assert entry["mcp_servers"][0]["command"] == [*PROGRAM, "knowledge-server"]


def test_the_skill_calls_the_search_of_that_server() -> None:
    entry, skill = yaml.safe_load_all(workspace_entry(PROGRAM, None, ""))
    assert skill["metadata"]["id"] == "query-swarmkit-docs"
    assert skill["implementation"] == {
        "type": "mcp_tool",
        "server": entry["mcp_servers"][0]["id"],
        "tool": "search_docs",
    }
