"""The ladder of the tool contract over the pages of one project, and BM25 for its lower two steps. Pure.

All statistics are the project's own, over all its pages whatever their type, so that no other project and no filter
changes a score.

1. the whole query is part of the slug or of the title;
2. all its words are in slug, title or description;
3. the body, where it is mirrored, has all the words that carry meaning, or, where no body has, all of them but one;
4. slug, title or description have any of those.

Within the first two steps pages are equal, and so are bodies that lack a word; elsewhere BM25 tells pages apart.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TypeAlias

from cache.search.query import Query
from cache.search.terms import Term, repeated

_SATURATION = 1.2  # BM25's k1
_LENGTH_WEIGHT = 0.75  # BM25's b
_HALF = 4.0  # the BM25 score that is shown as the middle of its step

# Plain tuples, because there may be one for each of many thousand pages.
# A page that may match: its id, its position in its wiki, its folded type, its terms (of a body only the repeats), and
# how many terms those are.
Hit: TypeAlias = tuple[int, int, str, str, int]
# Where a page stands in the answer: its step, its score negated, its position, its id. Places sort best first.
Place: TypeAlias = tuple[int, float, int, int]
# A hit with its step and its score within that, from 0 to 1.
_Claim: TypeAlias = tuple[Hit, int, float]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many pages and bodies a project has in the index, and how many terms they hold together."""

    pages: int
    page_terms: int
    bodies: int
    body_terms: int


@dataclass(frozen=True, slots=True)
class Collected:
    """What the index finds in one project: ``named`` are the pages of step 1, ``worded`` all pages with any of the
    content's terms, ``bodies`` those whose body has all, ``nearly`` those whose body has all but one; ``frequency``
    tells in how many bodies each content term stands."""

    sizes: Sizes
    named: Sequence[Hit] = ()
    worded: Sequence[Hit] = ()
    bodies: Sequence[Hit] = ()
    nearly: Sequence[Hit] = ()
    frequency: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """A query's terms: of its ``content``, and of its ``other`` words."""

    content: tuple[Term, ...]
    other: tuple[Term, ...]

    @classmethod
    def of(cls, query: Query) -> Terms:
        content = tuple(map(Term.of, query.content))
        return cls(content, tuple(term for term in map(Term.of, query.words) if term not in content))


def ladder(
    terms: Terms, found: Collected, *, shows: Callable[[str], bool], limit: int | None
) -> tuple[list[Place], int]:
    """The best ``limit`` places (all for ``None``) and how many there are, of pages whose type ``shows``."""
    places: dict[int, Place] = {}
    for (page, position, kind, _, _), step, within in _claims(terms, found):
        if page not in places and shows(kind):
            places[page] = (step, (step - 4 - within) / 4, position, page)  # each step has a quarter of the scores
    best_first = sorted(places.values()) if limit is None else heapq.nsmallest(limit, places.values())
    return best_first, len(places)


def _claims(terms: Terms, found: Collected) -> Iterator[_Claim]:
    """Step by step, so that the first claim of a page is its best."""
    yield from ((hit, 1, 0.5) for hit in found.named)
    counts, frequency = _count(terms, found.worded)
    complete = {count for count in set(counts) if all(count)}
    others = [term.needle for term in terms.other]
    for hit, count in zip(found.worded, counts, strict=True):
        if count in complete and all(needle in f" {hit[3]} " for needle in others):
            yield hit, 2, 0.5
    weigh = bm25(found.frequency, found.sizes.bodies, found.sizes.body_terms)
    for hit in found.bodies:
        yield hit, 3, weigh(tuple([repeated(hit[3], term) for term in terms.content]), hit[4])
    yield from ((hit, 3, 0.0) for hit in found.nearly)
    weigh = bm25(frequency, found.sizes.pages, found.sizes.page_terms)
    for hit, count in zip(found.worded, counts, strict=True):
        yield hit, 4, weigh(count, hit[4])


def _count(terms: Terms, worded: Sequence[Hit]) -> tuple[list[tuple[int, ...]], list[int]]:
    """How often each content term stands in each hit, and in how many hits each stands."""
    needles = [term.needle for term in terms.content]
    counts: list[tuple[int, ...]] = []
    for hit in worded:
        padded = f" {hit[3]} "
        counts.append(tuple([padded.count(needle) for needle in needles]))
    alike = Counter(counts)
    frequency = [sum(number for count, number in alike.items() if count[at]) for at in range(len(needles))]
    return counts, frequency


def bm25(frequency: Sequence[int], documents: int, terms: int) -> Callable[[tuple[int, ...], int], float]:
    """A function from a document's term counts and length to its BM25 score, brought into the open interval 0 to 1.

    ``frequency`` is in how many of ``documents`` each term stands, ``terms`` how many terms they hold together.
    """
    weights = [log(1 + (documents - n + 0.5) / (n + 0.5)) for n in frequency]
    mean = max(1.0, terms / max(1, documents))
    known: dict[tuple[tuple[int, ...], int], float] = {}

    def weigh(counts: tuple[int, ...], length: int) -> float:
        score = known.get((counts, length))
        if score is None:
            damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / mean)
            score = 0.0
            for weight, count in zip(weights, counts, strict=True):
                score += weight * count * (_SATURATION + 1) / (count + damping)
            score = known[counts, length] = score / (score + _HALF)
        return score

    return weigh
