"""Near names for a word that fits none. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from difflib import SequenceMatcher
from os.path import commonprefix

from cache.search.query import fold

MAX_COMPARED = 100  # code points of a name that count
_SHORT_LIST = 30
_NEAR_ENOUGH = 0.6
_LENGTH_MATTERS = 9  # the smaller, the more a short name is preferred to a long one that shares as much


def near(word: str, names: Iterable[str], *, limit: int = 3) -> tuple[str, ...]:
    """At most ``limit`` of ``names`` that ``word`` may have been meant for, nearest first, equally near ones sorted.

    A name is a path: a word also fits by the last part alone. All names are compared by the pairs of characters they
    share with the word, which is quick, and only the best by the longest common runs."""
    wanted = _edged(word)
    pairs = {wanted[at : at + 2] for at in range(len(wanted) - 1)}
    candidates = list(dict.fromkeys(names))
    edged = list(map(_edged, candidates))
    if len(pairs) < 2 or not edged:
        return ()
    shared = map(sum, zip(*([pair in name for name in edged] for pair in pairs), strict=True))
    scores = [count / (len(name) + _LENGTH_MATTERS) for count, name in zip(shared, edged, strict=True)]
    short_list = heapq.nlargest(_SHORT_LIST, range(len(edged)), key=scores.__getitem__)
    rated = sorted((-_likeness(wanted, edged[at]), candidates[at]) for at in short_list if scores[at])
    return tuple(name for rate, name in rated[:limit] if -rate >= _NEAR_ENOUGH)


def _edged(name: str) -> str:
    """The folded name with an edge at both ends, so that first and last characters count too."""
    return f"/{fold(name)[:MAX_COMPARED]}/"


def _likeness(wanted: str, edged: str) -> float:
    """From 0 to 1 for equal; the last part alone counts a little less than the whole. Folders that both begin with
    say nothing: all that is in one would be like the rest of it."""
    shared = commonprefix((wanted, edged)).rfind("/", 0, len(wanted) - 1)  # noqa: RUF071 characters are meant
    wanted, edged = wanted[shared:], edged[shared:]
    matcher = SequenceMatcher(None, b=wanted, autojunk=False)
    matcher.set_seq1(edged)
    whole = matcher.ratio()
    matcher.set_seq1(edged[edged.rstrip("/").rfind("/") :])
    return max(whole, 0.95 * matcher.ratio())
