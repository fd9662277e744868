"""The piece of a page's text that shows why it matched. Pure.

Text is compared folded, which can change its length, so places in the folded text are brought back to the text
itself before anything is cut out of it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cache.search.query import MAX_WORD, Query, fold
from cache.search.stem import stem
from cache.search.terms import MAX_SEARCHED

ELLIPSIS = "…"
_PIECE = 256  # code points that are folded at once
_STRETCH = 8 * 1024  # code points that are searched at once
_MAX_WORDS = 16  # of a query that are looked for: each costs as much as all other work on a text


def snippet(body: str, query: Query, *, fallback: str, width: int = 80) -> str:
    """About ``width`` code points of ``body`` around the whole query, else around most of its words.

    It starts and ends between words where one is near; ``…`` stands where text is left out, in addition to ``width``;
    white space is folded. Where nothing of the query is in ``body``, the start of ``fallback``.
    """
    text = " ".join(body[:MAX_SEARCHED].split())
    folded = _Folded.of(text)
    span = _whole(folded.text, query.whole) or _densest(folded.text, query.content[:_MAX_WORDS], width)
    if span is None:
        return _cut(" ".join(fallback[: width * 20].split()), 0, 0, width)
    return _cut(text, folded.origin(span[0]), folded.origin(span[1]), width)


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text, and the same as it is compared: in pieces, of which ``starts`` tells where each begins in ``original``
    and ``folded_starts`` where in ``text``. A place inside a piece is found by folding it again bit by bit."""

    original: str
    text: str
    starts: Sequence[int]
    folded_starts: Sequence[int]

    @classmethod
    def of(cls, original: str) -> _Folded:
        if original.isascii():
            return cls(original, original.lower(), (0,), (0,))
        starts: list[int] = []
        folded_starts: list[int] = []
        parts: list[str] = []
        start = length = 0
        while start < len(original) and length < MAX_SEARCHED:  # some signs grow to many when folded
            end = _end_of_piece(original, start)
            part = _fold(original[start:end])
            starts.append(start)
            folded_starts.append(length)
            parts.append(part)
            start, length = end, length + len(part)
        return cls(original, "".join(parts), starts, folded_starts)

    def origin(self, at: int) -> int:
        """Where in the original the character comes from that stands at ``at``; for the end, the end."""
        piece = bisect_right(self.folded_starts, at) - 1
        start = self.starts[piece]
        end = self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.original)
        passed = self.folded_starts[piece]
        if (letters := self.original[start:end]).isascii():
            return min(start + at - passed, end)
        for offset, cluster in _clusters(letters):
            passed += len(_fold(cluster))
            if passed > at:
                return start + offset
        return end


def _end_of_piece(text: str, start: int) -> int:
    """After a space, if there is one."""
    end = start + _PIECE
    return len(text) if end >= len(text) else (text.rfind(" ", start, end) + 1 or end)


def _fold(piece: str) -> str:
    """The folded piece, with the space that it may end in."""
    if piece.isascii():  # its white space is folded already
        return piece.lower()
    return f"{fold(piece)} " if piece.endswith(" ") else fold(piece)


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """The characters of a text with the combining ones that follow each, which fold together."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield start, text[start:at]
            start = at


def _whole(text: str, whole: str) -> tuple[int, int] | None:
    at = text.find(whole) if whole else -1
    return None if at < 0 else (at, at + len(whole))


def _densest(text: str, words: tuple[str, ...], width: int) -> tuple[int, int] | None:
    """The first place no wider than ``width`` that has the most different ``words``."""
    if not words:
        return None
    window: deque[re.Match[str]] = deque()
    inside: Counter[int | None] = Counter()
    best: tuple[int, int] | None = None
    most = 0
    for hit in _hits(_pattern(words), text):
        window.append(hit)
        inside[hit.lastindex] += 1
        while len(window) > 1 and hit.end() - window[0].start() > width:
            first = window.popleft().lastindex
            inside[first] -= 1
            if not inside[first]:
                del inside[first]
        if len(inside) > most:
            most, best = len(inside), (window[0].start(), hit.end())
            if most == len(words):
                break
    return best


def _hits(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """All hits, looked for stretch by stretch: other threads wait while one is searched. A hit may begin in a stretch
    and end behind it."""
    start = at = 0
    while start < len(text):
        end = start + _STRETCH
        hit = pattern.search(text, max(start, at), end + MAX_WORD)
        if hit is None or hit.start() >= end:
            start = end
        else:
            yield hit
            at = hit.end()


@lru_cache(maxsize=32)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """One group for each word: by its stem at the start of a word, or anywhere where it is not ASCII."""
    starts = "|".join(f"({re.escape(stem(word).removesuffix('i') or word)})" for word in words if word.isascii())
    anywhere = [f"({re.escape(word)})" for word in words if not word.isascii()]
    return re.compile("|".join([*([rf"(?<![^\W_])(?:{starts})"] if starts else []), *anywhere]))


def _cut(text: str, start: int, end: int, width: int) -> str:
    """``width`` code points of ``text`` with those from ``start`` to ``end`` in the middle, as far as they fit."""
    if len(text) <= width:
        return text
    first = max(0, min(start - max(0, width - (end - start)) // 2, len(text) - width))
    last = first + width
    last = _to_word(text, last, max(end, last - width // 2))
    first = _from_word(text, first, min(start, first + width // 2))
    return f"{ELLIPSIS if first > 0 else ''}{text[first:last].strip()}{ELLIPSIS if last < len(text) else ''}"


def _from_word(text: str, first: int, latest: int) -> int:
    """The first start of a word from ``first`` to ``latest``, else ``first``."""
    if first == 0 or text[first - 1] == " ":
        return first
    space = text.find(" ", first, latest)
    return first if space < 0 else space + 1


def _to_word(text: str, last: int, earliest: int) -> int:
    """The last end of a word from ``earliest`` to ``last``, else ``last``."""
    if last == len(text) or text[last] == " ":
        return last
    space = text.rfind(" ", earliest, last)
    return last if space < 0 else space
