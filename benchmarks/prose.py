"""Text whose words are as unevenly spread as those of a language, the same at each run."""

from __future__ import annotations

import random

WORDS = 3_000  # different ones


class Prose:
    """Words by their rank, the most frequent first, and texts of them."""

    def __init__(self) -> None:
        self._chance = random.Random(0)  # noqa: S311 nobody has to guess them
        syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "er")]
        choices = self._chance.choices
        self.words = ["".join(choices(syllables, k=self._chance.randint(1, 4))) for _ in range(WORDS)]
        self._weights = [1 / rank for rank in range(1, WORDS + 1)]

    def some(self, number: int) -> str:
        """So many words."""
        return " ".join(self._chance.choices(self.words, self._weights, k=number))
