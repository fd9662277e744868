"""Bodies read live a moment ago, kept for as long as they may be served again without asking. No clock, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from cache.model import Page, ProjectKey

ROOM = 8 * 1024 * 1024  # code points of all bodies together
LONGEST = 1024 * 1024  # of one


@dataclass(frozen=True, slots=True)
class Seen:
    """A page and its ``body`` as they were read at ``at``."""

    page: Page
    body: str
    at: float


class RecentBodies:
    """What was read at most ``max_age`` seconds ago, as far as there is room. Times are of one clock, which may be set
    back."""

    def __init__(self) -> None:
        self._seen: dict[tuple[ProjectKey, str], Seen] = {}  # oldest first
        self._size = 0

    def note(self, key: ProjectKey, seen: Seen, *, max_age: float) -> None:
        """Keep what was read just now. What is too old goes, and what there is no room for."""
        place = (key, seen.page.slug)
        self._drop(place)
        if max_age <= 0 or len(seen.body) > LONGEST:
            return
        self._seen[place] = seen
        self._size += len(seen.body)
        while (oldest := next(iter(self._seen))) != place:
            if self._size <= ROOM and seen.at - self._seen[oldest].at <= max_age:
                break
            self._drop(oldest)

    def find(self, key: ProjectKey, page: Page, *, now: float, max_age: float) -> Seen | None:
        """The ``page`` as it was read. None where the cache has heard of another blob: that is newer."""
        seen = self._seen.get((key, page.slug))
        if seen is None or not 0 <= now - seen.at <= max_age or page.sha not in ("", seen.page.sha):
            return None
        return seen

    def _drop(self, place: tuple[ProjectKey, str]) -> None:
        if (seen := self._seen.pop(place, None)) is not None:
            self._size -= len(seen.body)
