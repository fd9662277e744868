"""Which files of a SwarmKit checkout are read, and as what. Pure, but for :func:`find_checkout`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path
from typing import Final

NOTES: Final = "design/details/"
SCHEMAS: Final = "packages/schema/schemas/"
PACKAGES: Final = "packages"

FOLDERS: Final = ("design", "docs/notes", "docs/guides", "docs/site/guides", "reference", "examples", SCHEMAS[:-1])
"""The folders that are looked through, with all below them; of packages and the root only what is :data:`NAMED`."""

NAMED: Final = ("README.md", "CLAUDE.md", "llms.txt")

_SITE: Final = "docs/site/"


class Kind(Enum):
    """What a file is read as."""

    NOTE = auto()  # a design note
    MARKDOWN = auto()
    SCHEMA = auto()
    SKILL = auto()
    YAML = auto()


_KINDS: Final = [
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(?:README|CLAUDE)\.md|llms\.txt|packages/[^/]+/(?:README|CLAUDE)\.md", Kind.MARKDOWN),
        (r"design/details/(?:.+/)?(?:README|_template)\.md", None),
        (r"design/details/.+\.md", Kind.NOTE),
        (r"packages/schema/schemas/.+\.json", Kind.SCHEMA),
        (r"reference/skills/.+\.ya?ml", Kind.SKILL),
        (r"(?:examples|reference)/.+\.ya?ml", Kind.YAML),
        (r"(?:design|docs/notes|docs/guides|docs/site/guides|reference|examples)/.+\.md", Kind.MARKDOWN),
    )
]


@lru_cache(maxsize=20_000)  # the same paths are asked for again and again
def kind_of(path: str) -> Kind | None:
    """What the file at ``path`` (below the checkout, with slashes) is read as; ``None``: it is not read."""
    return next((kind for pattern, kind in _KINDS if pattern.fullmatch(path)), None)


def without_copies(paths: Iterable[str]) -> list[str]:
    """``paths`` without what the site has copied from elsewhere: the files there that bear a note's name."""
    known = list(paths)
    copied = [path for path in known if path.startswith(_SITE)]
    if not copied:
        return known
    names = {path.rpartition("/")[2] for path in known if path.startswith((NOTES, "docs/notes/", "docs/guides/"))}
    copies = {path for path in copied if path.rpartition("/")[2] in names}
    return [path for path in known if path not in copies]


def slug_of(path: str) -> str:
    """A design note's slug: ``control-plane/12-auth``."""
    return path.removeprefix(NOTES).removesuffix(".md")


def schema_name(path: str) -> str:
    """What the schema at ``path`` is called: ``topology``, ``protocol/credential``."""
    return path.removeprefix(SCHEMAS).removesuffix(".json").removesuffix(".schema")


_TESTS: Final = re.compile(r"/(?:tests?/|conftest\.py)")


def is_source(path: str) -> bool:
    """Whether a file of a package is Python, and not one of its tests."""
    return path.endswith(".py") and not _TESTS.search(path)


def find_checkout(folder: Path) -> Path | None:
    """The SwarmKit checkout that ``folder`` is in, or is."""
    here = folder.resolve()
    for candidate in (here, *here.parents):
        if (candidate / NOTES).is_dir() and ((candidate / SCHEMAS).is_dir() or (candidate / "CLAUDE.md").is_file()):
            return candidate
    return None
