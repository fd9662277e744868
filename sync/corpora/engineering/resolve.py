"""Which document a caller means: by its path, its file name, or its title. Pure.

The first of these that fits decides: the exact path, then the path, the file name and the title, each compared without
case and Unicode form. Where it fits several documents, all are named and none is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from cache.errors import Ambiguous, InvalidPath, NotFound, shown
from cache.suggest import near
from sync.corpora.engineering.paths import INBOX, KNOWLEDGE, SUFFIX, is_markdown, parts_of, stem, without_suffix
from sync.wiki_paths import fold_path

MAX_CANDIDATES: Final = 20  # that an error names

ARGUMENT: Final = "topicOrPath"


def resolve(reference: str, titles: Mapping[str, str], obstacle: Callable[[str], str | None]) -> str:
    """The path of the document that ``reference`` means, of those whose titles are given by path. ``obstacle`` tells
    why what is at a path is none.

    Raises ``InvalidPath`` for what can be no path, or has an obstacle; ``NotFound``, ``Ambiguous``."""
    parts_of(reference, ARGUMENT)
    names = [reference, f"{reference}{SUFFIX}"] if is_markdown(reference) else [f"{reference}{SUFFIX}"]
    places = [f"{base}{name}" for base in ("", f"{KNOWLEDGE}/") for name in names]
    for place in places:
        if place in titles:
            return place
        if fault := obstacle(place):
            raise InvalidPath(f"{ARGUMENT}: {fault}", argument=ARGUMENT)
    return _only(reference, titles, _by_path(places)) or _by_name(reference, titles)


def _by_path(places: list[str]) -> Callable[[str, str], bool]:
    folded = set(map(fold_path, places))
    return lambda path, _: fold_path(path) in folded


def _by_name(reference: str, titles: Mapping[str, str]) -> str:
    documents = {path: title for path, title in titles.items() if path != INBOX}
    name = fold_path(without_suffix(reference))
    by_stem = _only(reference, documents, lambda path, _: fold_path(stem(path)) == name)
    title = fold_path(reference)
    found = by_stem or _only(reference, documents, lambda _, each: fold_path(each) == title)
    if found is None:
        names = [without_suffix(path).removeprefix(f"{KNOWLEDGE}/") for path in documents]
        message = f"no knowledge document found matching '{shown(reference)}'"
        raise NotFound(message, suggestions=near(without_suffix(reference), names))
    return found


def _only(reference: str, titles: Mapping[str, str], fits: Callable[[str, str], bool]) -> str | None:
    """The one document that fits, ``None`` without any."""
    found = [path for path, title in titles.items() if fits(path, title)]
    if len(found) > 1:
        raise Ambiguous(f"name '{shown(reference, 100)}'", tuple(_few(found)))
    return found[0] if found else None


def _few(paths: Iterable[str]) -> Iterator[str]:
    names = sorted(paths)
    yield from names[:MAX_CANDIDATES]
    if len(names) > MAX_CANDIDATES:
        yield f"and {len(names) - MAX_CANDIDATES} more"
