"""The engineering knowledge base in one folder: what the tools and the command line do with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from cache.errors import AlreadyExists, Conflict, InvalidArgument, InvalidPath, NotFound, NotUtf8, TooLarge
from cache.times import timestamp
from sync.corpora.engineering import folder, writing
from sync.corpora.engineering.catalog import Catalog, Hit
from sync.corpora.engineering.document import etag, facts_of
from sync.corpora.engineering.edit import Mode, compose, file_into, update
from sync.corpora.engineering.inbox import Entry, entries, with_entry, without
from sync.corpora.engineering.paths import INBOX, new_path
from sync.corpora.engineering.resolve import ARGUMENT, resolve
from sync.corpora.engineering.writing import Changed

ATTEMPTS: Final = 5  # at a file that others change meanwhile


@dataclass(frozen=True, slots=True)
class Topic:
    """A document as it is listed."""

    path: str
    title: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A document, whole. ``lossy``: bytes that are not UTF-8 are shown as U+FFFD in ``text``."""

    text: str
    path: str
    title: str
    tags: tuple[str, ...]
    etag: str
    lossy: bool


@dataclass(frozen=True, slots=True)
class Captured:
    """Where an entry went, and its time."""

    path: str
    timestamp: str


@dataclass(frozen=True, slots=True)
class Created:
    """A document that was made."""

    path: str
    title: str
    etag: str


@dataclass(frozen=True, slots=True)
class Updated:
    """A document that was changed; ``etag`` is its new one."""

    path: str
    etag: str
    created_section: bool


