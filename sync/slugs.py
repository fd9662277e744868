"""Pages as a caller names them for writing: slug and type. Pure.

Reading forgives slips, since the answer shows what was found. Writing does not: a page made under a mended name would
be looked for under the one that was given. So ``.md``, a leading ``/`` or ``.wiki/`` are refused, and the error says
what to leave out; the one thing that is added is the folder of the type.

An existing page keeps whatever name it has. A new one gets a name that every file system, git and every forge takes,
and that no other page of the wiki has but for case, Unicode form, or the singular of its type.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cache.errors import InvalidArgument, shown
from cache.model import TreeEntry
from cache.search.query import normalize
from cache.suggest import near
from sync.files.names import MAX_NAME, is_reserved
from sync.wiki_paths import fold_path, is_index, is_page
from sync.wiki_titles import TYPES, canonical_type, folder_type

MAX_SLUG = 1_000  # code points (tool contract)

_SURROGATE = re.compile("[\ud800-\udfff]")  # stands for a byte of a file's name that is no text
_FORBIDDEN = frozenset('<>:"|?*\\')  # in file names on Windows
_TYPE_HINT = f"type is one of {', '.join(TYPES)}"


@dataclass(frozen=True, slots=True)
class Target:
    """The page that is meant: its full ``slug``, and whether it ``exists``. ``type`` is what its first folder or else
    the caller says; ``None`` for an existing page of which neither says one."""

    slug: str
    type: str | None
    exists: bool

    @property
    def path(self) -> str:
        """Its path below ``.wiki/``."""
        return f"{self.slug}.md"


def find_target(slug: str, type_: str | None, tree: Sequence[TreeEntry]) -> Target:
    """The page of the wiki with this ``tree`` (paths below ``.wiki/``) that a caller means by ``slug`` and ``type_``.

    Raises ``InvalidArgument``, which names the argument at fault and the remedy.
    """
    wanted = None if type_ is None else _known_type(type_)
    entries = {entry.path: entry for entry in tree}
    if surrogate := _SURROGATE.search(slug):
        raise _refused(f"no page's name holds {_named(surrogate[0])} — leave it out")
    if is_index(f"{slug}.md"):
        raise _refused(f"{shown(slug)} is the name of an index, which is edited by hand — choose another name")
    if _is_known(slug, entries):
        also = f"{wanted}/{slug}"
        if wanted is not None and folder_type(slug) is None and _is_known(also, entries):
            raise _refused(f"{shown(slug)} and {shown(also)} both exist — leave type out, or name the second in full")
        return Target(slug, _agreed(slug, wanted), exists=True)
    _check_form(slug)
    full = slug if folder_type(slug) is not None else f"{_needed(wanted, slug, tree)}/{slug}"
    found = Target(full, _agreed(full, wanted), exists=_is_known(full, entries))
    if not found.exists:
        _check_new(found, tree, entries)
    return found


def _known_type(word: str) -> str:
    found = canonical_type(word)
    if found not in TYPES:
        raise InvalidArgument(f"type {shown(word, 60)} is none — {_TYPE_HINT}", argument="type")
    return found


def _is_known(slug: str, entries: dict[str, TreeEntry]) -> bool:
    entry = entries.get(f"{slug}.md")
    return entry is not None and is_page(entry)


def _agreed(slug: str, wanted: str | None) -> str | None:
    """The type of a full slug: that of its first folder, which must not be another one than the caller's."""
    own = folder_type(slug)
    if own is not None and wanted is not None and own != wanted:
        raise InvalidArgument(
            f"type {wanted} contradicts {shown(slug)}, which is among the {own} — leave type out, or leave the first "
            "folder out of slug",
            argument="type",
        )
    return own or wanted


def _needed(wanted: str | None, slug: str, tree: Sequence[TreeEntry]) -> str:
    if wanted is not None:
        return wanted
    pages = (entry.path.removesuffix(".md") for entry in tree if is_page(entry))
    nearest = near(slug, pages)
    hint = f"; existing pages are named in full: {', '.join(map(shown, nearest))}" if nearest else ""
    raise InvalidArgument(
        f"a new page needs type, or a slug that starts with one — {_TYPE_HINT}{hint}", argument="type"
    )


