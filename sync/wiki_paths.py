"""Where an index's links lead in the wiki's tree. Pure."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from urllib.parse import unquote

from cache.model import TreeEntry
from cache.search.query import normalize

MAX_PATH = 1_003  # code points of a page's path: a slug of a thousand, and ".md"
MAX_DEPTH = 64  # folders above a file; links to deeper folders lead nowhere, those to the files themselves do

_INDEX_NAMES = ("index.md", "_index.md", "readme.md")  # folded, the best first
_UNNAMEABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")  # what no caller's slug can hold
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_SEPARATORS = re.compile(r"[\s_-]+")


class Miss(Enum):
    """Why a link leads to no page."""

    ELSEWHERE = "it leaves the wiki, or leads to something that is no page"
    DEAD = "its file does not exist"
    AMBIGUOUS = "it fits several pages"


def is_page(entry: TreeEntry) -> bool:
    """Whether a tree entry is a Markdown file that can be asked for by its name. A symbolic link never is."""
    path = entry.path
    is_markdown = stat.S_ISREG(entry.mode) and path.endswith(".md") and not f"/{path}".endswith("/.md")
    return is_markdown and len(path) <= MAX_PATH and not _UNNAMEABLE.search(path)


def is_index(path: str) -> bool:
    """Whether a file's name is one of an index."""
    return path.rpartition("/")[2].casefold() in _INDEX_NAMES


def find_index(paths: Iterable[str]) -> str | None:
    """The root index among paths below ``.wiki/``: ``index.md`` without case, then ``_index.md``, ``README.md``."""
    return _best_index(path for path in paths if "/" not in path)


def _best_index(paths: Iterable[str]) -> str | None:
    """The one of a folder's files that is its index: the usual spelling before others, then by code points."""

    def rank(path: str) -> tuple[int, bool, str]:
        name = path.rpartition("/")[2]
        return _INDEX_NAMES.index(name.casefold()), name not in {"index.md", "_index.md", "README.md"}, path

    return min(filter(is_index, paths), key=rank, default=None)


class WikiTree:
    """The tree below ``.wiki/`` as links see it. ``pages`` maps paths to entries, sorted by path."""

    def __init__(self, tree: Sequence[TreeEntry]) -> None:
        self.pages = {entry.path: entry for entry in sorted(filter(is_page, tree), key=lambda entry: entry.path)}
        self._exact = _places(tree, self.pages)

    @cached_property
    def _folded(self) -> dict[str, str | Miss]:
        """``_exact`` without case and Unicode form. Where several files fit, none does."""
        found: dict[str, str | Miss] = {}
        for place, page in self._exact.items():
            folded = fold_path(place)
            found[folded] = page if found.get(folded, page) == page else Miss.AMBIGUOUS
        return found

    @cached_property
    def _names(self) -> dict[tuple[int, str], str | Miss]:
        """Pages by base name: as it is, without case, and with dashes and underscores as spaces. No indexes."""
        found: dict[tuple[int, str], str | Miss] = {}
        for path in self.pages:
            for key in _name_keys(path.rpartition("/")[2].removesuffix(".md")) if not is_index(path) else ():
                found[key] = Miss.AMBIGUOUS if key in found else path
        return found

    def resolve(self, target: str, folder: str, *, wiki: bool) -> str | Miss:
        """The page that a link in an index in ``folder`` (``""``: the root) leads to.

        A target is relative to the folder, or begins with ``.wiki/``; a ``wiki`` link may also be relative to the
        root, and without a slash be the base name of exactly one page. A folder stands for the index in it."""
        spellings = [spelling for spelling in _spellings(target, wiki=wiki) if not spelling.startswith("/")]
        places = [place for spelling in spellings for place in _inside(spelling, folder, wiki=wiki)]
        if not places:
            return Miss.ELSEWHERE
        bare = wiki and "/" not in spellings[0]
        if not bare:
            places = [either for place in places for either in _file_and_folder(place)]
        for place in places:
            if place in self._exact:
                return self._exact[place]
        for folded in map(fold_path, places):
            if folded in self._folded:
                return self._folded[folded]
        keys = _name_keys(spellings[0].removesuffix(".md")) if bare else ()
        return next((self._names[key] for key in keys if key in self._names), Miss.DEAD)


def _places(tree: Sequence[TreeEntry], pages: Iterable[str]) -> dict[str, str | Miss]:
    """What stands at each place: files by path, pages also without ``.md``, folders with a slash at the end."""
    found: dict[str, str | Miss] = {entry.path: Miss.ELSEWHERE for entry in tree}
    found |= {path: path for path in pages}
    indexes: dict[str, list[str]] = {}
    for path in pages:
        found.setdefault(path.removesuffix(".md"), path)
        if is_index(path):
            indexes.setdefault(path.rpartition("/")[0], []).append(path)
    for entry in tree:
        folder = entry.path.rpartition("/")[0] if entry.path.count("/") <= MAX_DEPTH else ""
        while f"{folder}/" not in found:
            found[f"{folder}/"] = _best_index(indexes.get(folder, ())) or Miss.ELSEWHERE
            folder = folder.rpartition("/")[0]
    return found


def _spellings(target: str, *, wiki: bool) -> Iterable[str]:
    """The paths that a link's target may mean, the likeliest first; none where it is a URL or within the page."""
    target = target.strip()
    if ":" in target and ("://" in target or target.startswith("mailto:") if wiki else _SCHEME.match(target)):
        return ()
    path = target.partition("#")[0].strip()
    bare = path if wiki else path.partition("?")[0]
    if not bare:
        return ()
    if bare == target and "%" not in bare:
        return (bare,)
    return dict.fromkeys((unquote(bare), bare, unquote(path), unquote(target)))


def _inside(spelling: str, folder: str, *, wiki: bool) -> Iterator[str]:
    """The places in the wiki that a path means, seen from the folder, the repository's root, and the wiki's root."""
    yield from _place([".wiki", *folder.split("/")] if folder else [".wiki"], spelling)
    if ".wiki/" in spelling:
        yield from _place([], spelling)
    if wiki and folder:
        yield from _place([".wiki"], spelling)


def _place(base: list[str], spelling: str) -> Iterator[str]:
    """Where a path from ``base`` on leads below ``.wiki``, with a slash at its end if to a folder; nothing outside."""
    parts = list(base)
    for part in spelling.split("/"):
        if part == "..":
            if not parts:
                return
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    if parts[:1] == [".wiki"]:
        is_folder = len(parts) == 1 or spelling.endswith(("/", "/.", "/..")) or spelling in {".", ".."}
        yield "/".join(parts[1:]) + ("/" if is_folder else "")


def _file_and_folder(place: str) -> tuple[str, str]:
    """Both things that a place may be; what its spelling says first."""
    return (place, place[:-1]) if place.endswith("/") else (place, f"{place}/")


def fold_path(path: str) -> str:
    """A path as it is compared where case and Unicode form do not count."""
    if path.isascii():
        return path.lower()
    return normalize("NFC", normalize("NFC", path).casefold())


def _name_keys(name: str) -> tuple[tuple[int, str], ...]:
    folded = fold_path(name)
    return (0, name), (1, folded), (2, _SEPARATORS.sub(" ", folded).strip())
