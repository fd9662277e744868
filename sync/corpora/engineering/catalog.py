"""What is known of the documents: titles, tags and sections, always as the files are now.

Each look compares path, modification time, size and inode of every file with those of the look before, and reads what
is not the same. Nothing is kept but in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cache.errors import KnowledgeError
from cache.search.query import Query
from cache.search.sections import Section, Sections
from cache.search.snippet import snippet
from sync import front_matter
from sync.corpora.engineering import folder
from sync.corpora.engineering.document import TOP, Facts, etag, facts_of
from sync.corpora.engineering.inbox import TITLE
from sync.corpora.engineering.paths import INBOX, KNOWLEDGE, stem
from sync.corpora.markdown_sections import parts
from sync.corpora.stamps import Watch
from sync.page import first_prose

DIGITS: Final = 4  # of a score
MAX_LEAD: Final = 200  # code points of a document's first prose


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that answers a query; ``heading`` is empty for what stands before the first one."""

    path: str
    title: str
    heading: str
    snippet: str
    score: float


class Catalog:
    """The documents of one folder. Not thread-safe: one user at a time."""

    def __init__(self) -> None:
        self._watch = Watch()
        self._etags: dict[str, str] = {}
        self._facts: dict[str, Facts] = {}
        self._leads: dict[str, str] = {}
        self._sections = Sections()
        self._unindexed: set[str] = set()  # what was read for its facts alone

    @property
    def facts(self) -> Mapping[str, Facts]:
        """What each document says of itself, by path; the inbox among them."""
        return self._facts

    def look(self, root: int, now: float, *, to_search: bool = False) -> None:
        """Learn what the open folder ``root`` holds ``now`` (seconds since the UTC epoch): titles and tags, and what
        :meth:`search` needs, which takes longer, where that is asked for."""
        fresh, gone = self._watch.look(folder.documents(root), now)
        for path in gone:
            self._drop(path)
        for path in fresh:
            self._read(path, root, to_search=to_search)
        if to_search:
            for path in list(self._unindexed):
                self._read(path, root, to_search=True)

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best ``limit`` sections, best first."""
        parsed = Query.parse(query)
        hits = []
        for found in self._sections.search(parsed, limit):
            section, path = found.section, _path(found.section.path)
            lead = self._leads[path] if section.first else ""
            shown = snippet(section.text, parsed, fallback=section.text if section.text.strip() else lead)
            hits.append(Hit(path, section.title, section.heading, shown, round(found.score, DIGITS)))
        return hits

    def _read(self, path: str, root: int, *, to_search: bool) -> None:
        try:
            data = folder.read(root, path)
        except KnowledgeError:  # gone since it was listed, or not to be read: it is there, but says nothing
            self._watch.forget(path)
            self._drop(path)
            self._facts[path] = Facts(stem(path), ())
            return
        digest = etag(data)
        text = data.decode("utf-8", "replace")
        if self._etags.get(path) != digest:
            self._etags[path] = digest
            self._facts[path] = facts_of(text, path)
            self._unindexed.add(path)
        if to_search and path in self._unindexed:
            self._unindexed.remove(path)
            self._leads[path] = first_prose(text)[:MAX_LEAD]
            self._sections.replace(_key(path), _sections(path, text, self._facts[path]))

    def _drop(self, path: str) -> None:
        self._etags.pop(path, None)
        self._facts.pop(path, None)
        self._leads.pop(path, None)
        self._unindexed.discard(path)
        self._sections.remove(_key(path))


def _key(path: str) -> str:
    """What a document is indexed by: its path, whose words count, without the folder that is every document's."""
    return f"/{path}" if path == INBOX else path.removeprefix(f"{KNOWLEDGE}/")


def _path(key: str) -> str:
    return key[1:] if key.startswith("/") else f"{KNOWLEDGE}/{key}"


def _sections(path: str, text: str, said: Facts) -> Iterator[Section]:
    """What a document is found by. Its title counts for the first section; that of the inbox for none."""
    body = front_matter.split(text)[1]
    first = path != INBOX
    for part in parts(text, body):
        if (part.heading or part.text.strip()) and (path != INBOX or part.level >= TOP):
            yield Section(_key(path), TITLE if path == INBOX else said.title, part.heading, part.text, said.tags, first)
            first = False
    if first:
        yield Section(_key(path), said.title, "", "", said.tags, first)
