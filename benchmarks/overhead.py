"""Overhead of a tool call over stdio, ours beside the bare SDK that returns the very same result.

``python -m benchmarks.overhead [--calls N] [--tool NAME] [--arguments JSON] [-- COMMAND …]``; the command is
``gateway serve`` unless another one is given. What the tool itself does counts as overhead, so ask for something
cheap. Blocks of calls alternate, so that both meet the same machine. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.startup import BARE
from benchmarks.stdio import Client, connected, empty_fleet

BLOCK = 100  # calls


def milliseconds(client: Client, call: Mapping[str, object]) -> float:
    start = time.perf_counter()
    client.request("tools/call", call)
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--tool", default="projects.list")
    parser.add_argument("--arguments", type=json.loads, default={})
    parser.add_argument("command", nargs="*", default=[shutil.which("gateway") or "gateway", "serve"])
    arguments = parser.parse_args()
    call = {"name": arguments.tool, "arguments": arguments.arguments}

    with tempfile.TemporaryDirectory() as folder, empty_fleet() as env, connected(arguments.command, env) as ours:
        ours.handshake()
        result = Path(folder, "result.json")
        result.write_text(json.dumps(ours.request("tools/call", call)))
        with connected([*BARE, str(result)]) as bare:
            bare.handshake()
            clients = {"the SDK": bare, "gateway serve": ours}
            times: dict[str, list[float]] = {name: [] for name in clients}
            for _ in range(max(2, arguments.calls // BLOCK)):
                for name, client in clients.items():
                    times[name] += [milliseconds(client, call) for _ in range(BLOCK)]
        size = result.stat().st_size

    for name in times:
        times[name] = times[name][BLOCK:]  # the first block warms up
    reference = statistics.median(times["the SDK"])
    print(f"| `{arguments.tool}`, {size} bytes | median | p95 | over the SDK (goal: ≤ 1 ms) |")
    print("|---|---|---|---|")
    for name, values in times.items():
        median, p95 = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        print(
            f"| {name} | {median:.2f} ms | {p95:.2f} ms | {median - reference:+.2f} ms ({median / reference:.2f} ×) |"
        )


if __name__ == "__main__":
    main()