class KnowledgeBase:
    """The documents below the folder ``root``. May be used from several threads; everything blocks. ``clock`` is the
    time in seconds since the UTC epoch.

    Every method raises ``NotConfigured`` where there is no such folder, ``Denied`` and ``Unavailable`` where it cannot
    be read; those that write also where it cannot be written."""

    def __init__(self, root: Path, *, clock: Callable[[], float]) -> None:
        self._root = root
        self._clock = clock
        self._lock = threading.Lock()
        self._catalog = Catalog()

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best ``limit`` sections of documents and inbox, best first."""
        with folder.opened(self._root) as root, self._looking(root, to_search=True) as catalog:
            return catalog.search(query, limit)

    def topics(self) -> list[Topic]:
        """All documents, by path."""
        with folder.opened(self._root) as root, self._looking(root) as catalog:
            known = sorted(catalog.facts.items())
        return [Topic(path, facts.title, facts.tags) for path, facts in known if path != INBOX]

    def get(self, reference: str) -> Document:
        """The document that ``reference`` means. Raises ``InvalidPath``, ``NotFound``, ``Ambiguous``, ``TooLarge``."""
        with folder.opened(self._root) as root:
            path = self._resolve(reference, root)
            data = folder.read(root, path)
        text = data.decode("utf-8", "replace")
        facts = facts_of(text, path)
        return Document(text, path, facts.title, facts.tags, etag(data), text.encode() != data)

    def capture(self, content: str, topic: str | None) -> Captured:
        """Add an entry to the inbox. Raises ``InvalidArgument``, ``Conflict``, ``NotUtf8``, ``TooLarge``."""
        stamp = timestamp(self._clock()) or ""
        with self._writing() as root:
            self._change(root, INBOX, lambda text: with_entry(text, content, topic, stamp))
        return Captured(INBOX, stamp)

    def create(self, topic: str, title: str, content: str) -> Created:
        """Make a new document. Raises ``InvalidPath``, ``InvalidArgument``, ``AlreadyExists``, ``TooLarge``."""
        path = new_path(topic)
        text = compose(title, content)
        data = _encoded(text, path)
        with self._writing() as root:
            path = writing.put_new(root, path, data)
        return Created(path, facts_of(text, path).title, etag(data))

    def update(self, reference: str, heading: str, content: str, *, mode: Mode, expected: str | None) -> Updated:
        """Append to a section of a document, or replace its own body. ``expected`` is the etag that was read.

        Raises ``InvalidPath``, ``NotFound``, ``Ambiguous``, ``AmbiguousHeading``, ``InvalidArgument``, ``Conflict``,
        ``NotUtf8``, ``TooLarge``."""
        created = False

        def edit(text: str) -> str:
            nonlocal created
            edited = update(text, heading, content, mode)
            created = edited.created
            return edited.text

        with self._writing() as root:
            path = self._resolve(reference, root)
            _demand_document(path)
            data = self._change(root, path, edit, expected=expected)
        return Updated(path, etag(data), created)

    def inbox(self) -> tuple[Entry, ...]:
        """The entries that are not filed yet."""
        with folder.opened(self._root) as root:
            return entries(_inbox(root))

    def file(self, number: int, topic: str | None, *, heading: str | None, title: str | None) -> str:
        """Move an entry of the inbox into a section of a document, under ``heading``, or into a new one with ``title``;
        return its path. ``topic`` defaults to what the entry suggests.

        The document is written first. Who is killed in between can do the same again, and has it there once.
        Raises what :meth:`update` and :meth:`create` do."""
        with self._writing() as root:
            text = _inbox(root)
            found = entries(text)
            if not 1 <= number <= len(found):
                raise NotFound(f"the inbox has no entry {number} — it has {len(found)}")
            entry = found[number - 1]
            where = topic or entry.topic
            if where is None:
                raise InvalidArgument("the entry suggests no topic — name one with --topic", argument="topic")
            path = self._put(root, entry, where, heading, title)
            self._take_out(root, entry, path)
        return path

    def _put(self, root: int, entry: Entry, where: str, heading: str | None, title: str | None) -> str:
        match heading, title:
            case str(), None:
                path = self._resolve(where, root)
                _demand_document(path)
                self._change(root, path, lambda text: file_into(text, heading, entry.content))
                return path
            case None, str():
                path = new_path(where)
                return self._put_once(root, path, _encoded(compose(title, entry.content), path))
            case _:
                raise InvalidArgument(
                    "say where it goes: --heading for a section of a document, or --title for a new one",
                    argument="heading",
                )

    @staticmethod
    def _put_once(root: int, path: str, data: bytes) -> str:
        """Make a file, or take one for it that is the same already."""
        try:
            return writing.put_new(root, path, data)
        except AlreadyExists as error:
            if folder.read(root, error.path) != data:
                raise
            return error.path

    def _take_out(self, root: int, entry: Entry, path: str) -> None:
        """Remove ``entry``, which is at ``path`` now, from the inbox."""

        def edit(text: str) -> str:
            same = next((each for each in entries(text) if each.same_as(entry)), None)
            if same is None:
                raise Conflict(f"it is in {path} now, but {INBOX} was changed meanwhile — take it out there by hand")
            return without(text, same)

        self._change(root, INBOX, edit)

    @contextmanager
    def _looking(self, root: int, *, to_search: bool = False) -> Iterator[Catalog]:
        with self._lock:
            self._catalog.look(root, self._clock(), to_search=to_search)
            yield self._catalog

    @contextmanager
    def _writing(self) -> Iterator[int]:
        with folder.opened(self._root) as root, writing.right_to_write(root):
            yield root

    def _resolve(self, reference: str, root: int) -> str:
        with self._looking(root) as catalog:
            titles = {path: facts.title for path, facts in catalog.facts.items()}
        return resolve(reference, titles, partial(folder.obstacle, root))

    @staticmethod
    def _change(root: int, path: str, edit: Callable[[str], str], *, expected: str | None = None) -> bytes:
        """Put what ``edit`` makes of the file at ``path`` in its place, and return that; an inbox that is not there is
        made. Whoever changes the file meanwhile is not overwritten: then it is edited anew.

        Raises what ``edit`` does, and ``Conflict`` where the etag is not the one that is ``expected``."""
        for _ in range(ATTEMPTS):
            data = _read(root, path)
            if expected is not None and etag(data or b"") != expected:
                raise Conflict(f"{path} is not as you read it — read it again, and send its new etag")
            made = _encoded(edit(_decoded(data or b"", path)), path)
            try:
                if data is None:
                    writing.put_new(root, path, made)
                elif made != data:
                    writing.put_over(root, path, made, expected=data)
                return made
            except Changed:
                continue
            except AlreadyExists as error:
                if error.path != path:
                    raise
        raise Conflict(f"{path} keeps changing while it is edited — try again")


def _inbox(root: int) -> str:
    return _decoded(_read(root, INBOX) or b"", INBOX)


def _read(root: int, path: str) -> bytes | None:
    """The file at ``path``; ``None`` for an inbox that is not there. Raises what ``folder.read`` does."""
    try:
        return folder.read(root, path)
    except NotFound:
        if path == INBOX:
            return None
        raise


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotUtf8(path) from error


def _encoded(text: str, path: str) -> bytes:
    data = text.encode()
    if len(data) > folder.MAX_DOCUMENT:
        remedy = " with this entry (file some of those in it with gateway inbox)" if path == INBOX else ""
        raise TooLarge(f"{path}{remedy}", folder.MAX_DOCUMENT)
    return data


def _demand_document(path: str) -> None:
    if path == INBOX:
        raise InvalidPath(f"{ARGUMENT}: {path} is the inbox, where entries are only added", argument=ARGUMENT)
