"""One look at one project: from its forge to the snapshots that the cache will hold. A thin driver.

The order of requests is the one that costs a remote forge least: the head, the ``.wiki`` subtree if it moved, STATUS
and index in one batch, the bodies that a mirror lacks, and one further batch for each level of sub-indexes.
"""

from __future__ import annotations

import stat
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import accumulate

import anyio
import anyio.to_thread

from cache.errors import KnowledgeError, Unavailable
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
from sync.wiki_index import IndexMalformed, Reading, decode_index, find_index, read_wiki

BODIES_AT_ONCE = 30  # files of one read: the most that a forge answers in one batch
MAX_MIRRORED = 256 * 1024 * 1024  # bytes of one wiki's pages that are mirrored; others are found by what names them
LIGHT = 10_000  # files of a wiki; larger ones are looked at one after the other
PORTION = 8 * 1024 * 1024  # bytes of bodies that are in memory at once, but for a page that is larger


@dataclass(frozen=True, slots=True)
class _Lack:
    """What a mirror of a wiki lacks: the paths of pages, in the ``portions`` in which they are to be fetched. ``held``
    are the blobs whose bodies it does not lack."""

    portions: Sequence[Sequence[str]] = ((),)
    held: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Texts:
    """What a wiki's index files say, by their paths below ``.wiki/``; ``root`` and ``problem`` are those of the root
    index (see :class:`cache.model.Wiki`)."""

    root: TextFile | None
    problem: str | None
    by_path: dict[str, str | None]

    @classmethod
    def of(cls, root: Answer | None) -> _Texts:
        """With the root index, where there is one, as the forge answered it."""
        texts = cls(*_decoded(root), {})
        if root is not None:
            texts.by_path[root.path.removeprefix(WIKI)] = None if texts.root is None else texts.root.text
        return texts

    def add(self, answer: Answer) -> None:
        file, _ = _decoded(answer)
        self.by_path[answer.path.removeprefix(WIKI)] = None if file is None else file.text


@dataclass(frozen=True, slots=True)
class _Commit:
    """Reads what belongs to one snapshot: files of the commit that ``head`` is. ``tree`` are those that are known to be
    in it, by their paths from the repository's root."""

    forge: Forge
    repo: RepoRef
    head: Head
    tree: Mapping[str, TreeEntry]

    async def read(self, paths: Sequence[str], *, limit: int) -> tuple[Answer, ...]:
        """As :meth:`sync.forge.base.Forge.read`, and raises ``Unavailable`` where that is not what the tree shows: an
        older forge answers for its default branch when the commit is gone."""
        answers = await self.forge.read(self.repo, paths, ref=self.head.commit, limit=limit) if paths else ()
        for answer in answers:
            if (entry := self.tree.get(answer.path)) is not None and _contradicts(answer, entry):
                raise Unavailable(f"{self.repo.name} changed while it was read", host=self.forge.host)
        return answers


def _contradicts(answer: Answer, entry: TreeEntry) -> bool:
    """Whether ``answer`` cannot be of the commit that has ``entry``. (A working tree may be written at any time. A sha
    of another length was computed here, where the forge did not tell it.)"""
    if not isinstance(answer, File):
        return isinstance(answer, Absent)
    is_of_commit = not (entry.uncommitted or answer.uncommitted) and len(answer.sha) == len(entry.sha)
    return is_of_commit and answer.sha != entry.sha


def _is_wiki(wiki: Wiki) -> bool:
    return bool(wiki.pages) or wiki.index is not None or wiki.problem is not None


