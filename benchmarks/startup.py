"""Time from start to ``initialize`` answered, ours beside the same SDK serving one empty tool.

``python -m benchmarks.startup [--runs N] [-- COMMAND …]``; the command is ``gateway serve`` unless another one is
given. Runs alternate, so that both meet the same machine. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.stdio import INITIALIZE, connected, empty_fleet

BARE = [sys.executable, str(Path(__file__).with_name("bare_server.py"))]


def seconds_to_initialize(command: Sequence[str], env: Mapping[str, str]) -> float:
    start = time.perf_counter()
    with connected(command, env) as client:
        client.request("initialize", INITIALIZE)
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("command", nargs="*", default=[shutil.which("gateway") or "gateway", "serve"])
    arguments = parser.parse_args()

    commands = {"the SDK, one empty tool": BARE, "gateway serve": arguments.command}
    times: dict[str, list[float]] = {name: [] for name in commands}
    with empty_fleet() as env:
        for command in commands.values():
            seconds_to_initialize(command, env)  # byte code is written, files are in memory
        for _ in range(arguments.runs):
            for name, command in commands.items():
                times[name].append(seconds_to_initialize(command, env))

    reference = statistics.median(times["the SDK, one empty tool"])
    print("| stdio start to `initialize` answered | median | fastest | ratio (goal: ≤ 1.0) |")
    print("|---|---|---|---|")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"| {name} | {median * 1e3:.0f} ms | {min(seconds) * 1e3:.0f} ms | {median / reference:.2f} |")


if __name__ == "__main__":
    main()
