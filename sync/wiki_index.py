"""A wiki as it is: its tree tells which pages there are, its index how they are ordered, called and described. Pure.

The order of pages is that of the root index, then that of its sub-indexes level by level, then the rest by path. The
first place that lists a page decides its title and section; a later one only gives it a description if it has none.
The file that serves as the root index is no page. A sub-index (``parts/index.md``, ``_index.md`` or ``README.md``,
reached by a link to it or to its folder) is one, in the place of that link, and what it lists follows.

Reading is linear in the texts and safe in a worker thread (see :mod:`sync.markdown`).
"""

from __future__ import annotations

import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from cache.model import MAX_INDEX, Page, PageFacts, TreeEntry
from sync.wiki_links import Link, read_links
from sync.wiki_paths import Miss, WikiTree, find_index, is_index
from sync.wiki_titles import RAW, canonical_type, describe, folder_type, repeats_path, title_and_type

__all__ = ["IndexMalformed", "Reading", "canonical_type", "decode_index", "describe", "find_index", "read_wiki"]

READER_VERSION = 2  # part of the sync fingerprint: raise it when the same files are read otherwise than before
MAX_LEVELS = 5  # of sub-indexes
MAX_SUB_INDEXES = 200  # of one level
MAX_TEXT = 4 * MAX_INDEX  # code points of all indexes of a wiki that are read

_UNKNOWN = PageFacts()


class IndexMalformed(ValueError):
    """An index file that cannot be read; ``reason`` is ``"NUL bytes"``, ``"not UTF-8"``, ``"conflict markers"`` or
    ``"over 1 MiB"``."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"wiki index malformed: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reading:
    """The ``pages``, in order; index files that are ``wanted`` but were not given; how many links of the indexes were
    ``dead`` (no such file) or ``ambiguous`` (a bare wikilink that fits several pages)."""

    pages: tuple[Page, ...]
    wanted: tuple[str, ...]
    dead: int
    ambiguous: int


def decode_index(data: bytes) -> str:
    """An index file's text, exactly. Raises ``IndexMalformed``."""
    if len(data) > MAX_INDEX:
        raise IndexMalformed("over 1 MiB")
    if b"\0" in data:
        raise IndexMalformed("NUL bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IndexMalformed("not UTF-8") from error
    if _has_conflict(text):
        raise IndexMalformed("conflict markers")
    return text


def _has_conflict(text: str) -> bool:
    """Whether the three marker lines that git writes into a file it could not merge stand in it, in their order."""
    at = 0
    for marker in (r"^<{7}(?: |$)", r"^={7}\r?$", r"^>{7}(?: |$)"):
        found = re.compile(marker, re.MULTILINE).search(text, at)
        if found is None:
            return False
        at = found.end()
    return True


def read_wiki(tree: Sequence[TreeEntry], indexes: Mapping[str, str | None], facts: Mapping[str, PageFacts]) -> Reading:
    """Read a wiki.

    ``tree`` has paths below ``.wiki/``; ``indexes`` the texts of index files read so far by such paths (``None``:
    cannot be read); ``facts`` what is known of bodies, by blob sha. While the result names ``wanted`` files, read
    them, add them to ``indexes`` and call again: each time is one level of sub-indexes further."""
    wiki = WikiTree(tree)
    root = find_index(entry.path for entry in tree if stat.S_ISREG(entry.mode))
    listing = _Listing(wiki, indexes)
    if root is not None:
        listing.read(root)
    unlisted = [path for path in wiki.pages if path not in listing.links and path != root]
    pages = tuple(
        _page(wiki.pages[path], listing.links.get(path), position, facts)
        for position, path in enumerate((*listing.links, *unlisted))
    )
    return Reading(pages, tuple(listing.wanted), listing.misses[Miss.DEAD], listing.misses[Miss.AMBIGUOUS])


class _Listing:
    """What the indexes list: ``links`` by the path of the page, in order."""

    def __init__(self, wiki: WikiTree, indexes: Mapping[str, str | None]) -> None:
        self.links: dict[str, Link] = {}
        self.wanted: list[str] = []
        self.misses: Counter[Miss] = Counter()
        self._wiki = wiki
        self._indexes = indexes
        self._unread = MAX_TEXT

    def read(self, root: str) -> None:
        """Read the root index, then its sub-indexes level by level, each once and none in ``raw/``."""
        seen = {root}
        level = {root: ""}
        for _ in range(MAX_LEVELS + 1):
            below: dict[str, str] = {}
            for index, section in level.items():
                for path, link in self._read_one(index, section, root):
                    if is_index(path) and folder_type(path) != RAW and path not in seen:
                        below[path] = link.section
                        seen.add(path)
            level = dict(islice(below.items(), MAX_SUB_INDEXES))

    def _read_one(self, index: str, section: str, root: str) -> Iterator[tuple[str, Link]]:
        """Note what one index lists. Yields its links that lead to a page; those outside of a section stand in the
        ``section`` that led here."""
        text = self._indexes.get(index)
        least = len(text) if text is not None else self._least(index)
        if least > self._unread:
            return
        self._unread -= least
        if index not in self._indexes:
            self.wanted.append(index)
        if text is None:
            return
        folder = index.rpartition("/")[0]

        def resolve(target: str, wiki: bool) -> str | Miss:
            page = self._wiki.resolve(target, folder, wiki=wiki)
            return Miss.ELSEWHERE if page in {index, root} else page

        for link in read_links(text, resolve):
            if isinstance(link.page, Miss):
                self.misses[link.page] += 1
            else:
                placed = link if link.section or not section else replace(link, section=section)
                self._note(link.page, placed)
                yield link.page, placed

    def _least(self, index: str) -> int:
        """How many code points a file has at least: each has up to four bytes."""
        entry = self._wiki.pages.get(index)  # the root index may be none of them, in another case
        return 0 if entry is None else entry.size // 4

    def _note(self, path: str, link: Link) -> None:
        first = self.links.setdefault(path, link)
        if not first.description and link.description:
            self.links[path] = replace(first, description=link.description)


def _page(entry: TreeEntry, link: Link | None, position: int, facts: Mapping[str, PageFacts]) -> Page:
    slug = entry.path.removesuffix(".md")
    section = "" if link is None else link.section
    link_title = None if link is None or repeats_path(link.text, slug) else link.text
    title, named = title_and_type(slug, section, link_title, facts.get(entry.sha, _UNKNOWN))
    return Page(
        slug,
        entry.sha,
        entry.size,
        type=named,
        title=title,
        description="" if link is None else link.description,
        section=section,
        link_title=link_title,
        listed=link is not None,
        position=position,
        uncommitted=entry.uncommitted,
    )
