"""The official conformance suite over our HTTP, as each protocol revision requires it."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.protocol import GATEWAY, gateway_target, npx, over_http

# One process runs them: two that fetch the same packages at once get in each other's way.
pytestmark = [pytest.mark.full, pytest.mark.xdist_group("npx")]

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"

# Scenarios that need no fixture, by revision: these a server must pass as it is, each check of them.
WITHOUT_FIXTURES: Mapping[str, Sequence[str]] = {
    "2025-11-25": (
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "server-session-lifecycle",
    ),
    "2026-07-28": (
        "tools-list",
        "server-sse-multiple-streams",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
    ),
}

# How the suite says that a fixture is missing: a tool of its own, or a capability that we do not announce.
MISSING_FIXTURE = re.compile(
    r"Not testable: |Method not found|unknown tool 'test_|Tool 'json_schema_2020_12_tool' not found"
    r"|^Expected InputRequiredResult|^Prerequisite failed: could not get initial InputRequiredResult"
)

# Not offered: tasks are an extension that no revision requires.
NOT_OFFERED = "tasks-"


def failures(folder: Path) -> dict[str, list[str]]:
    """What the suite found wrong, by scenario; scenarios without a finding have an empty list."""
    found: dict[str, list[str]] = defaultdict(list)
    for results in folder.glob("server-*/checks.json"):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", results.parent.name)
        checks: list[dict[str, Any]] = json.loads(results.read_text())
        found[scenario] += [str(check.get("errorMessage")) for check in checks if check["status"] == "FAILURE"]
    return found


@pytest.mark.parametrize("revision", WITHOUT_FIXTURES)
def test_our_stack_passes_all_that_a_revision_requires(tmp_path: Path, revision: str) -> None:
    """With the suite's fixtures on it; also the pending scenarios, which it does not require."""
    with over_http([sys.executable, "-m", "tests.support.conformance_server"], tmp_path / "log") as url:
        options = ("--requirements", revision, "--output-dir", str(tmp_path))
        done = npx(SUITE, "conformance", "server", "--url", url, *options)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    found = failures(tmp_path)
    assert set(WITHOUT_FIXTURES[revision]) <= found.keys()
    assert {name: why for name, why in found.items() if why and not name.startswith(NOT_OFFERED)} == {}


@pytest.mark.parametrize("revision", WITHOUT_FIXTURES)
def test_the_gateway_fails_nothing_but_for_want_of_a_fixture(tmp_path: Path, revision: str) -> None:
    target = gateway_target(tmp_path)
    results = tmp_path / "results"
    with over_http([*GATEWAY, "--http", "127.0.0.1:0"], tmp_path / "log", target.env) as url:
        options = ("--requirements", revision, "--output-dir", str(results))
        npx(SUITE, "conformance", "server", "--url", url, *options)
    found = failures(results)
    assert {name: found.get(name) for name in WITHOUT_FIXTURES[revision] if found.get(name) != []} == {}
    unexplained = {
        name: [why for why in reasons if not MISSING_FIXTURE.search(why)]
        for name, reasons in found.items()
        if not name.startswith(NOT_OFFERED)
    }
    assert {name: reasons for name, reasons in unexplained.items() if reasons} == {}
