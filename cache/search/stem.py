"""The stem of an English word: Snowball's "english" algorithm (Porter 2), by PyStemmer. Pure.

It is here, and not in the database's tokenizer, because ranking counts a project's own terms and has to know them.
"""

from __future__ import annotations

import threading
from functools import lru_cache

import Stemmer


class _PerThread(threading.local):
    """A stemmer keeps state while it works, so no two threads may share one."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english", 0)  # 0: the cache below serves all threads


_per_thread = _PerThread()


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """The stem of a folded word; a word of one or two letters, or with anything but ASCII letters, is its own."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    return str(_per_thread.english.stemWord(word))
