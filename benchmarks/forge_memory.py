"""Memory and time of ``gateway sync`` with 5,000 projects on a fake forge, beside the same with 1,000.

``python -m benchmarks.forge_memory [--projects N]``. Linux only. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.forge_sync import TOKEN, fleet
from benchmarks.memory import sync
from tests.fake_gitea import serve


def environment(url: str, folder: str) -> Mapping[str, str]:
    return {
        "GATEWAY_CONFIG": "",
        "HOME": folder,
        "XDG_CONFIG_HOME": folder,
        "GATEWAY_FORGE__KIND": "gitea",
        "GATEWAY_FORGE__URL": url,
        "GATEWAY_FORGE__TOKEN": TOKEN,
        "GATEWAY_CACHE__FILE": str(Path(folder, "cache.db")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--projects", type=int, default=5_000)
    arguments = parser.parse_args()
    sizes = (arguments.projects // 5, arguments.projects)
    print("| projects (a fifth with a wiki of 30 pages) | peak of `gateway sync` (goal: ≤ 100 MB) | time | a project |")
    print("|---|---|---|---|")
    for projects in sizes:
        forge = fleet(projects, projects // 5)
        forge.delay = 0.0
        with serve(forge) as server, tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            peak = sync(environment(server.url, folder))
            seconds = time.perf_counter() - start
        print(f"| {projects} | {peak:.0f} MB | {seconds:.1f} s | {seconds / projects * 1e3:.1f} ms |")


if __name__ == "__main__":
    main()
