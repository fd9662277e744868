"""Memory of ``gateway sync`` and ``gateway serve`` with 10,000 projects, beside the bare SDK serving one empty tool.

``python -m benchmarks.memory [--projects N] [--pages N]``. Linux only (it reads ``/proc``). Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.fleets import make_large_fleet
from benchmarks.startup import BARE
from benchmarks.stdio import connected

GATEWAY = [sys.executable, "-m", "gateway"]
CALLS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("projects.list", {"limit": 500}),
    (
        "knowledge.ask_projects",
        {"query": "caching", "projects": [f"local/team-{n}/project-{n}.git" for n in range(10)]},
    ),
    ("knowledge.ask_projects", {"query": "caching", "projects": ["local/team-0/proyect-0.git"]}),
    ("knowledge.get_from", {"project": "local/team-0/project-0.git", "slug": "concepts/page-0"}),
    ("knowledge.search", {"query": "zebra crossing"}),
)


# What the kernel tells a parent of its child's peak includes the parent's own before the child began, so the child
# tells it itself.
SYNC = """
import atexit, sys
from pathlib import Path
peak = Path(sys.argv.pop(1))
atexit.register(lambda: peak.write_text(Path("/proc/self/status").read_text()))
from gateway.cli import main
main()
"""


def peak_megabytes(status: str) -> float:
    """The peak of resident memory that a process's ``/proc/…/status`` tells."""
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def sync(env: Mapping[str, str]) -> float:
    """The peak of one ``gateway sync``."""
    with tempfile.TemporaryDirectory() as folder:
        peak = Path(folder, "status")
        command = [sys.executable, "-c", SYNC, str(peak), "sync"]
        subprocess.run(command, env={**os.environ, **env}, stdout=sys.stderr, check=True)
        return peak_megabytes(peak.read_text())


def serve(command: list[str], env: Mapping[str, str], calls: tuple[tuple[str, Mapping[str, object]], ...]) -> float:
    with connected(command, env) as client:
        client.handshake()
        for name, arguments in calls:
            client.request("tools/call", {"name": name, "arguments": arguments})
        return peak_megabytes(Path(f"/proc/{client.pid}/status").read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--projects", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "src")
        make_large_fleet(root, arguments.projects, arguments.pages)
        env = {
            "GATEWAY_CONFIG": "",
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "GATEWAY_FORGE__KIND": "local",
            "GATEWAY_FORGE__ROOTS": json.dumps([str(root)]),
            "GATEWAY_CACHE__FILE": str(Path(folder, "cache.db")),
            "GATEWAY_WIKI__SHARED": "local/team-1/project-1.git",
        }
        bare = serve(BARE, env, ())
        peaks = {
            "the SDK, one empty tool": (bare, ""),
            "gateway sync, first": (sync(env), "≤ 100 MB"),
            "gateway sync, again": (sync(env), "≤ 100 MB"),
            "gateway serve, after calls": (serve([*GATEWAY, "serve"], env, CALLS), "≤ 150 MB"),
        }
    print(f"| {arguments.projects} projects × {arguments.pages} pages | peak | goal | ratio |")
    print("|---|---|---|---|")
    for name, (peak, goal) in peaks.items():
        print(f"| {name} | {peak:.0f} MB | {goal} | {peak / bare:.2f} |")


if __name__ == "__main__":
    main()
