"""The stem of an English word, by M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), with the two
endings its author changed later (``bli``, ``logi``): what SQLite's ``porter`` tokenizer does, so a test compares
them. Pure.

It is here, and not in the database, because ranking counts a project's own terms and has to know them.
"""

from __future__ import annotations

from functools import lru_cache

_STEP_2 = (
    ("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("tional", "tion"), ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("ation", "ate"), ("alism", "al"),
    ("aliti", "al"), ("iviti", "ive"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"),
    ("alli", "al"), ("ator", "ate"), ("bli", "ble"), ("eli", "e"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """The stem of a folded word; a word of one or two letters, or with anything but ASCII letters, is its own."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _third_person_and_past(_plural(word))
    if word.endswith("y") and "v" in _pattern(word[:-1]):
        word = word[:-1] + "i"
    return _final(_fourth(_replaced(_replaced(word, _STEP_2), _STEP_3)))


def _pattern(word: str) -> str:
    """Consonants and vowels as ``c`` and ``v``; a ``y`` is a vowel after a consonant."""
    pattern = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and pattern.endswith("c"))
        pattern += "v" if vowel else "c"
    return pattern


def _measure(word: str) -> int:
    """Porter's *m*: how often a vowel is followed by a consonant."""
    return _pattern(word).count("vc")


def _ends_cvc(word: str) -> bool:
    """Porter's *o*: consonant, vowel, consonant at the end, the last not ``w``, ``x`` or ``y``."""
    return _pattern(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _third_person_and_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((ending for ending in ("ed", "ing") if word.endswith(ending)), "")
    left = word.removesuffix(ending)
    if not ending or "v" not in _pattern(left):
        return word
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if left[-1:] == left[-2:-1] and _pattern(left).endswith("c") and left[-1] not in "lsz":
        return left[:-1]
    return left + "e" if _measure(left) == 1 and _ends_cvc(left) else left


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in endings:
        if word.endswith(ending):
            left = word.removesuffix(ending)
            return left + instead if _measure(left) > 0 else word
    return word


def _fourth(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            left = word.removesuffix(ending)
            fits = _measure(left) > 1 and (ending != "ion" or left.endswith(("s", "t")))
            return left if fits else word
    return word


def _final(word: str) -> str:
    if word.endswith("e"):
        left = word[:-1]
        measure = _measure(left)
        if measure > 1 or (measure == 1 and not _ends_cvc(left)):
            word = left
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
