"""Whether two answers are the same, but for the names of git objects whose content no recording shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SHA = re.compile(r"\b[0-9a-f]{40}\b")
NOBODY = "0" * 40


@dataclass
class Names:
    """Which object of the fake stands for which recorded one, learned by comparing answers: once paired, two names
    always stand for each other."""

    recorded: dict[str, str] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)

    def pair(self, recorded: str, answered: str) -> bool:
        """Whether the two can be, or are, the same object."""
        known = self.recorded.setdefault(recorded, answered), self.answered.setdefault(answered, recorded)
        return known == (answered, recorded)

    def translate(self, text: str) -> str:
        """``text`` with the fake's names for those of the recordings."""
        return SHA.sub(lambda found: self.recorded.get(found[0], found[0]), text)

    def same_text(self, recorded: str, answered: str) -> bool:
        pairs = zip(SHA.findall(recorded), SHA.findall(answered), strict=False)
        return SHA.sub(NOBODY, recorded) == SHA.sub(NOBODY, answered) and all(self.pair(*pair) for pair in pairs)

    def differences(self, recorded: Any, answered: Any, at: str = "") -> Iterator[str]:
        """Where the two JSON values differ in keys, types or values."""
        if type(recorded) is not type(answered):
            yield f"{at}: {recorded!r} is a {type(recorded).__name__}, not {answered!r}"
        elif isinstance(recorded, dict):
            if keys := set(recorded) ^ set(answered):
                yield f"{at}: only one has the keys {sorted(keys)}"
            for key in recorded.keys() & answered.keys():
                yield from self.differences(recorded[key], answered[key], f"{at}.{key}")
        elif isinstance(recorded, list):
            if len(recorded) != len(answered):
                yield f"{at}: {len(recorded)} entries, not {len(answered)}"
            for number, (one, other) in enumerate(zip(recorded, answered, strict=False)):
                yield from self.differences(one, other, f"{at}[{number}]")
        elif not (self.same_text(recorded, answered) if isinstance(recorded, str) else recorded == answered):
            yield f"{at}: {recorded!r}, not {answered!r}"
