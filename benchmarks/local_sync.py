"""Local sync of 200 repositories with 30 pages each: first and second, beside dulwich reading the same blobs.

``python -m benchmarks.local_sync [--repositories N] [--pages N] [--runs N]``. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import anyio
from dulwich.object_store import iter_tree_contents
from dulwich.objects import Commit
from dulwich.repo import Repo

from benchmarks.fleets import make_fleet
from cache.store import SqliteStore
from sync.forge.base import SETTLE
from sync.forge.local import LocalForge
from sync.plan import SyncSettings
from sync.worker import SyncReport, sync_forge

SETTINGS = SyncSettings(mirror_everything=True)


async def synced(root: Path, cache: Path) -> SyncReport:
    store = SqliteStore(cache, on_notice=print)
    forge = LocalForge("default", [root], status_paths=SETTINGS.status_paths)
    try:
        return await sync_forge(forge, store, SETTINGS, clock=time.time)
    finally:
        await forge.aclose()
        store.close()


def read_by_dulwich(root: Path) -> float:
    """Seconds to read every blob of every HEAD once, with nothing made of it."""
    start = time.perf_counter()
    for git in sorted(root.glob("*/*")):
        with Repo(git) as repo:
            head = repo[repo.head()]
            assert isinstance(head, Commit)
            for entry in iter_tree_contents(repo.object_store, head.tree):
                repo[entry.sha].as_raw_string()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    names = ("dulwich reads every blob", "first sync", "second sync")
    times: dict[str, list[float]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "src")
        make_fleet(root, arguments.repositories, arguments.pages)
        time.sleep(SETTLE + 1)  # until then a sync may not trust what it saw
        for run in range(arguments.runs):
            cache = Path(folder, f"cache-{run}.db")
            times[names[0]].append(read_by_dulwich(root))
            for name in names[1:]:
                start = time.perf_counter()
                report = anyio.run(synced, root, cache)
                times[name].append(time.perf_counter() - start)
                assert report.complete, report
                assert report.changed == (arguments.repositories if name == "first sync" else 0), report
    first = statistics.median(times["first sync"])
    print(f"| {arguments.repositories} repositories × {arguments.pages} pages | median | of the first sync |")
    print("|---|---|---|")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        goal = " (goal: ≤ 10%)" if name == "second sync" else ""
        print(f"| {name} | {median:.2f} s | {median / first:.1%}{goal} |")


if __name__ == "__main__":
    main()
