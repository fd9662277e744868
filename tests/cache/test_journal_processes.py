"""Processes that file the same texts at once on one cache file, and are killed at it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from cache.interface import Mine
from tests.cache.conftest import OpenStore
from tests.support.snapshots import NOW, key

TEXTS = [f"text-{number}" for number in range(60)]

# The forge is a file of which each line is an issue: its digest. What is in it when a process dies has been filed.
WORK = """
import os, sys, time
from pathlib import Path
from cache.interface import Filed, Mine
from cache.model import FiledTask, ProjectKey, TaskKind
from cache.store import SqliteStore

cache, forge, diary, *texts = sys.argv[1:]
store = SqliteStore(Path(cache), on_notice=lambda notice: sys.exit(notice.message))

def append(path, line):
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode() + b"\\n")
    os.close(file)

def number_of(text):
    issues = Path(forge).read_text().split() if Path(forge).exists() else []
    return issues.index(text) + 1 if text in issues else None

for text in texts:
    while not isinstance(claim := store.claim_task(ProjectKey("git", 1), text), Filed):
        if not isinstance(claim, Mine):
            time.sleep(0.001)
            continue
        append(diary, f"{os.getpid()} enters {text}")
        if number_of(text) is None:
            store.note_sending(claim)
            append(forge, text)
        append(diary, f"{os.getpid()} leaves {text}")
        store.settle_task(claim, FiledTask(TaskKind.ISSUE, time.time(), number_of(text)))
    print(claim.task.number)
"""


class Workshop:
    """A cache, a forge and a diary in one folder, and the processes that use them."""

    def __init__(self, cache: Path) -> None:
        self.cache, self.forge, self.diary = cache, cache.with_name("forge"), cache.with_name("diary")
        self.killed: set[str] = set()

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WORK, str(self.cache), str(self.forge), str(self.diary), *TEXTS]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.communicate()
        self.killed.add(str(process.pid))

    def wait_for(self, lines: int) -> None:
        """Until so much was written into the diary."""
        until = time.monotonic() + 60
        while not self.diary.exists() or len(self.diary.read_text().splitlines()) < lines:
            assert time.monotonic() < until
            time.sleep(0.001)

    def expect_each_filed_once(self) -> None:
        issues = self.forge.read_text().split()
        assert Counter(issues) == dict.fromkeys(TEXTS, 1)

    def expect_one_at_a_time(self) -> None:
        inside: dict[str, str] = {}
        for line in self.diary.read_text().splitlines():
            process, action, text = line.split()
            if action == "enters":
                assert inside.get(text) in {None, *self.killed}, line
                inside[text] = process
            else:
                assert inside.pop(text) == process, line

    def expect_the_same_from(self, process: subprocess.Popen[str]) -> None:
        """It ends well and names each issue by its number."""
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
        issues = self.forge.read_text().split()
        assert [issues[int(number) - 1] for number in output.split()] == TEXTS


def test_each_text_is_filed_once_between_them(file: Path) -> None:
    workshop = Workshop(file)
    for process in [workshop.start() for _ in range(4)]:
        workshop.expect_the_same_from(process)
    workshop.expect_each_filed_once()
    workshop.expect_one_at_a_time()


def test_so_it_is_when_some_are_killed(file: Path, open_store: OpenStore) -> None:
    workshop = Workshop(file)
    running = [workshop.start() for _ in range(3)]
    for lines in (1, 22, 41, 63):
        workshop.wait_for(lines)
        workshop.kill(running.pop(0))
        running.append(workshop.start())
    for process in running:
        workshop.expect_the_same_from(process)
    workshop.expect_each_filed_once()
    workshop.expect_one_at_a_time()
    store = open_store()
    assert store.check() == []
    assert isinstance(store.claim_task(key(1), "another"), Mine)


HOLD = """
import sys
from pathlib import Path
from cache.model import ProjectKey
from cache.store import SqliteStore
store = SqliteStore(Path(sys.argv[1]), clock=lambda: float(sys.argv[3]), on_notice=print)
claim = store.claim_task(ProjectKey("git", 1), "text")
if sys.argv[2] == "sent":
    store.note_sending(claim)
print("held", flush=True)
sys.stdin.read()
"""


def held_by_another(file: Path, how_far: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOLD, str(file), how_far, str(NOW)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    return holder


def test_who_takes_over_from_a_dead_one_is_told_that_it_sent(file: Path, open_store: OpenStore) -> None:
    store = open_store()
    with held_by_another(file, "sent") as holder:
        assert not isinstance(store.claim_task(key(1), "text"), Mine)
        holder.kill()
    claim = store.claim_task(key(1), "text")
    assert isinstance(claim, Mine)
    assert claim.sent_at == NOW


def test_who_takes_over_from_one_that_sent_nothing_starts_anew(file: Path, open_store: OpenStore) -> None:
    store = open_store()
    with held_by_another(file, "claimed") as holder:
        holder.kill()
    claim = store.claim_task(key(1), "text")
    assert isinstance(claim, Mine)
    assert claim.sent_at is None
