"""Processor time to read hostile wiki indexes and pages, its growth with their size, and how long an event loop waits.

``python -m benchmarks.wiki_index``. Each text is read as a root index (``read_wiki``) and as a page (``headings``),
in a worker thread as the sync worker does, while a task on the event loop sleeps for a millisecond again and again;
its longest oversleeping is the stall. The references are an ordinary index of the same size, and a thread that
computes without ever letting go by itself. Prints a Markdown table.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio
import anyio.to_thread

from cache.model import TreeEntry
from sync.page import headings
from sync.wiki_index import read_wiki

KIB = 1024
SIZES = (64 * KIB, 256 * KIB, 1024 * KIB)  # code points
RUNS = 2  # of which the better time counts, and the worse stall

TREE = [TreeEntry("index.md", 0o100644, "0" * 40, 0)] + [
    TreeEntry(f"concepts/page-{number}.md", 0o100644, f"{number:040}", 0) for number in range(1000)
]


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def halves(first: str, second: str) -> Callable[[int], str]:
    return lambda size: repeated(first)(size // 2) + repeated(second)(size // 2)


def lines(line: Callable[[int], str]) -> Callable[[int], str]:
    """Numbered lines, as many as fit."""
    return lambda size: "".join(line(number) for number in range(size // len(line(1000)) + 1))[:size]


def table(size: int) -> str:
    """A table as wide as it is long, its rows empty."""
    width = int(size**0.5)
    return f"{'|a' * width}|\n{'|-' * width}|\n".ljust(size, "\n").replace("\n\n", "\n|")


def nested(size: int) -> str:
    """Lists as deep as lines can be indented, then lines that continue the deepest."""
    unit = "".join(f"> {'  ' * depth}- a\n" for depth in range(62)) + "b\n" * 60_000
    return repeated(unit)(size)


REFERENCE = "an ordinary index"
SHAPES: dict[str, Callable[[int], str]] = {
    REFERENCE: lines(lambda n: f"- [Page {n}](concepts/page-{n % 2000}.md) — what it tells about caching, in words\n"),
    "bullets of links, each dead": lines(lambda n: f"- [p](gone/{n}.md)\n"),
    "wikilinks by base name": lines(lambda n: f"- [[page-{n % 2000}]]\n"),
    "a table of paths": lambda size: "|a|b|\n|-|-|\n" + lines(lambda n: f"|concepts/page-{n % 2000}.md|b|\n")(size),
    "one paragraph of links": repeated("[a](b.md) "),
    "one item of links": lambda size: "- " + repeated("[a](b.md) [\n")(size),
    "links in one table cell": lambda size: "|a|\n|-|\n|" + repeated("[a](b.md)")(size),
    "code spans of wikilinks": repeated("`[[page-1]]` "),
    "empty headings": repeated("# h\n"),
    "underlined headings": repeated("é\n=\n"),
    "short bullets": repeated("* a\n"),
    "short rows": lambda size: "|a|\n|-|\n" + repeated("a\n")(size),
    "a square table": table,
    "short lines": repeated("a\n"),
    "blank lines": repeated("\n"),
    "front matter": lambda size: "---\ntitle: [\n" + repeated("title: &a [\n")(size) + "\n---\n",
    "code without an end": repeated("```\n[[a]]\n"),
    "a comment without an end": lambda size: "<!--" + repeated("[a](b.md)\n\n")(size),
    "`[`": repeated("["),
    "`![`": repeated("!["),
    "`[[a|`": repeated("[[a|"),
    "`[a](`": repeated("[a]("),
    "`[a](<b`": repeated("[a](<b"),
    "`*a_ `": repeated("*a_ "),
    "`a**b`": repeated("a**b"),
    "backquotes": lambda size: "".join("`" * n + " " for n in range(1, int((2 * size) ** 0.5)))[:size],
    '`<a b="`': repeated('<a b="'),
    "`<!A`": repeated("a<!A "),
    "`&#1`": repeated("&#1"),
    "definitions": repeated("[a]: b\n"),
    "a long definition, used": halves("[a]: <" + "b" * 900 + ">\n\n", "[a]"),
    "embeds in embeds": halves('![[---"', "](]]"),
    "a title without an end": lambda size: '[a](b "' + repeated("a\n")(size),
    "titles": repeated('[a](b "' + "a\n" * 49),
    "quotes in quotes, then lines": halves(">", "a\n"),
    "lists in lists, then lines": halves("- ", "a\n"),
    "indented lists, then lines": nested,
}


def read_as_index(text: str) -> None:
    read_wiki(TREE, {"index.md": text}, {})


def read_as_page(text: str) -> None:
    headings(text)


def compute(text: str) -> None:
    """Take as long as the text is, without letting go of the interpreter before it is taken away."""
    end = time.monotonic() + len(text) / SIZES[-1]
    while time.monotonic() < end:
        pass


async def measure(read: Callable[[str], None], text: str) -> tuple[float, float]:
    """Seconds of processor time that reading takes, and of the longest stall of the event loop meanwhile."""
    stall = 0.0
    done = anyio.Event()

    async def watch() -> None:
        nonlocal stall
        while not done.is_set():
            before = time.perf_counter()
            await anyio.sleep(0.001)
            stall = max(stall, time.perf_counter() - before - 0.001)

    def timed() -> float:
        start = time.thread_time()
        read(text)
        return time.thread_time() - start

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        seconds = await anyio.to_thread.run_sync(timed)
        done.set()
    return seconds, stall


async def best(read: Callable[[str], None], text: str) -> tuple[float, float]:
    found = [await measure(read, text) for _ in range(RUNS)]
    return min(seconds for seconds, _ in found), max(stall for _, stall in found)


async def run() -> None:
    print(
        "| a text of … | 64 KiB | 256 KiB | 1 MiB (goal: ≤ 2 s) | growth, 256 KiB to 1 MiB | beside the ordinary"
        " | worst stall | 1 MiB as a page | worst stall |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    _, stall = await best(compute, "x" * SIZES[-1])
    print(f"| (a thread that only computes) | | | | | | {stall * 1e3:.0f} ms | | |")
    ordinary = 0.0
    for name, shape in SHAPES.items():
        index = [await best(read_as_index, shape(size)) for size in SIZES]
        whole, page_stall = await best(read_as_page, shape(SIZES[-1]))
        small, middle, large = (seconds for seconds, _ in index)
        ordinary = ordinary or large
        cells = (
            *(f"{seconds * 1e3:.0f} ms" for seconds in (small, middle, large)),
            f"{large / middle:.1f} ×",
            f"{large / ordinary:.1f} ×",
            f"{max(stall for _, stall in index) * 1e3:.0f} ms",
            f"{whole * 1e3:.0f} ms",
            f"{page_stall * 1e3:.0f} ms",
        )
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    anyio.run(run)


if __name__ == "__main__":
    main()
