"""A query as the ladder of the tool contract sees it: the whole, its words, and the words that carry meaning. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

MAX_WORDS = 64  # a longer query is ranked by its first words; the whole still counts as a substring

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_STOP_WORDS = frozenset(
    "a about all an and any are as at be been but by can could did do does for from get had has have how i if in"
    " into is it its me my of on or our should so than that the their them there these they this to us was we were"
    " what when where which who why will with would you your".split()
)


def fold(text: str) -> str:
    """``text`` as it is compared: NFKC, case-folded, white space runs as one space, trimmed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class Query:
    """``whole`` is the folded query, ``words`` its words in order without repeats, ``content`` those of them that are
    no stop words (all of them where nothing else is left)."""

    whole: str
    words: tuple[str, ...]
    content: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read a query as typed. Text without a letter or digit has no words and matches as a whole only."""
        whole = fold(text)
        words = tuple(dict.fromkeys(_WORD.findall(whole)))[:MAX_WORDS]
        content = tuple(word for word in words if word not in _STOP_WORDS)
        return cls(whole, words, content or words)
