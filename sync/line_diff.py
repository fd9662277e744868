"""The difference between two versions of a file, as git shows it. Pure.

Lines end with a line feed; everything else, a carriage return before it included, is part of a line, so that the diff
applied to the old bytes gives the new ones. It is a shortest one (Myers, "An O(ND) Difference Algorithm and Its
Variations", 1986) as long as that is cheap to find; versions that are further apart are shown as one change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

CONTEXT = 3  # unchanged lines around a change
MAX_EDITS = 400  # lines that are removed or added between what the versions begin and end with
MAX_STEPS = 1_000_000  # equal lines that are passed on the way to them

_NO_LINE_FEED = "\n\\ No newline at end of file\n"


class _Run(NamedTuple):
    """``length`` lines that are equal from line ``old`` of the one version and line ``new`` of the other one on."""

    old: int
    new: int
    length: int


class _Change(NamedTuple):
    """Lines of the old version, from ``start`` to before ``end``, which became lines of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def diff(old: bytes | None, new: bytes, path: str) -> str:
    """The unified diff from ``old`` (``None``: there is no such file) to ``new``; ``""`` where both are the same.

    ``path`` is from the repository's root. Bytes that are not UTF-8 are shown as U+FFFD."""
    if old == new:
        return ""
    before, after = _lines(old or b""), _lines(new)
    parts = ["--- ", "/dev/null" if old is None else _name(f"a/{path}"), "\n+++ ", _name(f"b/{path}"), "\n"]
    for hunk in _hunks(_changes(before, after)):
        parts += _show(hunk, before, after)
    return "".join(parts)


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _name(path: str) -> str:
    """A path as git writes it in front of a hunk: quoted, or where it has a space with a tab behind."""
    if '"' in path:
        return '"{}"'.format(path.replace('"', '\\"'))
    return f"{path}\t" if " " in path else path


def _changes(before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[_Change]:
    shortest = min(len(before), len(after))
    head = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    rest = shortest - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    end, new_end = len(before) - tail, len(after) - tail
    at, new_at = head, head
    for run in (*_runs(before[head:end], after[head:new_end]), _Run(end - head, new_end - head, tail)):
        start, new_start = head + run.old, head + run.new
        if (at, new_at) != (start, new_start):
            yield _Change(at, start, new_at, new_start)
        at, new_at = start + run.length, new_start + run.length


def _runs(before: Sequence[bytes], after: Sequence[bytes]) -> list[_Run]:
    """What a shortest difference leaves unchanged, in order; nothing where it is too far to seek.

    ``furthest[k]`` is how many old lines are behind us on the way that is furthest on diagonal ``k`` (old lines less
    new lines) with so many edits."""
    furthest = {1: 0}
    history: list[dict[int, int]] = []
    steps = 0
    for edits in range(min(MAX_EDITS, len(before) + len(after)) + 1):
        history.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            start = at = _start(furthest, diagonal, _origin(furthest, diagonal, edits))
            new_at = at - diagonal
            while at < len(before) and new_at < len(after) and before[at] == after[new_at]:
                at, new_at = at + 1, new_at + 1
            furthest[diagonal] = at
            if at >= len(before) and new_at >= len(after):
                return _way_back(history, len(before), len(after))
            steps += at - start
            if steps > MAX_STEPS:
                return []
    return []


def _origin(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    """The diagonal that the best way to this one comes from: the next one by an added line, the last by a removed."""
    added = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
    return diagonal + 1 if added else diagonal - 1


def _start(furthest: dict[int, int], diagonal: int, origin: int) -> int:
    return furthest[origin] + (origin < diagonal)


def _way_back(history: list[dict[int, int]], at: int, new_at: int) -> list[_Run]:
    runs: list[_Run] = []
    for edits in range(len(history) - 1, -1, -1):
        furthest, diagonal = history[edits], at - new_at
        origin = _origin(furthest, diagonal, edits)
        start = _start(furthest, diagonal, origin)
        runs.append(_Run(start, start - diagonal, at - start))
        at = furthest[origin]
        new_at = at - origin
    return runs[::-1]


def _hunks(changes: Iterator[_Change]) -> Iterator[list[_Change]]:
    """The changes in groups, each with those whose context it would share."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.start - hunk[-1].end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _show(hunk: Sequence[_Change], before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[str]:
    start = max(hunk[0].start - CONTEXT, 0)
    end = min(hunk[-1].end + CONTEXT, len(before))
    new_start = hunk[0].new_start - (hunk[0].start - start)
    new_end = hunk[-1].new_end + (end - hunk[-1].end)
    yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n"
    at = start
    for change in hunk:
        yield from _marked(" ", before[at : change.start])
        yield from _marked("-", before[change.start : change.end])
        yield from _marked("+", after[change.new_start : change.new_end])
        at = change.end
    yield from _marked(" ", before[at:end])


def _range(start: int, end: int) -> str:
    """Lines as a hunk's head counts them: from 1 on, and none of them from the line before."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + (count > 0)},{count}"


def _marked(mark: str, lines: Sequence[bytes]) -> Iterator[str]:
    for line in lines:
        text = line.decode("utf-8", "replace")
        yield mark + (text if text.endswith("\n") else text + _NO_LINE_FEED)
