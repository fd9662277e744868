"""Whatever happens in whatever order: no write that was accepted is lost, none is made twice, none goes over what its
caller has not read, and the index lists each page once.

Two gateways that share a cache write the pages of one wiki, of which others change pages and index at the same time:
before a write arrives, or just after it. Answers get lost, requests come late, the forge is busy or cannot be read. The
commits of the repository tell what came of it.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from cache.errors import Conflict, Denied, KnowledgeError, Unavailable
from cache.model import Project
from cache.store import SqliteStore
from gateway.answers import IngestAnswer
from gateway.ingest import Ingester, IngestRequest
from gateway.naming import Names
from gateway.write_policy import WritePolicy
from sync.forge.blobs import blob_sha
from sync.plan import SyncSettings
from sync.proposal_branch import branch_name
from sync.worker import sync_forge
from tests.fake_gitea.objects import Commit, Identity
from tests.support.gitea_client import fake_forge
from tests.support.gitea_fleet import Clock
from tests.support.history import before, blobs, by, lost_lines, making
from tests.support.ingesting import WIKI
from tests.support.wire import Fate, Turn, Wire

SLUGS: Final = ("concepts/one", "concepts/keys", "packages/core", "raw/log")
BOB: Final = Identity("Bob", "bob@example.test")
HARMLESS: Final = frozenset({"note", "reword", "elsewhere", "ingest"})
LOST: Final = frozenset({"done", "undone", "late", "bad gateway"})

Deed = Literal["note", "reword", "page", "both", "removal", "elsewhere", "ingest", "same ingest"]


@dataclass(frozen=True)
class Blow:
    """What happens to one write, by whom."""

    fate: Fate
    before: Deed | None = None
    after: Deed | None = None
    blind: bool = False


PUSHES: Final[st.SearchStrategy[Deed]] = st.sampled_from(("note", "reword", "page", "both", "removal", "elsewhere"))
DEEDS: Final[st.SearchStrategy[Deed | None]] = st.none() | PUSHES | st.sampled_from(("ingest", "same ingest"))
LOSSES: Final[st.SearchStrategy[Fate]] = st.sampled_from(("done", "done", "undone", "late", "bad gateway"))
FATES: Final[st.SearchStrategy[Fate]] = LOSSES | st.sampled_from(("answered", "answered", "busy"))
BLOWS: Final = st.builds(Blow, FATES, st.none() | DEEDS, DEEDS, st.integers(0, 9).map(lambda number: number == 9))


@dataclass
class Told:
    """What was asked of a gateway, and what it told: an answer, or an error."""

    slug: str
    text: bytes
    expected: str | None
    blows: list[Blow]
    answer: IngestAnswer | None = None
    error: KnowledgeError | None = None

    @property
    def is_uncertain(self) -> bool:
        return any(blow.fate in LOST for blow in self.blows)

    @property
    def is_bearable(self) -> bool:
        """Whether what happened must not keep the page from being written: the page itself was left alone, and that
        not too often."""
        deeds = [deed for blow in self.blows for deed in (blow.before, blow.after) if deed is not None]
        refused = any(blow.fate == "busy" or blow.blind for blow in self.blows)
        return not refused and len(self.blows) < 3 and all(deed in HARMLESS for deed in deeds)


@dataclass
class Model:
    """What has to be there: by the unique words that everybody writes."""

    told: list[Told] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)
    words: int = 0

    def word(self) -> str:
        self.words += 1
        return f"w{self.words}w"


class Wikis(RuleBasedStateMachine):
    """The wiki ``acme/web`` and who writes to it."""

    @initialize(protected=st.booleans(), begun=st.sets(st.sampled_from(SLUGS)))
    def begin(self, protected: bool, begun: set[str]) -> None:
        self.stack = ExitStack()
        folder = self.stack.enter_context(TemporaryDirectory())
        self.runner = self.stack.enter_context(asyncio.Runner())
        self.forge = fake_forge()
        self.repo = self.forge.add_repo("acme/web", WIKI)
        self.clock = Clock()
        self.store = SqliteStore(Path(folder) / "cache.db", clock=self.clock, on_notice=print)
        self.stack.callback(self.store.close)
        self.wires = [Wire(self.forge), Wire(self.forge)]
        self.gateways = [self._gateway(wire) for wire in self.wires]
        self.model = Model()
        self.sync()
        self.protect(protected)
        for slug in sorted(begun):
            self.begin_a_branch(slug, 1)

    def _gateway(self, wire: Wire) -> Ingester:
        client = wire.client()
        return Ingester(self.store, {"main": client}, Names(("main",)), WritePolicy(), self.clock, 20.0)

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.stack.close()

    @rule()
    def sync(self) -> None:
        self.clock.now += 60
        client = self.gateways[0].forges["main"]
        report = self.runner.run(sync_forge(client, self.store, SyncSettings(), clock=self.clock))
        assert report.complete

    @rule(protected=st.booleans())
    def protect(self, protected: bool) -> None:
        self.repo.protect(pushers=[] if protected else ["alice"])

    @rule()
    def reject(self) -> None:
        """Somebody closes the newest pull request and leaves its branch."""
        for issue, _ in self.repo.open_pulls()[:1]:
            issue.closed = self.forge.clock.now

    @rule(slug=st.sampled_from(SLUGS), number=st.integers(1, 2))
    def begin_a_branch(self, slug: str, number: int) -> None:
        """Somebody works on what could be a proposal's branch."""
        self.repo.commit(
            {f".wiki/{slug}.md": f"# Bob's\n\n{self.model.word()}\n"}, branch=branch_name(slug, number), author=BOB
        )

    @rule(deed=PUSHES, slug=st.sampled_from(SLUGS))
    def push(self, deed: Deed, slug: str) -> None:
        """Somebody else changes page or index."""
        self.runner.run(self._push(deed, slug))

    @rule(slug=st.sampled_from(SLUGS), gateway=st.integers(0, 1), blows=st.lists(BLOWS, max_size=4))
    def ingest(self, slug: str, gateway: int, blows: list[Blow]) -> None:
        """A caller writes a page as they have read it."""
        self._ingest_and_check(slug, self._revision(slug), gateway, blows)

    @rule(slug=st.sampled_from(SLUGS), gateway=st.integers(0, 1), fate=LOSSES, deed=PUSHES)
    def ingest_and_hear_nothing(self, slug: str, gateway: int, fate: Fate, deed: Deed) -> None:
        """The same, but the answer gets lost, and somebody pushes before the gateway looks."""
        self._ingest_and_check(slug, self._revision(slug), gateway, [Blow(fate, after=deed)])

    @rule(slug=st.sampled_from(SLUGS), gateway=st.integers(0, 1), expected=st.sampled_from((None, blob_sha(b"old"))))
    def ingest_unread(self, slug: str, gateway: int, expected: str | None) -> None:
        """A caller writes a page that they have not read, or not lately."""
        self._ingest_and_check(slug, expected, gateway, [])

    def _ingest_and_check(self, slug: str, expected: str | None, gateway: int, blows: list[Blow]) -> None:
        is_proposed = any(branch.endswith(slug) for branch in self.repo.branches)
        may_write = expected == self._revision(slug) and not is_proposed
        told = self.runner.run(self._ingest(slug, expected, gateway, blows))
        self._check(told, may_write=may_write)

    @rule(gateway=st.integers(0, 1))
    def again(self, gateway: int) -> None:
        """The last caller whose page still stands sends the same again: nothing comes of it."""
        for told in reversed(self.model.told):
            is_listed = f"[Page]({told.slug}.md)" in self._index()
            if told.answer is not None and is_listed and self._revision(told.slug) == blob_sha(told.text):
                commits = len(self.repo.objects.commits)
                again = self.runner.run(self._send(told.slug, told.text, told.expected, gateway))
                assert (again.revision, again.created, again.commit) == (blob_sha(told.text), False, None)
                assert len(self.repo.objects.commits) == commits
                return

    async def _ingest(self, slug: str, expected: str | None, gateway: int, blows: list[Blow]) -> Told:
        told = Told(slug, self._text(), expected, blows)
        self.model.told.append(told)
        wire = self.wires[gateway]
        wire.turns = [
            Turn(blow.fate, self._deed(blow.before, slug, gateway), self._deed(blow.after, slug, gateway), blow.blind)
            for blow in blows
        ]
        try:
            told.answer = await self._send(slug, told.text, expected, gateway)
        except KnowledgeError as error:
            told.error = error
        wire.turns, wire.blind = [], False
        await wire.settle()
        return told

    def _text(self) -> bytes:
        return f"# Page\n\nBy a caller: {self.model.word()}\n".encode()

    async def _send(self, slug: str, text: bytes, expected: str | None, gateway: int) -> IngestAnswer:
        request = IngestRequest(slug, "Page", text.decode(), expected_revision=expected)
        return await self.gateways[gateway].ingest(self._project(), request)

    def _project(self) -> Project:
        (project,) = self.store.resolve("acme/web").projects
        return project

    def _deed(self, deed: Deed | None, slug: str, gateway: int) -> Callable[[], Awaitable[None]] | None:
        if deed is None:
            return None
        if deed in {"ingest", "same ingest"}:
            other = slug if deed == "same ingest" else f"concepts/{self.model.word()}"

            async def ingest() -> None:
                await self._ingest(other, self._revision(other), 1 - gateway, [])

            return ingest
        return lambda: self._push(deed, slug)

    async def _push(self, deed: Deed, slug: str) -> None:
        """Push a commit of Bob's."""
        word, link = self.model.word(), f"- [Page]({slug}.md)"
        files: dict[str, str | None] = {"README.md": word}
        index = self._index()
        if deed in {"page", "both"}:
            files[f".wiki/{slug}.md"] = f"# Page\n\nBy Bob: {word}\n"
            if not self._listed()[slug]:
                index += f"\n## {slug.partition('/')[0].title()}\n\n{link}\n"
        if deed in {"note", "both"}:
            self.model.notes.add(word)
            index += f"- a note: {word}\n"
        if deed == "reword":
            index = re.sub(rf"\[.*\]\({slug}\.md\)", f"[Page {word}]({slug}.md)", index)
        if deed == "removal":
            files[f".wiki/{slug}.md"] = None
            index = "".join(line for line in index.splitlines(keepends=True) if f"]({slug}.md)" not in line)
        self.repo.commit({**files, ".wiki/index.md": index}, author=BOB)

    def _index(self) -> str:
        return (self.repo.read(".wiki/index.md") or b"").decode()

    def _revision(self, slug: str, branch: str | None = None) -> str | None:
        data = self.repo.read(f".wiki/{slug}.md", branch)
        return None if data is None else blob_sha(data)

    def _listed(self, branch: str | None = None) -> Counter[str]:
        """How often the index links to each page."""
        index = (self.repo.read(".wiki/index.md", branch) or b"").decode()
        return Counter({slug: index.count(f"({slug}.md)") for slug in self._slugs(branch)})

    def _slugs(self, branch: str | None = None) -> list[str]:
        tip = self.repo.tip(branch)
        assert tip is not None
        paths = (path.removeprefix(".wiki/") for path in tip.snapshot.files if path.startswith(".wiki/"))
        return [path.removesuffix(".md") for path in paths if path != "index.md"]

    def _check(self, told: Told, *, may_write: bool) -> None:
        """What is answered is what came of it. ``may_write``: the caller has read the page, and nobody proposes it."""
        made = self._made(told)
        if told.answer is None:
            assert isinstance(told.error, Conflict | Unavailable | Denied), told.error
            assert made == [] or told.is_uncertain or self.repo.branches["main"] != made[0].sha  # not proposed yet
            assert not (may_write and told.is_bearable)
            return
        assert len(made) == 1
        assert told.answer.created == (told.expected is None)
        assert told.answer.revision == blob_sha(told.text)
        assert told.answer.commit in {None, made[0].sha}
        if not told.blows and told.answer.pull_request is None:
            known = self.store.page(self._project().key, told.slug)
            assert known is not None
            assert known.sha == told.answer.revision
        if told.answer.pull_request is not None:
            pull = self.repo.issues[told.answer.pull_request.number].pull
            assert pull is not None
            assert self._revision(told.slug, pull.head) == told.answer.revision
            assert self._listed(pull.head)[told.slug] == 1

    def _made(self, told: Told) -> list[Commit]:
        """The commits that made the page what the caller wanted."""
        return making(self.repo, f".wiki/{told.slug}.md", blob_sha(told.text))

    @invariant()
    def nothing_is_written_twice(self) -> None:
        assert all(len(self._made(told)) <= 1 for told in self.model.told)

    @invariant()
    def nothing_is_written_over_what_the_caller_has_not_read(self) -> None:
        for told in self.model.told:
            for commit in self._made(told):
                assert blobs(self.repo, commit, f".wiki/{told.slug}.md")[0] == told.expected

    @invariant()
    def nobodys_line_is_lost(self) -> None:
        for commit in by(self.repo, "alice"):
            own = f"]({commit.message.split()[-1]}.md)"
            assert all(own in line for line in lost_lines(self.repo, commit, ".wiki/index.md"))
        assert all(self._index().count(word) == 1 for word in self.model.notes)

    @invariant()
    def each_page_is_listed_once(self) -> None:
        assert all(times == 1 for times in self._listed().values())

    @invariant()
    def nothing_but_one_page_and_the_index_is_touched(self) -> None:
        for commit in by(self.repo, "alice"):
            old, new = before(self.repo, commit), commit.snapshot.files
            changed = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
            assert changed <= {f".wiki/{commit.message.split()[-1]}.md", ".wiki/index.md"}


TestWikis = Wikis.TestCase
TestWikis.settings = settings(max_examples=25, stateful_step_count=10, deadline=None)


@pytest.mark.full
def test_for_long() -> None:
    run_state_machine_as_test(Wikis, settings=settings(max_examples=500, stateful_step_count=20, deadline=None))
