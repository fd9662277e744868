"""A page's title and type, from what the index, its path and its body say (tool contract, "A page is …"). Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from cache.model import Page, PageFacts
from cache.search.query import fold
from sync.wiki_paths import is_index

RAW = "raw"
TYPES = ("entities", "concepts", "packages", "sources", RAW)
OTHER = "other"

_SINGULAR = {"entity": "entities", "concept": "concepts", "package": "packages", "source": "sources"}
_WRAPPERS = frozenset({"wiki", "pages"})
_SEPARATORS = re.compile(r"[\s_-]+")
_PATH_LIKE = re.compile(r"/|\.md\Z|\A[^\s]*[_-][^\s]*\Z", re.IGNORECASE)


@lru_cache(maxsize=256)
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


def title_and_type(slug: str, section: str, link_title: str | None, facts: PageFacts) -> tuple[str, str]:
    """A page's title and type.

    The title is the index's link text, else front matter ``title``, else the first level-1 heading, else the last
    part of the slug. The type is the first folder, else front matter ``type``, else the index's section."""
    words = (facts.type or "", section)
    named = folder_type(slug) or next((name for word in words if (name := canonical_type(word))), OTHER)
    return link_title or facts.title or facts.heading or slug.rpartition("/")[2], named


def describe(page: Page, facts: PageFacts) -> Page:
    """The page with title and type as they are now that ``facts`` of its body are known."""
    title, named = title_and_type(page.slug, page.section, page.link_title, facts)
    return replace(page, type=named, title=title)


def repeats_path(text: str, slug: str) -> bool:
    """Whether a link's text tells no more than the path: the slug or its end, or the folder of a sub-index, with or
    without ``.md``, dashes and underscores counting as spaces.

    What looks like a path is compared without case. Plain words are compared with it: ``Cache keys`` for
    ``cache-keys.md`` and ``Glossary`` for ``glossary.md`` are titles that somebody has written."""
    words = text.strip().removeprefix("./").strip("/")
    paths = [slug, slug.rpartition("/")[0]] if is_index(f"{slug}.md") else [slug]
    if _PATH_LIKE.search(words):
        words = words.casefold().removesuffix(".md")
        paths = [path.casefold() for path in paths]
    words = _SEPARATORS.sub(" ", words)
    return not words or any(f"/{_SEPARATORS.sub(' ', path)}".endswith(f"/{words}") for path in paths if path)
