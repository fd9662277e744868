"""The official Inspector takes every tool, in both protocol eras: schemas without a remark, and a call of each."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.protocol import Target, engineering_target, gateway_target, npx, swarmkit_target

# One process runs them: two that fetch the same packages at once get in each other's way.
pytestmark = [pytest.mark.full, pytest.mark.xdist_group("npx")]

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


@pytest.fixture(params=[gateway_target, swarmkit_target, engineering_target])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    """A new one for each test, since some tools write."""
    make: Callable[[Path], Target] = request.param
    return make(tmp_path)


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def inspect(target: Target, era: str, *args: str) -> dict[str, Any]:
    """The result of one request. The Inspector's own complaints fail the test."""
    environment = [part for name, value in target.env.items() for part in ("-e", f"{name}={value}")]
    options = ("--protocol-era", era, "--format", "json", "-q")
    done = npx(INSPECTOR, "mcp-inspector", "--cli", *target.command, *environment, *options, *args)
    assert done.returncode == 0, f"{shlex.join(args)}: {done.stdout}{done.stderr}"
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


def test_each_tool_is_listed_without_a_remark_and_answers_a_call(target: Target, era: str) -> None:
    listed = inspect(target, era, "--method", "tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in listed} == target.calls.keys()
    for tool in listed:
        arguments = json.dumps(target.calls[tool["name"]])
        call = ("--method", "tools/call", "--tool-name", tool["name"], "--tool-args-json", arguments)
        result = inspect(target, era, *call)
        assert not result.get("isError"), result
        assert ("structuredContent" in result) == ("outputSchema" in tool)
