"""A SwarmKit checkout as the tools of toolset ``swarmkit`` see it. Only read; always what is there now."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from cache.errors import InvalidArgument, NotFound, NotUtf8, TooLarge, Unavailable, shown
from cache.search.query import Query, fold
from cache.search.snippet import snippet
from cache.suggest import near
from sync.corpora.stamps import below
from sync.corpora.swarmkit import front_matter
from sync.corpora.swarmkit.documents import Documents
from sync.corpora.swarmkit.error_reference import Lookup, Reference, Sources
from sync.corpora.swarmkit.layout import NOTES, PACKAGES, SCHEMAS, is_source, kind_of, schema_name
from sync.corpora.swarmkit.reading import Note, Skill
from sync.corpora.swarmkit.validation import Validator

MAX_FILE: Final = 4 * 1024 * 1024  # bytes of a note or a schema that is returned


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that answers a query."""

    path: str
    heading: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class NotePage:
    """A design note: what its front matter says, and all that follows it."""

    slug: str
    path: str
    frontmatter: Mapping[str, Any]
    content: str


class Corpus:
    """The checkout in the folder ``root``. May be used from several threads; everything blocks.

    ``clock`` is the time in seconds since the epoch. Where callers are not the user of this machine, ``anywhere`` is
    false, and only workspaces inside of the checkout are looked at."""

    def __init__(self, root: Path, validator: Validator, *, clock: Callable[[], float], anywhere: bool = True) -> None:
        self._root = root.resolve()
        self._validator = validator
        self._clock = clock
        self._anywhere = anywhere
        self._lock = threading.Lock()
        self._documents = Documents(self._root, clock)
        own = Sources(self._root, PACKAGES, is_source, clock)
        self._errors = Lookup((own.references, self._installed), self._documents.mentions)

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best ``limit`` sections of all documents, best first."""
        parsed = Query.parse(query)
        with self._lock:
            found = self._documents.search(parsed, limit)
        return [
            Hit(
                one.section.path,
                one.section.heading or one.section.title,
                snippet(one.section.text, parsed, fallback=one.section.text),
                round(one.score, 4),
            )
            for one in found
        ]

    def schemas(self) -> list[str]:
        """The names of the schemas that there are."""
        return sorted(self._schemas())

    def schema(self, name: str) -> dict[str, Any]:
        """The JSON Schema of that name; what is below ``protocol/`` has its last part for a name too.

        Raises ``NotFound``, ``Unavailable`` for a file that is no JSON object."""
        known = self._schemas()
        wanted = fold(name).removesuffix(".json").removesuffix(".schema").replace("_", "-")
        fitting = [known[one] for one in known if wanted in (one, one.rpartition("/")[2])]
        path = known.get(wanted) or (fitting[0] if len(fitting) == 1 else None)
        if path is None:
            raise NotFound(f"no schema: {shown(name)} — one of: {', '.join(sorted(known)) or 'none'}")
        try:
            found = json.loads(self._read(path))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unavailable(f"{path} is not a JSON object — mend it")
        return found

    def _schemas(self) -> dict[str, str]:
        return {schema_name(path): path for path, _ in below(self._root, SCHEMAS[:-1], kind_of)}

    def note(self, slug: str) -> NotePage:
        """A design note, whole. ``.md`` and the folder may stand in ``slug``.

        Raises ``NotFound`` with near slugs, ``InvalidArgument``, ``NotUtf8``, ``TooLarge``."""
        with self._lock:
            known = {note.slug: note.path for note in self._documents.notes()}
        wanted = slug.removeprefix("/").removeprefix(NOTES).removesuffix(".md")
        if wanted not in known:
            if ".." in wanted.split("/") or kind_of(f"{NOTES}{wanted}.md") is None:
                raise InvalidArgument(f"not a design note: {shown(slug)}", argument="slug")
            raise NotFound(f"no design note: {shown(slug)}", suggestions=near(wanted, known))
        path = known[wanted]
        try:
            text = self._read(path).decode("utf-8")
        except UnicodeDecodeError:
            raise NotUtf8(path) from None
        written, body = front_matter.split(text)
        return NotePage(wanted, path, front_matter.fields(written), text[body:])

    def notes(self, tag: str | None) -> list[Note]:
        """The design notes that lie directly in their folder, all or those with ``tag``."""
        with self._lock:
            known = [note for note in self._documents.notes() if "/" not in note.slug]
        wanted = None if tag is None else fold(tag.strip().removeprefix("#"))
        return [note for note in known if wanted is None or wanted in map(fold, note.tags)]

    def skills(self) -> list[Skill]:
        """The reference skills; one that cannot be read says so in its place."""
        with self._lock:
            return self._documents.skills()

    def error(self, code: str) -> Reference:
        """What an error code means. Raises ``NotFound`` with near codes."""
        with self._lock:
            return self._errors.find(code)

    def _installed(self) -> Mapping[str, Reference]:
        return {} if self._installed_sources is None else self._installed_sources.references()

    @cached_property
    def _installed_sources(self) -> Sources | None:
        folder = self._validator.sources()
        return None if folder is None else Sources(folder.parent, folder.name, _is_python, self._clock)

    def validate(self, path: str) -> dict[str, Any]:
        """What is in a workspace and what is wrong with it, as the tool contract has it.

        Raises ``InvalidArgument``, ``NotFound``, and what :meth:`Validator.check` raises."""
        return self._validator.check(self._workspace(path), self._root / SCHEMAS)

    def _workspace(self, path: str) -> Path:
        """The folder that ``path`` names: from the checkout and inside of it, or absolute."""
        try:
            folder = (self._root / path).resolve()
            inside = folder.is_relative_to(self._root)
            if not inside and not (self._anywhere and Path(path).is_absolute()):
                raise InvalidArgument(
                    f"{shown(path)} leaves the checkout" + (" — name it by its whole path" if self._anywhere else ""),
                    argument="path",
                )
            if folder.is_dir():
                return folder
        except (OSError, ValueError, RuntimeError):  # too long a name, a loop of links
            pass
        raise NotFound(f"no workspace folder: {shown(path)}")

    def _read(self, path: str) -> bytes:
        try:
            with (self._root / path).open("rb") as file:
                data = file.read(MAX_FILE + 1)
        except OSError as error:
            raise Unavailable(f"cannot read {path}: {error.strerror}") from None
        if len(data) > MAX_FILE:
            raise TooLarge(path, MAX_FILE)
        return data

    def close(self) -> None:
        self._validator.close()


def _is_python(path: str) -> bool:
    return path.endswith(".py")
