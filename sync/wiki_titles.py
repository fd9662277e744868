"""A page's title and type, from what the index, its path and its body say (tool contract, "A page is …"). Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from cache.model import Page, PageFacts
from cache.search.query import fold

RAW = "raw"
TYPES = ("entities", "concepts", "packages", "sources", RAW)
OTHER = "other"

_SINGULAR = {"entity": "entities", "concept": "concepts", "package": "packages", "source": "sources"}
_WRAPPERS = frozenset({"wiki", "pages"})
_SEPARATORS = re.compile(r"[\s_-]+")


def canonical_type(word: str) -> str:
    """A type as it is stored and compared: folded, and one of the five in the plural (``Concept`` → ``concepts``)."""
    folded = fold(word)
    return _SINGULAR.get(folded, folded)


def folder_type(path: str) -> str | None:
    """The type that the first folder of a slug or path names, wrapper folders aside; ``None`` if it is none of the
    five."""
    for folder in path.split("/")[:-1]:
        name = canonical_type(folder)
        if name not in _WRAPPERS:
            return name if name in TYPES else None
    return None


def describe(page: Page, facts: PageFacts) -> Page:
    """The page with title and type as they are now that ``facts`` of its body are known.

    The title is the index's link text, else front matter ``title``, else the first level-1 heading, else the last
    part of the slug. The type is the first folder, else front matter ``type``, else the index's section."""
    words = (facts.type or "", page.section)
    named = folder_type(page.slug) or next((name for word in words if (name := canonical_type(word))), OTHER)
    title = page.link_title or facts.title or facts.heading or page.slug.rpartition("/")[2]
    return replace(page, type=named, title=title)


def repeats_path(text: str, slug: str) -> bool:
    """Whether a link's text tells no more than the path: the slug or its end, or the folder of a sub-index, with or
    without ``.md``, dashes and underscores counting as spaces.

    Case does not matter to a name in one piece; but where words are set apart and the case is not the file's
    (``Cache keys`` for ``cache-keys.md``), somebody has written a title."""
    words = text.strip().removeprefix("./").strip("/")
    words = words[:-3] if words.lower().endswith(".md") else words
    paths = (slug, slug.rpartition("/")[0])
    if " " not in words:
        words, paths = words.casefold(), (paths[0].casefold(), paths[1].casefold())
    words = _SEPARATORS.sub(" ", words)
    return not words or any(f"/{_SEPARATORS.sub(' ', path)}".endswith(f"/{words}") for path in paths if path)
