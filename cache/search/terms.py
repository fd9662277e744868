"""What a page is found by: the terms of its texts, and the term that a query's word is looked up by. Pure.

A text's terms are one line of tokens with a space between, which the full-text index splits and nothing else:

* a word of ASCII letters and digits is its stem;
* any other word is found by any part of it, as its overlapping pairs of characters and its last character, each
  behind a mark that no word has: ``ключ`` is ``·кл ·лю ·юч ·ч``, in which ``люч`` is the phrase ``·лю ·юч``. One in
  a Latin script also counts without its diacritics, so that ``uber`` finds ``Über``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from cache.search.query import MAX_WORD, fold, normalize, words_of
from cache.search.stem import stem

MAX_SEARCHED = 512 * 1024  # code points of a body that are searched
MAX_NAMED = 16 * 1024  # code points of a slug, a title or a description that are

_LONG_LINE = 16 * 1024  # code points
_MARK = "·"
_BORDER = " / "  # between the texts of one page: no term, so no phrase reaches across
_CAMEL = re.compile(r"\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*")
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Term:
    """How a word of a query stands in a line of terms: as the tokens of ``text``, the last of which may go on where
    ``prefix`` is set."""

    text: str
    prefix: bool = False

    @classmethod
    def of(cls, word: str) -> Term:
        if word.isascii():
            return cls(stem(word))
        return cls(_MARK + word, prefix=True) if len(word) == 1 else cls(" ".join(_pairs(word)))

    @property
    def phrase(self) -> str:
        """The term in the full-text index's query language, in which nothing of it has a meaning of its own."""
        return f'"{self.text}"*' if self.prefix else f'"{self.text}"'

    @property
    def needle(self) -> str:
        """The term as it stands in a line of terms that has a space at both ends."""
        return f" {self.text}" if self.prefix else f" {self.text} "


def page_terms(slug: str, title: str, description: str) -> str:
    """The terms of what an index tells of a page. A name such as ``yarnCache`` counts by its parts too."""
    texts = (text[:MAX_NAMED] for text in (slug, title, description))
    return _BORDER.join(" ".join(_terms(text, MAX_NAMED) + _camel_parts(text)) for text in texts)


def body_terms(body: str) -> str:
    """The terms of a page's text."""
    return " ".join(_terms(body[:MAX_SEARCHED], MAX_SEARCHED))


def length(terms: str) -> int:
    """How many terms a line of them holds."""
    return terms.count(" ") + 1 if terms else 0


def repeats(terms: str) -> str:
    """The terms that a line of them holds more than once, with their counts, as :func:`repeated` reads them."""
    counts = Counter(terms.split(" "))
    return "".join(f" {term}:{count}" for term, count in counts.items() if count > 1)


def repeated(repeats: str, term: Term) -> int:
    """How often ``term`` stands in a text that holds it and has these ``repeats``; for a phrase, how often its rarest
    token does."""
    if " " not in term.text:
        return _count(repeats, term.text)
    return min(_count(repeats, token) for token in term.text.split(" "))


def _count(repeats: str, token: str) -> int:
    at = repeats.find(f" {token}:")
    if at < 0:
        return 1
    start = at + len(token) + 2
    end = repeats.find(" ", start)
    return int(repeats[start:] if end < 0 else repeats[start:end])


def _terms(text: str, limit: int) -> list[str]:
    """The terms of ``text``, and of no more than ``limit`` code points once it is folded: some signs grow to many."""
    if len(text) <= min(limit, _LONG_LINE) and text.isascii():
        return [_stem(word) for word in words_of(text.lower())]
    terms: list[str] = []
    for line in _lines(text):  # most lines of most pages are ASCII, which is quicker to read
        folded = fold(line)[:limit]
        limit -= len(folded) + 1
        if folded.isascii():
            terms += [_stem(word) for word in words_of(folded)]
        else:
            terms += [term for word in words_of(folded) for term in _terms_of(word)]
        if limit <= 0:
            break
    return terms


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, very long ones in parts: other threads wait while one is folded."""
    for line in text.split("\n"):
        start = 0
        while len(line) - start > _LONG_LINE:
            end = line.rfind(" ", start + 1, start + _LONG_LINE)
            end = end if end > 0 else start + _LONG_LINE
            yield line[start:end]
            start = end
        yield line[start:]


def _stem(word: str) -> str:
    return stem(word if len(word) <= MAX_WORD else word[:MAX_WORD])


def _terms_of(word: str) -> list[str]:
    if word.isascii():
        return [_stem(word)]
    return [*_without_diacritics(word), *_pairs(word), _MARK + word[-1]]


def _pairs(word: str) -> list[str]:
    return [_MARK + word[at : at + 2] for at in range(len(word) - 1)]


def _without_diacritics(word: str) -> list[str]:
    plain = "".join(letter for letter in normalize("NFD", word) if not unicodedata.combining(letter))
    return [_stem(plain)] if plain.isascii() and plain else []


def _camel_parts(text: str) -> list[str]:
    if text.islower():
        return []
    return [_stem(part.lower()) for name in _CAMEL.findall(text) for part in _CAMEL_PART.findall(name)]