@dataclass(frozen=True, slots=True)
class Looker:
    """What every look needs: where to read, where what is known lies, and what is wanted."""

    forge: Forge
    store: Store
    settings: SyncSettings
    _heavy: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(1))

    async def look(self, listed: Listed, known: Known | None, *, now: float) -> AsyncGenerator[Snapshot, None]:
        """Read one project whole: one snapshot, or several of one moment where a mirror lacks much, all but the last
        ``partial``. Each is to be committed before the next is asked for, so that memory does not grow with the wiki.

        Raises the errors of :class:`sync.forge.base.Forge`, and ``StoreFailure``.
        """
        repo, fingerprint = listed.repo, self.settings.fingerprint(listed.repo.name)
        head = None if listed.empty else await self.forge.head(repo)
        if head is None:
            yield Snapshot(listed, ProjectState.EMPTY, now, fingerprint, wiki=Wiki())
            return
        snapshot = Snapshot(
            listed,
            ProjectState.OK,
            now,
            fingerprint,
            revision=head.commit,
            wiki_tree=head.wiki_tree,
            uncommitted=head.uncommitted,
            mirrored=self.settings.mirrors(repo.name),
        )
        if known is not None and _holds(known, head, fingerprint):
            status, _ = await self._status_and_index(_Commit(self.forge, repo, head, {}), None)
            before = await anyio.to_thread.run_sync(self.store.project, repo.key)
            if before is not None:
                yield replace(snapshot, status=status, state=before.state)
                return
        tree = () if head.wiki_tree is None else await self.forge.wiki_tree(repo, head)
        async with (
            self._heavy if len(tree) > LIGHT else nullcontext(),
            aclosing(self._look_at_wiki(snapshot, head, tree)) as snapshots,
        ):
            async for each in snapshots:
                yield each

    async def _look_at_wiki(
        self, snapshot: Snapshot, head: Head, tree: Sequence[TreeEntry]
    ) -> AsyncGenerator[Snapshot, None]:
        files = {WIKI + entry.path: entry for entry in tree if _is_file(entry)}
        commit = _Commit(self.forge, snapshot.listed.repo, head, files)
        root_index = find_index(entry.path for entry in files.values())
        status, index = await self._status_and_index(commit, root_index)
        if not tree:
            yield replace(snapshot, status=status, state=ProjectState.NO_WIKI, wiki=Wiki())
            return
        lack = await self._lack(tree, root_index) if snapshot.mirrored else _Lack()
        # After that: a body that another look brings in between is not fetched, so its facts must be among these.
        is_whole = not any(lack.portions)  # no body that is still to come can say anything of its page
        texts, facts, reading = await anyio.to_thread.run_sync(self._known, tree, index, is_whole)
        for number, paths in enumerate(lack.portions, 1):
            bodies = await _bodies(commit, paths)
            if bodies:
                facts |= await anyio.to_thread.run_sync(_facts_of, bodies)
            if number in {1, len(lack.portions)}:
                wiki = await _read_wiki(commit, tree, texts, facts, reading)
            yield replace(
                snapshot,
                status=status,
                state=ProjectState.OK if _is_wiki(wiki) else ProjectState.NO_WIKI,
                wiki=wiki,
                bodies=bodies,
                held=lack.held,
                facts=facts,
                partial=number < len(lack.portions),
            )

    async def _status_and_index(self, commit: _Commit, root_index: str | None) -> tuple[TextFile | None, Answer | None]:
        """The first STATUS file that there is, and the root index as the forge answered it: one batch."""
        status_paths = [path for path in self.settings.status_paths if commit.head.may_hold(path)]
        paths = [*status_paths, *([] if root_index is None else [WIKI + root_index])]
        answers = await commit.read(paths, limit=max(MAX_STATUS, MAX_INDEX))
        statuses = (answer for answer in answers[: len(status_paths)] if isinstance(answer, File))
        return _status(statuses), None if root_index is None else answers[-1]

    def _known(
        self, tree: Sequence[TreeEntry], index: Answer | None, is_whole: bool
    ) -> tuple[_Texts, dict[str, PageFacts], Reading | None]:
        """The root index, what the cache knows of the bodies in the tree, and if that ``is_whole`` the wiki as they
        show it: in one thread, since to begin one takes longer than to read most wikis."""
        texts = _Texts.of(index)
        facts = dict(self.store.facts({entry.sha for entry in tree if _is_file(entry)}))
        return texts, facts, read_wiki(tree, texts.by_path, facts) if is_whole else None

    async def _lack(self, tree: Sequence[TreeEntry], root_index: str | None) -> _Lack:
        """The pages, up to a bound for all together, whose bodies the cache holds for no project."""
        files = [entry for entry in tree if _is_file(entry) and entry.path.endswith(".md")]
        pages = [entry for entry in files if entry.path != root_index and entry.size <= MAX_PAGE]
        ends = accumulate(entry.size for entry in pages)
        mirrored = {entry.sha: entry for entry, end in zip(pages, ends, strict=True) if end <= MAX_MIRRORED}
        lacking = await anyio.to_thread.run_sync(self.store.lacking, mirrored.keys())
        wanted = [entry for sha, entry in mirrored.items() if sha in lacking]
        return _Lack(_portions(wanted) or [()], frozenset(mirrored.keys() - lacking))


async def _read_wiki(
    commit: _Commit,
    tree: Sequence[TreeEntry],
    texts: _Texts,
    facts: Mapping[str, PageFacts],
    reading: Reading | None,
) -> Wiki:
    """The wiki, with the sub-indexes that ``reading`` it as far as it is known shows to be wanted."""
    if reading is None:
        reading = await anyio.to_thread.run_sync(read_wiki, tree, texts.by_path, facts)
    while reading.wanted:
        paths = [WIKI + path for path in reading.wanted]
        for answer in await commit.read(paths, limit=MAX_INDEX):
            await anyio.to_thread.run_sync(texts.add, answer)
        reading = await anyio.to_thread.run_sync(read_wiki, tree, texts.by_path, facts)
    return Wiki(reading.pages, texts.root, texts.problem, reading.dead, reading.ambiguous)


async def read_written(
    forge: Forge,
    repo: RepoRef,
    commit: str,
    tree: Sequence[TreeEntry],
    index: File | None,
    facts: Mapping[str, PageFacts],
) -> Wiki:
    """The wiki at a ``commit`` of which the ``tree`` and the root ``index`` are known, as after a write of ours.

    Raises the errors of :class:`sync.forge.base.Forge`."""
    files = {WIKI + entry.path: entry for entry in tree if _is_file(entry)}
    texts = await anyio.to_thread.run_sync(_Texts.of, index)
    return await _read_wiki(_Commit(forge, repo, Head(commit, None), files), tree, texts, facts, None)


async def _bodies(commit: _Commit, paths: Sequence[str]) -> dict[str, str]:
    """The texts of these pages by blob sha. What is no UTF-8 text has none."""
    bodies: dict[str, str] = {}
    for start in range(0, len(paths), BODIES_AT_ONCE):
        chunk = paths[start : start + BODIES_AT_ONCE]
        for answer in await commit.read(chunk, limit=MAX_PAGE):
            if isinstance(answer, File) and (text := _text_or_none(answer)) is not None:
                bodies[answer.sha] = text
    return bodies


def _portions(entries: Iterable[TreeEntry]) -> list[Sequence[str]]:
    """The paths of these pages, in portions of not much memory."""
    portions: list[list[str]] = []
    room = 0
    for entry in entries:
        if not portions or entry.size > room:
            portions.append([])
            room = PORTION
        portions[-1].append(WIKI + entry.path)
        room -= entry.size
    return [*portions]


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
