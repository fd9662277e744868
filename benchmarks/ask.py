"""``ask_projects`` over ten projects with 30 pages each, beside reading the same pages and nothing else.

``python -m benchmarks.ask [--projects N] [--pages N] [--calls N]``. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import anyio

from benchmarks.fleets import TOPICS, make_fleet
from benchmarks.local_sync import SETTINGS, synced
from cache.model import MAX_PAGE
from cache.store import SqliteStore
from gateway.answers import AskAnswer, ProjectMatches
from gateway.federation import Federation, Policy
from gateway.pages import page_path
from sync.forge.local import LocalForge


async def measure(root: Path, cache: Path, calls: int) -> dict[str, list[float]]:
    await synced(root, cache)
    store = SqliteStore(cache, on_notice=print)
    forge = LocalForge("default", [root], status_paths=SETTINGS.status_paths)
    federation = Federation(store, {"default": forge}, Policy(), clock=time.time)
    projects = [project.name for project in store.projects(limit=1000)]
    times: dict[str, list[float]] = {"reading the same pages": [], "ask_projects": []}
    try:
        for number in range(calls + 5):
            query = f"how do we handle {TOPICS[number % len(TOPICS)]}"
            start = time.perf_counter()
            answer = await federation.ask_projects(query, projects)
            asked = time.perf_counter()
            await read_again(store, forge, answer)
            done = time.perf_counter()
            if number >= 5:  # the first ones warm up
                times["ask_projects"].append((asked - start) * 1e3)
                times["reading the same pages"].append((done - asked) * 1e3)
    finally:
        await forge.aclose()
        store.close()
    return times


async def read_again(store: SqliteStore, forge: LocalForge, answer: AskAnswer) -> None:
    async with anyio.create_task_group() as group:
        for entry in answer.results:
            assert isinstance(entry, ProjectMatches), entry
            assert len(entry.matches) == 5, entry
            (project,) = store.resolve(entry.project).projects
            paths = [page_path(match.slug) for match in entry.matches]

            group.start_soon(partial(forge.read, project.repo, paths, limit=MAX_PAGE))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--projects", type=int, default=10)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--calls", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "src")
        make_fleet(root, arguments.projects, arguments.pages)
        times = anyio.run(measure, root, Path(folder, "cache.db"), arguments.calls)
    reference = statistics.median(times["reading the same pages"])
    print(
        f"| {arguments.projects} projects × {arguments.pages} pages, 5 matches | median | p95 (goal: ≤ 30 ms) | ratio |"
    )
    print("|---|---|---|---|")
    for name, values in times.items():
        median, p95 = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        print(f"| {name} | {median:.1f} ms | {p95:.1f} ms | {median / reference:.1f} |")


if __name__ == "__main__":
    main()
