"""The documents of a checkout as they are now: looked at again at each call, and read where they changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from cache.search.query import Query
from cache.search.sections import FoundSection, Section, Sections
from sync.corpora.stamps import Stamp, Watch, below, named
from sync.corpora.swarmkit.layout import FOLDERS, NAMED, PACKAGES, kind_of, without_copies
from sync.corpora.swarmkit.reading import Content, Note, Skill, read

MAX_FILE: Final = 1024 * 1024  # bytes of a file that are read


class Documents:
    """The documents below ``root``. Not thread-safe: one user at a time. ``clock`` is the time in seconds since the
    epoch."""

    def __init__(self, root: Path, clock: Callable[[], float]) -> None:
        self._root = root
        self._clock = clock
        self._watch = Watch()
        self._contents: dict[str, Content] = {}
        self._digests: dict[str, bytes] = {}
        self._sections = Sections()

    def search(self, query: Query, limit: int) -> list[FoundSection]:
        self._refresh()
        return self._sections.search(query, limit)

    def notes(self) -> list[Note]:
        """Every design note, by path."""
        self._refresh()
        return [content.note for _, content in sorted(self._contents.items()) if content.note is not None]

    def skills(self) -> list[Skill]:
        """Every reference skill, by path."""
        self._refresh()
        return [content.skill for _, content in sorted(self._contents.items()) if content.skill is not None]

    def mentions(self, code: str) -> Iterator[Section]:
        """The sections that name an error code, by path."""
        self._refresh()
        for path in sorted(path for path, content in self._contents.items() if code in content.dotted):
            yield from (section for section in self._contents[path].sections if code in section.text)

    def _refresh(self) -> None:
        now = self._clock()
        fresh, gone = self._watch.look(self._found(), now)
        for path in gone:
            self._drop(path)
        for path in fresh:
            self._read(path)

    def _found(self) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        for folder in FOLDERS:
            found.update(below(self._root, folder, kind_of))
        found.update(named(self._root, self._named()))
        return {path: found[path] for path in without_copies(found)}

    def _named(self) -> Iterator[str]:
        yield from NAMED
        try:
            packages = sorted(entry.name for entry in (self._root / PACKAGES).iterdir())
        except OSError:
            return
        yield from (f"{PACKAGES}/{name}/{file}" for name in packages for file in NAMED[:2])

    def _read(self, path: str) -> None:
        kind = kind_of(path)
        try:
            with (self._root / path).open("rb") as file:
                data = file.read(MAX_FILE)
        except OSError:
            kind = None
        if kind is None:  # gone since it was listed, or not for us to read
            self._watch.forget(path)
            self._drop(path)
            return
        digest = hashlib.sha256(data).digest()
        if self._digests.get(path) != digest:
            self._digests[path] = digest
            self._contents[path] = content = read(path, kind, data)
            self._sections.replace(path, content.sections)

    def _drop(self, path: str) -> None:
        self._contents.pop(path, None)
        self._digests.pop(path, None)
        self._sections.remove(path)
