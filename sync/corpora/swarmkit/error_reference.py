"""What each error code means, from the best source that knows it.

1. The checkout's own sources: message and suggestion of each place that raises the code.
2. The installed resolver's sources, read the same way.
3. The list of codes beside this file, which ``scripts/swarmkit-codes`` writes from a release: codes alone, so that the
   words are ours.
4. A document that names the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from cache.errors import NotFound, shown
from cache.search.sections import Section
from cache.suggest import near
from sync.corpora.stamps import Watch, below
from sync.corpora.swarmkit.error_sites import Site, exceptions, sites
from sync.corpora.swarmkit.error_words import words

MAX_DOCUMENTS: Final = 5  # that are named as sources of one code

FAILED: Final = "resolver.failed"  # the one code of ours: what the worker says when the resolver itself raises

LIST: Final = Path(__file__).parent / "error_codes.txt"
_FILE_NAME: Final = re.compile(r".*\.(?:yaml|yml|json|md|py|toml|txt)")


@dataclass(frozen=True, slots=True)
class Reference:
    """A code's ``description`` and ``fix``, and where they come from: ``path:line`` of sources, paths of documents."""

    code: str
    description: str
    fix: str
    sources: tuple[str, ...]


class Sources:
    """The errors in the Python files below ``folder`` of ``root``, as far as they are ``wanted``, as they are now.
    Not thread-safe."""

    def __init__(self, root: Path, folder: str, wanted: Callable[[str], bool], clock: Callable[[], float]) -> None:
        self._root = root
        self._folder = folder
        self._wanted = wanted
        self._clock = clock
        self._watch = Watch()
        self._sites: dict[str, tuple[Site, ...]] = {}
        self._references: Mapping[str, Reference] = {}

    def references(self) -> Mapping[str, Reference]:
        """Every code that is raised, with what its places say."""
        now = self._clock()
        fresh, gone = self._watch.look(dict(below(self._root, self._folder, self._wanted)), now)
        if fresh or gone:
            self._sites = {path: found for path, found in self._sites.items() if path not in gone}
            self._sites.update({path: sites(self._read(path)) for path in fresh})
            self._references = self._gathered()
        return self._references

    def _gathered(self) -> Mapping[str, Reference]:
        names = {site.exception for found in self._sites.values() for site in found} - {""}
        said = {name: text for path in self._sites for name, text in exceptions(self._read(path), names).items()}
        raised: dict[str, list[tuple[str, Site]]] = {}
        for path, found in sorted(self._sites.items()):
            for site in sorted(found, key=lambda one: one.line):
                message = site.message or said.get(site.exception, "")
                raised.setdefault(site.code, []).append((path, replace(site, message=message)))
        return {code: _reference(code, places) for code, places in raised.items()}

    def _read(self, path: str) -> bytes:
        try:
            return (self._root / path).read_bytes()
        except OSError:
            self._watch.forget(path)
            return b""


def _reference(code: str, raised: Sequence[tuple[str, Site]]) -> Reference:
    own = words(code)
    return Reference(
        code,
        _either(site.message for _, site in raised) or own.description,
        _either(site.suggestion for _, site in raised) or own.fix,
        tuple(f"{path}:{site.line}" for path, site in raised),
    )


def _either(texts: Iterable[str]) -> str:
    return " — or: ".join(text for text in dict.fromkeys(texts) if text)


@cache
def listed() -> Mapping[str, Reference]:
    """The codes of the release that the list was generated from, and ours."""
    release, *codes = LIST.read_text("utf-8").splitlines()
    return {code: Reference(code, *words(code), (release.strip("# "),)) for code in (*codes, FAILED)}


class Lookup:
    """What codes mean. ``groups`` are the references of sources, best first, each made when it is asked for;
    ``mentions`` are the sections of documents that name a code."""

    def __init__(
        self, groups: Sequence[Callable[[], Mapping[str, Reference]]], mentions: Callable[[str], Iterable[Section]]
    ) -> None:
        self._groups: tuple[Callable[[], Mapping[str, Reference]], ...] = (*groups, listed)
        self._mentions = mentions

    def find(self, code: str) -> Reference:
        """What ``code`` means. Raises ``NotFound`` with near codes."""
        wanted = code.strip().strip("`\"'").lower()
        known: dict[str, Reference] = {}
        for group in self._groups:
            known = {**group(), **known}
            if wanted in known:
                break
        sections = list(self._mentions(wanted))
        found = known.get(wanted) or _documented(wanted, sections, known)
        if found is None:
            raise NotFound(f"no such error code: {shown(code)}", suggestions=near(wanted, sorted(known)))
        documents = list(dict.fromkeys(section.path for section in sections))[:MAX_DOCUMENTS]
        return replace(found, sources=(*found.sources, *documents))


def _documented(code: str, sections: Sequence[Section], known: Iterable[str]) -> Reference | None:
    """What a document says on the line that names ``code``, if that has the look of one: the name of an artifact that
    has codes comes first in it, and it is no file's name."""
    artifacts = {other.partition(".")[0] for other in known}
    if not sections or code.partition(".")[0] not in artifacts or _FILE_NAME.fullmatch(code):
        return None
    line = next((line for line in sections[0].text.splitlines() if code in line), "")
    cells = [cell.strip(" `*-—–:") for cell in re.split(r"\||—|–| - ", line)]
    own = words(code)
    told = " — ".join(cell for cell in cells if cell and cell != code)
    return Reference(code, told or own.description, own.fix, ())
