"""Where the links of a wiki's root index lead once one more page is there. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from cache.model import TreeEntry
from sync.wiki_paths import Miss, WikiTree


class Leads:
    """A resolver of links in the root ``index``, for a wiki with this ``tree`` and a page at ``path`` (all paths are
    below ``.wiki/``), which may be in the tree already.

    ``diverted`` are those targets, of all that were asked for, which led to another page so far, with that page."""

    def __init__(self, tree: Sequence[TreeEntry], path: str, index: str) -> None:
        self.diverted: dict[str, str] = {}
        self._index = index
        self._so_far = self._then = WikiTree(tree)
        if path not in self._so_far.pages:
            self._then = WikiTree([*tree, TreeEntry(path, 0o100644, "", 0)])
        self._known: dict[tuple[str, bool], str | Miss] = {}

    def __call__(self, target: str, wiki: bool) -> str | Miss:
        key = (target, wiki)
        if key not in self._known:
            self._known[key] = self._resolve(target, wiki=wiki)
        return self._known[key]

    def _resolve(self, target: str, *, wiki: bool) -> str | Miss:
        page = self._then.resolve(target, "", wiki=wiki)
        if self._then is not self._so_far:
            so_far = self._so_far.resolve(target, "", wiki=wiki)
            if isinstance(so_far, str) and so_far not in {page, self._index}:
                self.diverted[target] = so_far
        return Miss.ELSEWHERE if page == self._index else page