def _check_form(slug: str) -> None:
    """Refuse a slug that no new page can have."""
    if len(slug) > MAX_SLUG:
        raise _refused(f"it has more than {MAX_SLUG} characters")
    for char in slug:
        if char in _FORBIDDEN or not char.isprintable():
            raise _refused(f"no page's name holds {_named(char)} — leave it out")
    if not slug.strip("/"):
        raise _refused("it is empty — name a page, such as concepts/caching")
    if slug.startswith("/") or slug.partition("/")[0] == ".wiki":
        raise _refused("it begins below .wiki/ — leave out what stands before that")
    if slug.lower().endswith(".md"):
        raise _refused("leave .md out — it is added")
    if normalize("NFC", slug) != slug:
        raise _refused("write its letters composed (Unicode NFC)")
    for name in slug.split("/"):
        _check_name(name)


def _named(char: str) -> str:
    """A character as an error can show it."""
    return char if char.isprintable() else f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()


def _check_name(name: str) -> None:
    if not name:
        raise _refused("a folder or page in it has no name — write one / between names, and none at the end")
    if name.startswith("."):
        raise _refused(f"{shown(name)} begins with a dot — leave that out")
    if name != name.strip() or name.endswith("."):
        raise _refused(f"“{shown(name)}” begins or ends with a space, or ends with a dot — leave that out")
    if is_reserved(name):
        raise _refused(f"{shown(name)} is a reserved name on some systems — choose another")
    if len(f"{name}.md".encode()) > MAX_NAME:
        raise _refused(f"{shown(name, 40)} is longer than {MAX_NAME} bytes — choose a shorter name")


def _check_new(target: Target, tree: Sequence[TreeEntry], entries: dict[str, TreeEntry]) -> None:
    """Refuse a new page that another file, or a folder, of the wiki is in the way of."""
    if len(target.slug) > MAX_SLUG:
        raise _refused(f"with its type it has more than {MAX_SLUG} characters")
    if target.path in entries:
        raise _refused(f"{target.path} is no regular file — remove it first, or choose another name")
    parts = target.path.split("/")
    spelled = dict.fromkeys(range(1, len(parts)), "")  # each folder of the page, as the wiki spells it
    for shared, path in _neighbours(target.path, tree):
        theirs = path.split("/")
        if shared == len(parts) == len(theirs):
            raise _refused(f"{shown(path.removesuffix('.md'))} exists — change that page, or choose another name")
        if shared in {len(parts), len(theirs)}:
            raise _refused(f"{shown(path)} is in the way — choose another name")
        for depth in range(1, shared + 1):
            if theirs[:depth] == parts[:depth] or not spelled[depth]:
                spelled[depth] = "/".join(theirs[:depth])
    for depth, folder in spelled.items():
        if folder and folder != "/".join(parts[:depth]):
            raise _refused(f"the wiki spells the folder {shown(folder)}/ — spell it so")
    _refuse_singular_twin(target, entries)


def _neighbours(path: str, tree: Sequence[TreeEntry]) -> Iterator[tuple[int, str]]:
    """The paths that begin with the same folders as ``path`` or its own names, but for case and Unicode form, each
    with the number of names that it shares."""
    folded = fold_path(path).split("/")
    for entry in tree:
        shared = 0
        for ours, theirs in zip(folded, fold_path(entry.path).split("/"), strict=False):
            if ours != theirs:
                break
            shared += 1
        if shared:
            yield shared, entry.path


def _refuse_singular_twin(target: Target, entries: dict[str, TreeEntry]) -> None:
    """Refuse ``concept/x`` beside ``concepts/x`` and the reverse."""
    first, slash, rest = target.path.partition("/")
    for path in entries:
        theirs, _, other = path.partition("/")
        if slash and other == rest and canonical_type(theirs) == canonical_type(first):
            raise _refused(f"{shown(path.removesuffix('.md'))} exists — change that page, or choose another name")


def _refused(reason: str) -> InvalidArgument:
    return InvalidArgument(f"slug: {reason}", argument="slug")
