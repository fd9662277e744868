"""Reads files in the cheapest way that a forge offers: batches, asked for by GET, which a token that may only read is
enough for, or by POST where the paths make too long an address; else one by one. A thin driver.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from http import HTTPStatus

from cache.errors import NotFound, TooLarge, Unavailable
from cache.model import Listed
from sync.concurrency import all_of
from sync.forge.base import Absent, Answer, TooBig
from sync.forge.gitea import calls, protocol
from sync.forge.gitea.failures import NO_TREE, NoRoute, ScopeMissing
from sync.forge.gitea.protocol import NotModified, Unread
from sync.forge.gitea.session import Session

MAX_URL = 4000  # bytes of path and query: what every proxy lets through


class _Way(Enum):
    """How many files are read. Each one is tried until it turns out not to be there."""

    BATCHES = auto()
    SHORT_BATCHES = auto()
    ONE_BY_ONE = auto()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What all files of one read have in common: the repository's ``name``, the commit (``None``: as it is now) and
    the most bytes of each."""

    name: str
    ref: str | None
    limit: int


class FileReader:
    """Reads files through ``session``. ``find`` looks a repository up, to tell why nothing is there."""

    def __init__(self, session: Session, find: Callable[[str], Awaitable[Listed]]) -> None:
        self._session = session
        self._find = find
        self._way = _Way.BATCHES

    async def read(self, wanted: Wanted, paths: Sequence[str]) -> list[Answer]:
        """The files at ``paths``, of which there is at least one, in that order.

        Raises the errors of :meth:`sync.forge.base.Forge.read`.
        """
        # Of one file alone the bytes cost less; but only a batch tells when the commit is gone.
        if self._way is _Way.ONE_BY_ONE or (len(paths) == 1 and wanted.ref is None):
            return await self._one_by_one(wanted, paths)
        chunks = [paths[start : start + calls.FILES_AT_ONCE] for start in range(0, len(paths), calls.FILES_AT_ONCE)]
        try:
            parts = await all_of([partial(self._chunk, wanted, chunk) for chunk in chunks])
        except NoRoute as missing:  # an older forge, unless nothing else can be read either
            answers = await self._one_by_one(wanted, paths)
            self._way = _Way.ONE_BY_ONE if missing.lasting else self._way
            return answers
        except NotFound:
            listed = await self._find(wanted.name)
            if wanted.ref is not None and not listed.empty:
                raise self._no_commit(wanted.name, wanted.ref) from None
            return [Absent(path) for path in paths]
        return [answer for part in parts for answer in part]

    async def one(self, wanted: Wanted, path: str, *, known: str | None = None) -> Answer | NotModified | None:
        """One file's bytes, ``None`` if the forge finds nothing: no such file, or no such repository."""
        call = calls.raw(wanted.name, path, ref=wanted.ref, limit=wanted.limit, known=known)
        try:
            return protocol.raw(await self._session.send(call), self._session.site, path)
        except TooLarge:
            return TooBig(path, wanted.limit)
        except NotFound:
            return None

    async def _one_by_one(self, wanted: Wanted, paths: Sequence[str]) -> list[Answer]:
        found = await all_of([partial(self.one, wanted, path) for path in paths], at_once=self._session.share)
        if not any(found):
            await self._explain(wanted)
        return [
            Absent(path) if answer is None or isinstance(answer, NotModified) else answer
            for path, answer in zip(paths, found, strict=True)
        ]

    async def _explain(self, wanted: Wanted) -> None:
        """Raise what it is that nothing was found for, if it is not that these files are missing: of a commit that is
        gone a forge answers as of its default branch."""
        listed = await self._find(wanted.name)
        if wanted.ref is None or listed.empty:
            return
        response = await self._session.send(calls.tree(wanted.name, wanted.ref))
        if response.status in NO_TREE:
            raise self._no_commit(wanted.name, wanted.ref)

    def _no_commit(self, name: str, ref: str) -> Unavailable:
        return Unavailable(f"{name} has no commit {ref[:10]} any more", host=self._session.site.host)

    async def _chunk(self, wanted: Wanted, paths: Sequence[str]) -> list[Answer]:
        """The files at ``paths`` by as many batches as it takes: an answer may stop short anywhere."""
        answers: list[Answer] = []
        while rest := paths[len(answers) :]:
            batch = await self._batch(wanted, rest)
            if not batch:
                return answers + await self._one_by_one(wanted, rest)
            big = [entry.path for entry in batch if isinstance(entry, Unread)]
            whole = dict(zip(big, await self._one_by_one(wanted, big), strict=True)) if big else {}
            answers += [whole[entry.path] if isinstance(entry, Unread) else entry for entry in batch]
        return answers

    async def _batch(self, wanted: Wanted, paths: Sequence[str]) -> tuple[Answer | Unread, ...]:
        """What the forge tells of the first of ``paths``."""
        call = calls.file_contents(wanted.name, paths, ref=wanted.ref, by_get=True)
        fewer = paths[: len(paths) // 2]
        if len(call.target) > MAX_URL:
            if self._way is _Way.BATCHES:
                call = calls.file_contents(wanted.name, paths, ref=wanted.ref)
            elif fewer:
                return await self._batch(wanted, fewer)
        try:
            response = await self._session.send(call)
            if response.status == HTTPStatus.REQUEST_URI_TOO_LONG and fewer:
                return await self._batch(wanted, fewer)
            return await self._session.parse(response, partial(protocol.file_contents, paths=paths, limit=wanted.limit))
        except TooLarge:
            return await self._batch(wanted, fewer) if fewer else (Unread(paths[0]),)
        except ScopeMissing:
            if call.method == "GET":
                raise
            self._way = _Way.SHORT_BATCHES
            return await self._batch(wanted, paths)
