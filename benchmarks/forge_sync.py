"""Sync of 500 projects, 200 with wikis, from a fake forge at 20 ms a request, beside a bare client that sends the same.

``python -m benchmarks.forge_sync [--projects N] [--wikis N] [--runs N]``. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import anyio
import httpx2

from cache.store import SqliteStore
from sync.credentials import TokenSource
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient, HttpSettings
from sync.plan import SyncSettings
from sync.worker import SyncReport, sync_forge
from tests.fake_gitea import FakeGitea, serve
from tests.fake_gitea.fleet import add_fleet
from tests.fake_gitea.log import Exchange

IN_FLIGHT = 8
DELAY = 0.020  # seconds a request
TOKEN = "fake-token-alice"  # noqa: S105 the fake forge's, which guards nothing


async def synced(url: str, cache: Path) -> tuple[float, SyncReport]:
    """Seconds from first request to last commit, and how the sync ended."""
    store = SqliteStore(cache, on_notice=print)
    http = HttpClient(HttpSettings(max_in_flight=IN_FLIGHT))
    forge = GiteaForge("default", http, GiteaSettings(url, token=TokenSource(token=TOKEN)))
    try:
        start = time.perf_counter()
        report = await sync_forge(forge, store, SyncSettings(), clock=time.time)
        return time.perf_counter() - start, report
    finally:
        await forge.aclose()
        store.close()


async def bare(url: str, exchanges: Sequence[Exchange]) -> float:
    """Seconds for a client of httpx2 alone to send the same requests, as many at once, and to read the answers."""
    todo = iter(exchanges)
    async with httpx2.AsyncClient(limits=httpx2.Limits(max_connections=IN_FLIGHT)) as client:

        async def work() -> None:
            for exchange in todo:
                answer = await client.request(
                    exchange.method,
                    f"{url.rstrip('/')}/api/v1{exchange.target}",
                    content=exchange.body,
                    headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
                )
                assert answer.status_code == 200, exchange.target

        start = time.perf_counter()
        async with anyio.create_task_group() as group:
            for _ in range(IN_FLIGHT):
                group.start_soon(work)
        return time.perf_counter() - start


def fleet(projects: int, wikis: int) -> FakeGitea:
    forge = FakeGitea()
    forge.add_user("alice", token=TOKEN)
    add_fleet(forge, projects, wikis=wikis, owner="alice")
    forge.delay = DELAY
    return forge


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--projects", type=int, default=500)
    parser.add_argument("--wikis", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    names = ("a bare client, the same requests", "first sync", "second sync")
    times: dict[str, list[float]] = {name: [] for name in names}
    sent: dict[str, int] = {}
    with serve(fleet(arguments.projects, arguments.wikis)) as server, tempfile.TemporaryDirectory() as folder:
        for run in range(arguments.runs):
            cache = Path(folder, f"cache-{run}.db")
            for name in names[1:]:
                server.reset_counts()
                seconds, report = anyio.run(synced, server.url, cache)
                assert report.complete, report
                times[name].append(seconds)
                exchanges = server.requests
                sent[name] = len(exchanges)
                if name == "first sync":
                    times[names[0]].append(anyio.run(bare, server.url, exchanges))
                    sent[names[0]] = sent[name]
    goals = {
        "first sync": f"≤ {ceil(arguments.projects / 50) + arguments.projects + 2 * arguments.wikis}",
        "second sync": f"≤ {ceil(arguments.projects / 50) + 1}",
    }
    reference, first = (statistics.median(times[name]) for name in names[:2])
    size = f"{arguments.projects} projects, {arguments.wikis} wikis, 20 ms a request, 8 in flight"
    print(f"| {size} | requests | goal | median | ratio |")
    print("|---|---|---|---|---|")
    for name, runs in times.items():
        median = statistics.median(runs)
        ratio = f"{first / median:.0f} × faster than the first (goal: ≥ 25)" if name == "second sync" else ""
        ratio = ratio or f"{median / reference:.2f}" + (" (goal: ≤ 1.1)" if name == "first sync" else "")
        print(f"| {name} | {sent[name]} | {goals.get(name, '')} | {median:.2f} s | {ratio} |")


if __name__ == "__main__":
    main()
