"""Search in documents by their sections, in memory: what files say now, found by the rules of the ladder.

1. the whole query is part of the document's title or of the heading;
2. all its words are in path, title, heading;
3. title, heading or text have all the words that carry meaning;
4. any of those is in path, title or heading;
5. any of those is in the text.

A document's title and path count for its first section alone, so that one document does not fill the answer with all
its sections. Within the first two steps what names little else comes first; in the others BM25 tells sections apart.
Tags raise a match, never make one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest

from cache.search.query import Query, fold
from cache.search.rank import Terms, bm25
from cache.search.terms import Term, body_terms, length, page_terms

STEPS = 5
TAG_BONUS = 0.5  # of what is left to the top of a step

_IN_NAMES = 1 << 20  # what stands once in a section's names counts so much, once in its text (never as often) 1


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the document at ``path`` that is found by itself: its ``heading`` and own ``text``. ``title`` and
    ``tags`` are the document's; ``first``: it is the document's first section (its ``heading`` may be empty)."""

    path: str
    title: str
    heading: str
    text: str
    tags: tuple[str, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A section that answers a query; 0 < ``score`` < 1."""

    section: Section
    score: float


@dataclass(frozen=True, slots=True)
class _Entry:
    """A section as it is searched: ``names`` are the folded title and heading, ``named`` and ``texts`` lines of terms
    with a space at both ends, of the names and path and of the text."""

    section: Section
    names: tuple[str, ...]
    named: str
    texts: str
    tags: frozenset[str]
    length: int

    @classmethod
    def of(cls, section: Section) -> _Entry:
        own = (section.title, section.heading) if section.first else (section.heading,)
        names = tuple(dict.fromkeys(name for name in map(fold, own) if name))
        named = page_terms(section.path if section.first else "", " ".join(dict.fromkeys(own)), "")
        texts = body_terms(section.text)
        tags = frozenset(word for tag in section.tags for word in body_terms(tag).split())
        return cls(section, names, f" {named} ", f" {texts} ", tags, length(texts))


@dataclass(slots=True)
class Sections:
    """The sections of all documents. Not thread-safe: one user at a time."""

    _documents: dict[str, list[int]] = field(default_factory=dict)
    _entries: dict[int, _Entry] = field(default_factory=dict)
    _postings: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _next: int = 0
    _length: int = 0  # of all texts together

    @property
    def paths(self) -> KeysView[str]:
        """The documents that are held."""
        return self._documents.keys()

    def replace(self, path: str, sections: Iterable[Section]) -> None:
        """Make ``sections`` those of the document at ``path``."""
        self.remove(path)
        numbers = self._documents[path] = []
        for entry in map(_Entry.of, sections):
            number, self._next = self._next, self._next + 1
            numbers.append(number)
            self._entries[number] = entry
            self._length += entry.length
            for token, count in _counts(entry).items():
                self._postings[token][number] = count

    def remove(self, path: str) -> None:
        """Forget the document at ``path``, if it is held."""
        for number in self._documents.pop(path, ()):
            entry = self._entries.pop(number)
            self._length -= entry.length
            for token in _counts(entry):
                del self._postings[token][number]
                if not self._postings[token]:
                    del self._postings[token]

    def search(self, query: Query, limit: int) -> list[FoundSection]:
        """The best ``limit`` sections, best first. Of equal ones documents themselves come before parts of others, then
        they go by path and place in the document."""
        terms = Terms.of(query)
        best: dict[int, tuple[int, float]] = {}
        for number, step, within in self._claims(query, terms):
            if number not in best or step < best[number][0]:
                best[number] = (step, within)
        tokens = {token for term in terms.content for token in term.text.split()}
        scored = ((self._score(number, *best[number], tokens), number) for number in best)
        chosen = nsmallest(limit, scored, key=self._place)
        return [FoundSection(self._entries[number].section, score) for score, number in chosen]

    def _claims(self, query: Query, terms: Terms) -> Iterator[tuple[int, int, float]]:
        """Section, step and how well it fits within that, of every way in which a section answers."""
        whole = query.whole
        if not whole:
            return
        for number, entry in self._entries.items():
            holding_it = [len(name) for name in entry.names if whole in name]
            if holding_it:
                yield number, 1, len(whole) / (min(holding_it) + 1)
        holding = [self._holding(term) for term in terms.content]
        weigh = bm25([len(held) for held in holding], len(self._entries), self._length)
        others = [term.needle for term in terms.other]
        for number in set().union(*holding):
            entry = self._entries[number]
            counts = [held.get(number, 0) for held in holding]
            named = [count >= _IN_NAMES for count in counts]
            if all(named) and all(needle in entry.named for needle in others):
                yield number, 2, len(terms.content) / (length(entry.named.strip()) + 1)
            else:
                fits = weigh(tuple([count % _IN_NAMES + 2 * (count // _IN_NAMES) for count in counts]), entry.length)
                yield number, 3 if all(counts) else 4 if any(named) else 5, fits

    def _holding(self, term: Term) -> Mapping[int, int]:
        """The sections that hold a term, wherever, with how often."""
        *whole, last = term.text.split(" ")
        if term.prefix:
            alike = Counter[int]()
            for token, held in self._postings.items():
                if token.startswith(last):
                    alike.update(held)
            return alike
        if not whole:
            return self._postings.get(last, {})
        numbers = set(self._postings.get(last, ())).intersection(*(self._postings.get(token, ()) for token in whole))
        counted = {number: _count(self._entries[number], term.needle) for number in numbers}
        return {number: count for number, count in counted.items() if count}

    def _score(self, number: int, step: int, within: float, tokens: set[str]) -> float:
        if tokens & self._entries[number].tags:
            within += (1 - within) * TAG_BONUS
        return (STEPS - step + within) / STEPS

    def _place(self, scored: tuple[float, int]) -> tuple[float, bool, str, int]:
        score, number = scored
        section = self._entries[number].section
        return -score, not section.first, section.path, number


def _counts(entry: _Entry) -> Mapping[str, int]:
    """How often each token stands in a section."""
    counts = Counter(entry.texts.split())
    for token in entry.named.split():
        counts[token] += _IN_NAMES
    return counts


def _count(entry: _Entry, needle: str) -> int:
    return entry.texts.count(needle) + _IN_NAMES * entry.named.count(needle)
