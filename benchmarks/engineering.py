"""The tools of toolset ``engineering`` over stdio, warm, beside what they must do: look at every file, or write one.

``python -m benchmarks.engineering [--notes N] [--calls N]``. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

from benchmarks.prose import Prose
from benchmarks.stdio import Client, connected
from benchmarks.timing import WARM_UP, milliseconds
from sync.forge.base import SETTLE

AREAS = ("api", "frontend", "general", "platform", "security")
SECTIONS = 12  # of about a kilobyte, of each note
GOAL = 10  # milliseconds


def make_notes(root: Path, notes: int) -> str:
    """Notes of 13 kB. Returns a question in words that some of the sections hold, as those of a real one are."""
    prose = Prose()
    for number in range(notes):
        path = root / "knowledge" / AREAS[number % len(AREAS)] / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = "".join(f"\n## Part {part} {prose.some(3)}\n\n{prose.some(180)}.\n" for part in range(SECTIONS))
        text = f"---\ntags: [{prose.some(1)}]\n---\n# {prose.some(4).capitalize()} {number}\n{sections}"
        path.write_text(text, encoding="utf-8")
    return f"how does {prose.words[60]} {prose.words[200]} use {prose.words[400]}"


def calls(question: str) -> Iterator[tuple[str, Callable[[], Mapping[str, object]]]]:
    """Each tool with what makes its arguments, anew for each call."""
    new = count()
    yield "search_knowledge", lambda: {"query": question}
    yield "list_knowledge_topics", dict
    yield "get_knowledge", lambda: {"topicOrPath": "note-42"}
    yield "update_knowledge", lambda: {
        "topicOrPath": "note-42", "heading": "Remembered", "content": f"Number {next(new)}.", "mode": "replace",
    }  # fmt: skip
    yield "capture_knowledge", lambda: {"content": "To be remembered.", "suggestedTopic": "api/note-5"}
    yield "create_knowledge", lambda: {"topic": f"made/{next(new)}", "title": "New", "content": "Text."}


def called(client: Client, tool: str, arguments: Mapping[str, object]) -> None:
    result = client.request("tools/call", {"name": tool, "arguments": dict(arguments)})
    assert not result.get("isError"), result


def write_one(path: Path) -> None:
    """What no atomic write does without: a file, flushed, and a name, flushed."""
    with path.open("wb") as file:
        file.write(b"x" * 13_000)
        os.fsync(file.fileno())
    path.replace(path.with_suffix(".done"))
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def processor(pid: int) -> float:
    """Milliseconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--notes", type=int, default=130)
    parser.add_argument("--calls", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "kb")
        question = make_notes(root, arguments.notes)
        time.sleep(SETTLE)  # what has just been written is read again at each call
        files = list(root.rglob("*.md"))
        times = {
            "stat of every document": milliseconds(lambda: [path.stat() for path in files], arguments.calls),
            "one file, flushed and renamed": milliseconds(lambda: write_one(root / "x"), arguments.calls),
        }
        computed = dict.fromkeys(times, "")
        command = [shutil.which("gateway") or "gateway", "serve", "--toolsets", "engineering", "--root", str(root)]
        with connected(command, {**os.environ, "HOME": folder}) as client:
            client.handshake()
            for tool, make in calls(question):
                called(client, tool, make())  # what is indexed then, is not counted
                before = processor(client.pid)
                times[f"`{tool}`"] = milliseconds(
                    lambda tool=tool, make=make: called(client, tool, make()),  # type: ignore[misc]
                    arguments.calls,
                )
                computed[f"`{tool}`"] = f"{(processor(client.pid) - before) / (arguments.calls + WARM_UP):.1f} ms"
    print(f"| {arguments.notes} notes × {SECTIONS} sections | median | p95 | of that, computing | goal |")
    print("|---|---|---|---|---|")
    for name, values in times.items():
        median, p95 = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        goal = f"< {GOAL} ms" if computed[name] else ""
        print(f"| {name} | {median:.1f} ms | {p95:.1f} ms | {computed[name]} | {goal} |")


if __name__ == "__main__":
    main()
