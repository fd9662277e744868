"""A query as the ladder of the tool contract sees it: the whole, its words, and the words that carry meaning. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal

MAX_WORDS = 64  # a longer query is ranked by its first words; the whole still counts as a substring
MAX_WORD = 64  # code points of a word that count

_PIECE = 256  # code points that are normalized at once
_LONGEST_LETTER = 32  # code points of a letter with its signs (UAX #15, section 13, allows 30 of them)

# Scripts that are written without spaces, or glue particles to foreign words: a run of one is a word of its own.
_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_SOUTHEAST = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1780-\u17d3\u17e0-\u17e9"
_RUNS = (_HAN, _HIRAGANA, _KATAKANA, _HANGUL, _SOUTHEAST)
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff"  # signs within a word
_ASCII_WORD = re.compile(r"[a-z0-9]+")

_SURROGATE = re.compile("[\ud800-\udfff]")
_STOP_WORDS = frozenset(
    "a about all an and any are as at be been but by can could d did do does doesn don for from get had has have how i"
    " if in into is isn it its ll me my of on or our re s should so t than that the their them there these they this to"
    " us ve was we were what when where which who why will with would you your".split()
)


def fold(text: str) -> str:
    """``text`` as it is compared: NFKC, case-folded (``ß`` is ``ss``), ``ё`` as ``е``, white space runs as one space,
    trimmed, and a lone surrogate (which no text of a page can hold) as U+FFFD."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return _SURROGATE.sub("\ufffd", " ".join(folded.replace("ё", "е").split()))


def normalize(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """``text`` in a normal form of Unicode, in time linear in its length.

    Sorting combining signs takes the square of their number and holds the interpreter's lock: a page of nothing else
    would stop the process for an hour. So a long text is taken in pieces. One ends before a space, or else before what
    is no combining sign, and cuts into a letter with its signs only where there are more than any language has."""
    if len(text) <= _PIECE:
        return unicodedata.normalize(form, text)
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = _end_of_piece(text, start)
        pieces.append(unicodedata.normalize(form, text[start:end]))
        start = end
    return "".join(pieces)


def _end_of_piece(text: str, start: int) -> int:
    limit = start + _PIECE
    if limit >= len(text):
        return len(text)
    space = text.rfind(" ", start + 1, limit)
    if space > 0:
        return space
    letters = (at for at in range(limit, limit - _LONGEST_LETTER, -1) if not unicodedata.combining(text[at]))
    return next(letters, limit)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A word, one of Han characters, and one of Hiragana. Compiled when first needed, which takes some milliseconds of
    a start that most often needs none."""
    others = f"(?:[^\\W_{''.join(_RUNS)}]+|[{_MARKS}]+)+"
    word = "|".join([others, *(f"[{run}]+" for run in _RUNS)])
    return re.compile(word), re.compile(f"[{_HAN}]+"), re.compile(f"[{_HIRAGANA}]+")


def words_of(folded: str) -> list[str]:
    """The words of a folded text, in order: runs of letters and digits of one kind of script."""
    return _ASCII_WORD.findall(folded) if folded.isascii() else _patterns()[0].findall(folded)


@dataclass(frozen=True, slots=True)
class Query:
    """``whole`` is the folded query, ``words`` its words in order without repeats, ``content`` what of them carries
    meaning: no stop words, no particles (all words where nothing else is left), and a run of Han characters, which
    may be a whole sentence, as its overlapping pairs."""

    whole: str
    words: tuple[str, ...]
    content: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read a query as typed. Text without a letter or digit has no words and matches as a whole only."""
        whole = fold(text)
        words = tuple(dict.fromkeys(word[:MAX_WORD] for word in words_of(whole)))[:MAX_WORDS]
        meant = [word for word in words if not _is_particle(word)] or words
        content = dict.fromkeys(part for word in meant for part in _parts(word))
        return cls(whole, words, tuple(content)[:MAX_WORDS])


def _is_particle(word: str) -> bool:
    """Whether ``word`` says nothing by itself: a stop word, Japanese grammar, or one letter outside ASCII and Han."""
    if word.isascii():
        return word in _STOP_WORDS
    _, han, hiragana = _patterns()
    return bool(hiragana.fullmatch(word)) or (len(word) == 1 and not han.fullmatch(word))


def _parts(word: str) -> list[str]:
    if len(word) > 2 and not word.isascii() and _patterns()[1].fullmatch(word):
        return [word[at : at + 2] for at in range(len(word) - 1)]
    return [word]
