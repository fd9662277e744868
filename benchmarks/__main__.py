"""Run the benchmarks and keep their tables: ``python -m benchmarks [NAME…]``, best by ``scripts/bench``.

A benchmark is a module of this folder with a ``main()`` that prints a Markdown table in which each figure stands
beside its reference from the same run. Without names all are run and ``RESULTS.md`` is written.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent


def benchmarks() -> list[str]:
    """The names of all benchmarks."""
    return sorted(path.stem for path in HERE.glob("[!_]*.py") if "\ndef main(" in path.read_text(encoding="utf-8"))


def table(name: str) -> str:
    """What a benchmark prints, from a process of its own. Ends the program when the benchmark fails."""
    print(f"{name} …", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}"], cwd=HERE.parent, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"benchmark {name} failed with status {done.returncode}")
    return done.stdout.strip()


def machine() -> str:
    """Where the figures come from, without anything that tells whose machine it is."""
    cores = os.cpu_count() or 1
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()}"


def main(names: Sequence[str]) -> None:
    known = benchmarks()
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no benchmark {unknown[0]}: there is {', '.join(known)}")
    tables = {name: table(name) for name in names or known}
    text = "\n\n".join(f"## {name}\n\n{found}" for name, found in tables.items())
    if names:
        print(text)
        return
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    head = f"# Benchmarks\n\nMeasured on {day} by `scripts/bench`: {machine()}."
    (HERE / "RESULTS.md").write_text(f"{head}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
