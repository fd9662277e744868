"""Wikis written down as texts, read the way the sync worker drives the reader."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from cache.model import Page, TreeEntry
from sync import page
from sync.wiki_index import Reading, decode_index, read_wiki


def tree_of(files: Mapping[str, str], *, links: Iterable[str] = ()) -> list[TreeEntry]:
    """The tree entries of ``files`` (paths below ``.wiki/`` → text), those named in ``links`` as symbolic links."""
    return [
        TreeEntry(path, 0o120000 if path in links else 0o100644, sha_of(text), len(text))
        for path, text in files.items()
    ]


def sha_of(text: str) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def read(files: Mapping[str, str], *, links: Iterable[str] = (), bodies: bool = False) -> Reading:
    """Read a wiki, with the indexes it wants, level by level; ``bodies``: with the facts of all pages known."""
    tree = tree_of(files, links=links)
    facts = {sha_of(text): page.facts(text) for text in files.values()} if bodies else {}
    indexes: dict[str, str | None] = {}
    reading = read_wiki(tree, indexes, facts)
    while reading.wanted:
        indexes |= {path: decode_index(files[path].encode()) for path in reading.wanted}
        reading = read_wiki(tree, indexes, facts)
    return reading


def listed(index: str, *paths: str) -> list[str]:
    """The slugs that ``index``, as the root index of a wiki with pages at ``paths``, lists, in its order."""
    return [each.slug for each in read({"index.md": index, **dict.fromkeys(paths, "")}).pages if each.listed]


def only(index: str, path: str = "concepts/keys.md", body: str | None = None) -> Page:
    """The one page of a wiki as ``index`` lists it; with ``body``, what that says is known."""
    reading = read({"index.md": index, path: body or ""}, bodies=body is not None)
    (found,) = reading.pages
    return found
