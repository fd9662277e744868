"""The tools of toolset ``swarmkit`` over stdio, warm, beside reading what they look through; and how many of 130 titles
find their note first.

``python -m benchmarks.swarmkit [--calls N] [--repo PATH]``; without a checkout one is made of the real one's size. The
resolver is that of ``$SWARMKIT_PYTHON`` or ``.venv-swarmkit``, where there is one. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.prose import Prose
from benchmarks.stdio import Client, connected
from benchmarks.timing import milliseconds
from sync.forge.base import SETTLE
from tests.support.swarmkit import ROOT, WORKSPACE
from tests.support.swarmkit_repo import make_repo

SECTIONS = 12  # of about a kilobyte, of each note
CALLS: Mapping[str, Mapping[str, object]] = {
    "search_docs": {"query": "how does the topology loader keep its limits"},
    "get_schema": {"artifact_type": "workspace"},
    "list_schemas": {},
    "get_design_note": {"slug": ""},
    "list_design_notes": {},
    "get_error_reference": {"code": "agent.unknown-skill"},
    "validate_workspace": {"path": WORKSPACE},
    "list_reference_skills": {},
}


def grown(root: Path, packages: Path | None) -> Path:
    """A checkout with notes of 13 kB, of words that are as unevenly spread as those of a language."""
    make_repo(root, installed=packages)
    prose = Prose()
    for note in sorted((root / "design" / "details").glob("*.md")):
        with note.open("a", encoding="utf-8") as file:
            for _ in range(SECTIONS):
                heading, text = prose.some(3), prose.some(180)
                file.write(f"\n## {heading.capitalize()}\n\n{text}.\n")
    return root


def resolver() -> tuple[list[str], Path | None]:
    """The option that names the interpreter, and the folder of its packages."""
    python = Path(os.environ.get("SWARMKIT_PYTHON") or ROOT / ".venv-swarmkit" / "bin" / "python")
    if not python.exists():
        return [], None
    return ["--swarmkit-python", str(python)], next(python.parent.parent.glob("lib/python3*/site-packages"))


def called(client: Client, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
    result = client.request("tools/call", {"name": tool, "arguments": dict(arguments)})
    assert not result.get("isError"), result
    content: Mapping[str, Any] = result["structuredContent"]
    return content


def measure(client: Client, root: Path, calls: int) -> tuple[dict[str, list[float]], str, int, int]:
    """Times by row, the engine that validates, how many titles find their note first, and of how many."""
    notes = called(client, "list_design_notes", {})["notes"]
    files = [path for path in root.rglob("*") if path.suffix in (".md", ".json", ".yaml") and "site" not in path.parts]
    times = {
        "stat of every document": milliseconds(lambda: [path.stat() for path in files], calls),
        "reading every document": milliseconds(lambda: [path.read_bytes() for path in files], calls),
    }
    engine = called(client, "validate_workspace", CALLS["validate_workspace"])["engine"]
    for tool, arguments in CALLS.items():
        asked = {"slug": notes[0]["slug"]} if tool == "get_design_note" else arguments
        times[f"`{tool}`"] = milliseconds(lambda tool=tool, asked=asked: called(client, tool, asked), calls)  # type: ignore[misc]
    first = [called(client, "search_docs", {"query": note["title"], "max_results": 1})["results"] for note in notes]
    right = sum(bool(found) and found[0]["path"] == note["path"] for found, note in zip(first, notes, strict=True))
    return times, engine, right, len(notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--repo", type=Path)
    arguments = parser.parse_args()
    option, packages = resolver()
    with tempfile.TemporaryDirectory() as folder:
        root: Path = arguments.repo or grown(Path(folder, "swarmkit"), packages)
        time.sleep(SETTLE)  # what has just been written is read again at each call
        command = [shutil.which("gateway") or "gateway", "knowledge-server", "--repo", str(root), *option]
        with connected(command, {**os.environ, "HOME": folder}) as client:
            client.handshake()
            times, engine, right, notes = measure(client, root, arguments.calls)
    print(f"| {notes} notes; workspaces by {engine} | fastest | median | p95 | goal |")
    print("|---|---|---|---|---|")
    for name, values in times.items():
        median, p95 = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        goal = "≤ 300 ms" if "validate" in name else "≤ 10 ms" if name.startswith("`") else ""
        print(f"| {name} | {min(values):.1f} ms | {median:.1f} ms | {p95:.1f} ms | {goal} |")
    print(f"| titles that find their note first | {right} of {notes} | | | ≥ 96% |")


if __name__ == "__main__":
    main()
