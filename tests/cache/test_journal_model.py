"""The journal against what it promises: any order of claims, answers, deaths and hours, by several gateways."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, consumes, invariant, multiple, rule

from cache.interface import Claim, Filed, Mine, Pending
from cache.model import SAME_TASK, FiledTask, TaskKind
from cache.store import SqliteStore
from tests.support.snapshots import NOW, key

GATEWAYS = 3
TEXTS = st.sampled_from(["one", "two"])


@dataclass
class Known:
    """What is to be known of a text: who holds the right to it, when something was sent, as what it was filed."""

    holder: int | None = None
    sent_at: float | None = None
    task: FiledTask | None = None


class Gateways(RuleBasedStateMachine):
    """Each gateway is a store of its own on one file; one that dies leaves its locks to the system, as a process."""

    held: Bundle[tuple[int, Mine]] = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.now = NOW
        self.stores = [self.open() for _ in range(GATEWAYS)]
        self.texts = {text: Known() for text in ("one", "two")}
        self.issues = 0

    def open(self) -> SqliteStore:
        return SqliteStore(self.folder / "cache.db", clock=lambda: self.now, on_notice=print)

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)

    def known(self, text: str) -> Known:
        """What is known of a text now: nothing of what was long ago."""
        known = self.texts[text]
        if known.task is not None and self.now - known.task.filed_at >= SAME_TASK:
            known.task = None
        if known.sent_at is not None and self.now - known.sent_at >= SAME_TASK:
            known.sent_at = None
        return known

    @rule(target=held, gateway=st.integers(0, GATEWAYS - 1), text=TEXTS)
    def claim(self, gateway: int, text: str) -> tuple[int, Mine] | MultipleResults[tuple[int, Mine]]:
        found: Claim = self.stores[gateway].claim_task(key(1), text)
        known = self.known(text)
        if known.task is not None:
            assert found == Filed(known.task)
        elif known.holder is not None:
            assert found == Pending(known.sent_at)
        else:
            assert isinstance(found, Mine)
            assert found.sent_at == known.sent_at
            known.holder = gateway
            return gateway, found
        return multiple()

    def is_live(self, gateway: int, claim: Mine) -> bool:
        return claim in self.stores[gateway]._journal._rights

    @rule(right=held)
    def send(self, right: tuple[int, Mine]) -> None:
        gateway, claim = right
        if self.is_live(gateway, claim):
            self.stores[gateway].note_sending(claim)
            self.texts[claim.digest].sent_at = self.now

    @rule(right=consumes(held))
    def settle(self, right: tuple[int, Mine]) -> None:
        gateway, claim = right
        if self.is_live(gateway, claim):
            self.issues += 1
            task = FiledTask(TaskKind.ISSUE, self.now, self.issues)
            self.stores[gateway].settle_task(claim, task)
            self.texts[claim.digest] = Known(task=task)

    @rule(right=consumes(held), refused=st.booleans())
    def release(self, right: tuple[int, Mine], refused: bool) -> None:
        gateway, claim = right
        live = self.is_live(gateway, claim)
        self.stores[gateway].release_task(claim, refused=refused)
        if live:
            sent_at = None if refused else self.known(claim.digest).sent_at
            self.texts[claim.digest] = Known(sent_at=sent_at)

    @rule(gateway=st.integers(0, GATEWAYS - 1))
    def die(self, gateway: int) -> None:
        self.stores[gateway].close()
        self.stores[gateway] = self.open()
        for known in self.texts.values():
            if known.holder == gateway:
                known.holder = None

    @rule()
    def clear(self) -> None:
        self.stores[0].clear()

    @rule(hours=st.sampled_from([1, 11, 24]))
    def wait(self, hours: int) -> None:
        self.now += hours * 3600

    @invariant()
    def nobody_holds_what_another_has(self) -> None:
        rights = [claim.digest for store in self.stores for claim in store._journal._rights]
        assert sorted(rights) == sorted(text for text, known in self.texts.items() if known.holder is not None)


TestGateways = Gateways.TestCase
TestGateways.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
