"""One look at one project: from its forge to the snapshot that the cache will hold. A thin driver.

The order of requests is the one that costs a remote forge least: the head, the ``.wiki`` subtree if it moved, STATUS
and index in one batch, one further batch for each level of sub-indexes, and the bodies that a mirror lacks.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio.to_thread

from cache.errors import KnowledgeError
from cache.interface import Store
from cache.model import (
    MAX_INDEX,
    MAX_PAGE,
    MAX_STATUS,
    Known,
    Listed,
    PageFacts,
    ProjectState,
    RepoRef,
    Snapshot,
    TextFile,
    TreeEntry,
    Wiki,
)
from sync import page as page_text
from sync.forge.base import WIKI, Absent, Answer, File, Forge, Head, Refused, TooBig
from sync.plan import SyncSettings
from sync.wiki_index import IndexMalformed, decode_index, find_index, read_wiki

BODIES_AT_ONCE = 30  # files of one read: the most that a forge answers in one batch


@dataclass(frozen=True, slots=True)
class _Bodies:
    """The bodies that a mirror of a wiki lacked, by blob sha, and the blobs whose bodies it did not lack."""

    fetched: Mapping[str, str] = field(default_factory=dict)
    held: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _WikiRead:
    """A wiki with the bodies and facts that were learned while it was read."""

    wiki: Wiki
    bodies: _Bodies
    facts: Mapping[str, PageFacts]

    @property
    def found(self) -> bool:
        return bool(self.wiki.pages) or self.wiki.index is not None or self.wiki.problem is not None


@dataclass(frozen=True, slots=True)
class Looker:
    """What every look needs: where to read, where what is known lies, and what is wanted."""

    forge: Forge
    store: Store
    settings: SyncSettings

    async def look(self, listed: Listed, known: Known | None, *, now: float) -> Snapshot:
        """Read one project whole.

        Raises the errors of :class:`sync.forge.base.Forge`, and ``StoreFailure``.
        """
        repo, fingerprint = listed.repo, self.settings.fingerprint(listed.repo.name)
        head = None if listed.empty else await self.forge.head(repo)
        if head is None:
            return Snapshot(listed, ProjectState.EMPTY, now, fingerprint, wiki=Wiki())
        mirrored = self.settings.mirrors(repo.name)
        snapshot = Snapshot(
            listed,
            ProjectState.OK,
            now,
            fingerprint,
            revision=head.commit,
            wiki_tree=head.wiki_tree,
            uncommitted=head.uncommitted,
            mirrored=mirrored,
        )
        if known is not None and _holds(known, head, fingerprint):
            status, _ = await self._status_and_index(repo, head, None)
            before = await anyio.to_thread.run_sync(self.store.project, repo.key)
            if before is not None:
                return replace(snapshot, status=status, state=before.state)
        tree = () if head.wiki_tree is None else await self.forge.wiki_tree(repo, head)
        root_index = find_index(entry.path for entry in tree if _is_file(entry))
        status, index = await self._status_and_index(repo, head, root_index)
        read = await self._read_wiki(repo, head, tree, index, mirrored=mirrored)
        return replace(
            snapshot,
            status=status,
            state=ProjectState.OK if read.found else ProjectState.NO_WIKI,
            wiki=read.wiki,
            bodies=read.bodies.fetched,
            held=read.bodies.held,
            facts=read.facts,
        )

    async def _status_and_index(
        self, repo: RepoRef, head: Head, root_index: str | None
    ) -> tuple[TextFile | None, Answer | None]:
        """The first STATUS file that there is, and the root index as the forge answered it: one batch."""
        status_paths = [path for path in self.settings.status_paths if head.may_hold(path)]
        paths = [*status_paths, *([] if root_index is None else [WIKI + root_index])]
        answers = await self.forge.read(repo, paths, ref=head.commit, limit=max(MAX_STATUS, MAX_INDEX)) if paths else ()
        statuses = (answer for answer in answers[: len(status_paths)] if isinstance(answer, File))
        return _status(statuses), None if root_index is None else answers[-1]

    async def _read_wiki(
        self, repo: RepoRef, head: Head, tree: Sequence[TreeEntry], index: Answer | None, *, mirrored: bool
    ) -> _WikiRead:
        shas = {entry.sha for entry in tree if _is_file(entry)}
        facts = dict(await anyio.to_thread.run_sync(self.store.facts, shas))
        bodies = await self._missing_bodies(repo, head, tree) if mirrored else _Bodies()
        if bodies.fetched:
            facts |= await anyio.to_thread.run_sync(_facts_of, bodies.fetched)
        root, problem = await anyio.to_thread.run_sync(_decoded, index)
        texts = {} if index is None else {index.path.removeprefix(WIKI): None if root is None else root.text}
        reading = await anyio.to_thread.run_sync(read_wiki, tree, texts, facts)
        while reading.wanted:
            paths = [WIKI + path for path in reading.wanted]
            for answer in await self.forge.read(repo, paths, ref=head.commit, limit=MAX_INDEX):
                sub_index, _ = await anyio.to_thread.run_sync(_decoded, answer)
                texts[answer.path.removeprefix(WIKI)] = None if sub_index is None else sub_index.text
            reading = await anyio.to_thread.run_sync(read_wiki, tree, texts, facts)
        wiki = Wiki(reading.pages, root, problem, reading.dead, reading.ambiguous)
        return _WikiRead(wiki, bodies, facts)

    async def _missing_bodies(self, repo: RepoRef, head: Head, tree: Sequence[TreeEntry]) -> _Bodies:
        """The texts of the pages whose blobs no project in the cache holds. What is no UTF-8 text has none."""
        paths = {entry.sha: WIKI + entry.path for entry in tree if _is_file(entry) and entry.path.endswith(".md")}
        lacking = await anyio.to_thread.run_sync(self.store.lacking, paths.keys())
        wanted = [path for sha, path in paths.items() if sha in lacking]
        bodies: dict[str, str] = {}
        for start in range(0, len(wanted), BODIES_AT_ONCE):
            chunk = wanted[start : start + BODIES_AT_ONCE]
            for answer in await self.forge.read(repo, chunk, ref=head.commit, limit=MAX_PAGE):
                if isinstance(answer, File) and (text := _text_or_none(answer)) is not None:
                    bodies[answer.sha] = text
        return _Bodies(bodies, frozenset(paths.keys() - lacking))


def _holds(known: Known, head: Head, fingerprint: str) -> bool:
    """Whether the cache already has the wiki that ``head`` shows, read as it would be read now."""
    return not known.failed and known.settings == fingerprint and known.wiki_tree == head.wiki_tree


def _is_file(entry: TreeEntry) -> bool:
    return stat.S_ISREG(entry.mode)


def _status(files: Iterable[File]) -> TextFile | None:
    """The first STATUS file, whatever its bytes: a person wrote it for people, so bad ones are shown as U+FFFD."""
    for file in files:
        return TextFile(file.path, file.sha, file.data.decode("utf-8", "replace"), file.uncommitted)
    return None


def _decoded(answer: Answer | None) -> tuple[TextFile | None, str | None]:
    """An index file's text, or why it has none (see :class:`cache.model.Wiki`)."""
    match answer:
        case None | Absent():
            return None, None
        case TooBig():
            return None, "over 1 MiB"
        case Refused(reason=reason):
            return None, reason
        case File():
            try:
                return TextFile(answer.path, answer.sha, decode_index(answer.data), answer.uncommitted), None
            except IndexMalformed as malformed:
                return None, malformed.reason


def _text_or_none(file: File) -> str | None:
    try:
        return page_text.decode(file.data, file.path)
    except KnowledgeError:
        return None


def _facts_of(bodies: Mapping[str, str]) -> dict[str, PageFacts]:
    return {sha: page_text.facts(text) for sha, text in bodies.items()}
