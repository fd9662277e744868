"""``ask_projects`` over ten projects with five matches each, on a fake forge at 50 ms a request, beside a client that
reads the same pages one after the other; and twenty such questions at once.

``python -m benchmarks.forge_ask [--calls N]``. Prints two tables in Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import anyio
import httpx2

from benchmarks.forge_sync import IN_FLIGHT, TOKEN, fleet
from cache.store import SqliteStore
from gateway.answers import AskAnswer, ProjectMatches
from gateway.federation import Federation, Policy
from sync.credentials import TokenSource
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.http import HttpClient, HttpSettings
from sync.plan import SyncSettings
from sync.worker import sync_forge
from tests.fake_gitea import serve
from tests.fake_gitea.serve import Server

DELAY = 0.050  # seconds a request
PROJECTS = [f"alice/p{number:04}" for number in range(10)]
AT_ONCE = 20


async def one_by_one(url: str, answer: AskAnswer) -> float:
    """Seconds to read the same pages by ``raw``, one request after the other on one connection."""
    async with httpx2.AsyncClient(headers={"Authorization": f"token {TOKEN}"}) as client:
        start = time.perf_counter()
        for entry in answer.results:
            assert isinstance(entry, ProjectMatches)
            for match in entry.matches:
                path = f"{url.rstrip('/')}/api/v1/repos/{entry.project}/raw/.wiki/{match.slug}.md"
                assert (await client.get(path)).status_code == 200
        return time.perf_counter() - start


async def measure(server: Server, cache: Path, calls: int) -> None:
    store = SqliteStore(cache, on_notice=print)
    http = HttpClient(HttpSettings(max_in_flight=IN_FLIGHT))
    forge = GiteaForge("default", http, GiteaSettings(server.url, token=TokenSource(token=TOKEN)))
    try:
        await sync_forge(forge, store, SyncSettings(), clock=time.time)
        federation = Federation(store, {"default": forge}, Policy(), clock=time.time)
        answer = await federation.ask_projects("topic", PROJECTS)  # connections are open from here on
        server.reset_counts()
        ours, reference = [], []
        for _ in range(calls):
            start = time.perf_counter()
            answer = await federation.ask_projects("topic", PROJECTS)
            ours.append(time.perf_counter() - start)
            reference.append(await one_by_one(server.url, answer))
        requests = len([exchange for exchange in server.requests if "file-contents" in exchange.route]) // calls
        print_ask(ours, reference, requests)
        server.reset_counts()
        waits = await at_once(federation)
        print_at_once(waits, statistics.median(ours), server.max_in_flight)
    finally:
        await forge.aclose()
        store.close()


async def at_once(federation: Federation) -> list[float]:
    """Seconds that each of twenty simultaneous callers waits."""
    waits: list[float] = []

    async def ask(number: int) -> None:
        start = time.perf_counter()
        answer = await federation.ask_projects(f"topic {number}", PROJECTS)
        assert all(isinstance(entry, ProjectMatches) and len(entry.matches) == 5 for entry in answer.results)
        waits.append(time.perf_counter() - start)

    async with anyio.create_task_group() as group:
        for number in range(AT_ONCE):
            group.start_soon(ask, number)
    return waits


def print_ask(ours: list[float], reference: list[float], requests: int) -> None:
    median, slow = statistics.median(ours), statistics.median(reference)
    print("| 10 projects × 5 matches, 50 ms a request | requests | median | round trips | ratio |")
    print("|---|---|---|---|---|")
    print(f"| one request after the other | 50 | {slow * 1e3:.0f} ms | {slow / DELAY:.1f} | 1 |")
    print(
        f"| ask_projects | {requests} | {median * 1e3:.0f} ms | {median / DELAY:.1f} (goal: ≤ 3.5)"
        f" | {slow / median:.0f} × faster (goal: ≥ 12) |"
    )


def print_at_once(waits: list[float], alone: float, in_flight: int) -> None:
    print()
    print(f"| {AT_ONCE} questions at once | most requests in flight | fastest | slowest | slowest ÷ one alone |")
    print("|---|---|---|---|---|")
    print(
        f"| ask_projects | {in_flight} (bound: {IN_FLIGHT}) | {min(waits) * 1e3:.0f} ms | {max(waits) * 1e3:.0f} ms"
        f" | {max(waits) / alone:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=15)
    arguments = parser.parse_args()
    forge = fleet(len(PROJECTS), len(PROJECTS))
    forge.delay = DELAY
    with serve(forge) as server, tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, server, Path(folder, "cache.db"), arguments.calls)


if __name__ == "__main__":
    main()
