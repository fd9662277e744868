"""Writers that are killed, that meet others, and that fail half-way: nothing is half, nothing of others is lost."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cache.errors import AlreadyExists, Conflict, Denied, KnowledgeError, Unavailable
from cache.lease import exclusive_on
from sync.corpora.engineering import base as base_module
from sync.corpora.engineering import writing
from sync.corpora.engineering.base import KnowledgeBase
from sync.corpora.engineering.folder import opened
from sync.files.opening import open_folder
from tests.support.disturbing import Interference
from tests.support.knowledge_base import ACTIONS, FILES, INBOX, knowledge_base, put, snapshot
from tests.support.mounts import Disk, disk
from tests.support.unprivileged import run_unprivileged, shared_folder

ROOT = Path(__file__).parents[4]
# Does an action in each folder; in the N-th it is killed at the N-th call that changes the file system.
KILLED = """
import json, sys
from pathlib import Path
from tests.support.disturbing import die_at, forked
from tests.support.knowledge_base import ACTIONS, knowledge_base

def act(step, root):
    base = knowledge_base(Path(root))
    die_at(step)
    ACTIONS[sys.argv[1]](base)

print(json.dumps(forked(act, sys.argv[2:])))
"""

ADDING = """
import sys
from pathlib import Path
from cache.errors import AlreadyExists
from tests.support.knowledge_base import knowledge_base

base, name = knowledge_base(Path(sys.argv[1])), sys.argv[2]
for number in range(int(sys.argv[3])):
    base.update("x", "A", f"{name}-{number}", mode="append", expected=None)
    base.capture(f"{name}-{number}", None)
    base.create(f"{name}/{number}", f"{name}-{number}", "text")
    try:
        base.create(f"same/{number}", "Same", name)
    except AlreadyExists:
        pass
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, FILES)
    return tmp_path


@pytest.fixture
def base(root: Path) -> KnowledgeBase:
    return knowledge_base(root)


def whole(root: Path) -> dict[str, bytes]:
    """What readers may take for a document: all but temporary files."""
    return {path: data for path, data in snapshot(root).items() if not path.endswith(".tmp")}


class TestKilledWriters:
    @pytest.mark.parametrize(("action", "stages"), [("create", 2), ("update", 2), ("capture", 2), ("file", 3)])
    def test_leave_whole_files_and_nothing_in_the_way_of_the_next(
        self, tmp_path: Path, action: str, stages: int
    ) -> None:
        folders = [tmp_path / f"r{step}" for step in range(14)]
        for folder in folders:
            put(folder, FILES)
        run = [sys.executable, "-c", KILLED, action, *map(str, folders)]
        done = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, timeout=120)
        ends = json.loads(done.stdout)
        assert set(ends) == {-9, 0}
        assert ends == sorted(ends)
        after = whole(folders[-1])
        states = [whole(folder) for folder in folders]
        different = [state for at, state in enumerate(states) if state not in states[:at]]
        assert len(different) == stages
        assert different[0] == {path: text.encode() for path, text in FILES.items()}
        assert different[-1] == after
        assert all(any(b"note" in data for data in state.values()) for state in states)
        for folder, state in zip(folders, states, strict=True):
            base = knowledge_base(folder)
            assert {topic.path for topic in base.topics()} == state.keys() - {INBOX}
            if state != after:
                ACTIONS[action](base)
                assert whole(folder) == after


class TestManyWriters:
    def test_lose_nothing_and_make_each_document_once(self, root: Path, base: KnowledgeBase) -> None:
        names, count = "pq", 3
        runs = [[sys.executable, "-c", ADDING, str(root), name, str(count)] for name in names]
        processes = [subprocess.Popen(run, cwd=ROOT) for run in runs]
        assert [process.wait(120) for process in processes] == [0] * len(names)
        added = sorted(f"{name}-{number}" for name in names for number in range(count))
        lines = base.get("a/x").text.splitlines()
        assert sorted(line for line in lines if "-" in line) == added
        assert sorted(entry.content for entry in base.inbox() if entry.timestamp) == added
        titles = [topic.title for topic in base.topics()]
        assert sorted(title for title in titles if "-" in title) == added
        assert titles.count("Same") == count
        assert not [path for path in snapshot(root) if path.endswith(".tmp")]

    def test_wait_for_each_other_and_say_so(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writing, "LOCK_WAIT", 0.0)
        with opened(root) as folder, exclusive_on(lambda: open_folder(".", at=folder)):
            with pytest.raises(Unavailable, match="being written by another process — try again"):
                base.capture("x", None)
            assert base.get("x").title == "X"


class TestEditsByOthers:
    """By programs that know of no lock, while a file is staged."""

    def test_are_kept_and_the_edit_is_made_anew(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Interference(monkeypatch, "fsync", lambda: (root / "knowledge/a/x.md").write_text("# X\n\n## A\n\ntheirs\n"))
        base.update("x", "A", "ours", mode="append", expected=None)
        assert base.get("x").text == "# X\n\n## A\n\ntheirs\n\nours\n"

    def test_are_a_conflict_for_who_named_what_was_read(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        etag = base.get("x").etag
        Interference(monkeypatch, "fsync", lambda: (root / "knowledge/a/x.md").write_text("theirs"))
        with pytest.raises(Conflict):
            base.update("x", "A", "ours", mode="append", expected=etag)
        assert (root / "knowledge/a/x.md").read_text() == "theirs"
        assert whole(root) == snapshot(root)

    def test_without_end_are_given_up_on(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = root / "knowledge/a/x.md"
        Interference(monkeypatch, "fsync", lambda: path.write_text(path.read_text() + "more\n"), always=True)
        with pytest.raises(Conflict, match="keeps changing"):
            base.update("x", "A", "ours", mode="append", expected=None)
        assert path.read_text() == FILES["knowledge/a/x.md"] + "more\n" * base_module.ATTEMPTS

    def test_that_make_the_same_document_win(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Interference(monkeypatch, "link", lambda: (root / "knowledge/a/y.md").write_text("theirs"))
        with pytest.raises(AlreadyExists):
            base.create("a/y", "Y", "ours")
        assert (root / "knowledge/a/y.md").read_text() == "theirs"
        assert whole(root) == snapshot(root)

    def test_that_make_the_inbox_keep_it(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / INBOX).unlink()
        Interference(monkeypatch, "link", lambda: (root / INBOX).write_text("theirs\n"))
        base.capture("ours", None)
        text = (root / INBOX).read_text()
        assert text.startswith("theirs\n")
        assert text.endswith("\n\nours\n")

    def test_that_delete_the_document_are_told(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Interference(monkeypatch, "fsync", (root / "knowledge/a/x.md").unlink)
        with pytest.raises(KnowledgeError, match=r"there is no knowledge/a/x\.md any more"):
            base.update("x", "A", "ours", mode="append", expected=None)
        assert list(whole(root)) == [INBOX]

    def test_of_an_entry_that_is_being_filed_leave_it_there(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Interference(monkeypatch, "rename", lambda: (root / INBOX).write_text("## mine\n\nnote, and more\n"))
        with pytest.raises(Conflict, match=r"it is in knowledge/a/x\.md now"):
            base.file(1, "x", heading="A", title=None)
        assert (root / INBOX).read_text() == "## mine\n\nnote, and more\n"
        assert base.get("x").text.endswith("old\n\nnote\n")


class TestFoldersThatAreSwapped:
    def test_for_a_link_lead_nowhere(
        self, root: Path, base: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(tmp_path, {"elsewhere/x.md": FILES["knowledge/a/x.md"]})

        def swap() -> None:
            (root / "knowledge/a").rename(root / "moved")
            (root / "knowledge/a").symlink_to(tmp_path / "elsewhere")

        Interference(monkeypatch, "fsync", swap)
        with pytest.raises(KnowledgeError):
            base.update("x", "A", "ours", mode="append", expected=None)
        assert snapshot(tmp_path / "elsewhere") == {"x.md": FILES["knowledge/a/x.md"].encode()}
        assert snapshot(root / "moved") == {"x.md": FILES["knowledge/a/x.md"].encode()}

    def test_for_another_one_have_it_written(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def swap() -> None:
            (root / "knowledge/a").rename(root / "moved")
            put(root, {"knowledge/a/x.md": FILES["knowledge/a/x.md"]})

        Interference(monkeypatch, "fsync", swap)
        base.update("x", "A", "ours", mode="append", expected=None)
        assert base.get("x").text.endswith("old\n\nours\n")
        assert snapshot(root / "moved") == {"x.md": FILES["knowledge/a/x.md"].encode()}


class TestFailures:
    @pytest.mark.parametrize("action", ACTIONS)
    @pytest.mark.parametrize("call", ["mkdir", "write", "fsync", "link", "rename"])
    def test_at_any_step_leave_whole_files_alone(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, call: str, action: str
    ) -> None:
        def fail() -> None:
            raise OSError(errno.EIO, "Input/output error")

        before = snapshot(root)
        Interference(monkeypatch, call, fail)
        told = ""
        try:
            ACTIONS[action](base)
        except Unavailable as error:
            told = error.message
        assert told in {"", "the knowledge folder cannot be written: Input/output error"}
        assert (snapshot(root) == before) == bool(told)
        assert whole(root) == snapshot(root)

    def test_to_confirm_what_was_written_are_told(
        self, root: Path, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(at: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(writing, "flush", fail)
        with pytest.raises(Unavailable, match="did not confirm"):
            base.capture("x", None)


class TestDisks:
    @pytest.fixture
    def small(self, tmp_path: Path) -> Iterator[Disk]:
        with disk(tmp_path / "disk", kib=512) as small:
            put(small.path, FILES)
            yield small

    def test_that_are_full_get_nothing_half_written(self, small: Disk) -> None:
        base = knowledge_base(small.path)
        small.fill()
        for act in (lambda: base.capture("x" * 50_000, None), lambda: base.create("y", "Y", "x" * 50_000)):
            with pytest.raises(Denied, match="no space is left to write the knowledge folder"):
                act()
        small.empty()
        assert {path: data for path, data in snapshot(small.path).items() if data} == {
            path: text.encode() for path, text in FILES.items()
        }

    def test_that_are_read_only_say_so(self, small: Disk) -> None:
        base = knowledge_base(small.path)
        small.freeze()
        for act in ACTIONS.values():
            with pytest.raises(Denied, match="the knowledge folder is on a read-only file system"):
                act(base)
        assert base.get("x").title == "X"


IMPORTS = """
from pathlib import Path
from cache.errors import KnowledgeError
from tests.support.knowledge_base import ACTIONS, knowledge_base
"""

ACTING = """
lines = []
for act in ACTIONS.values():
    try:
        act(knowledge_base(Path(sys.argv[0])))
    except KnowledgeError as error:
        lines.append(error.line)
print(json.dumps(lines))
"""


def test_missing_permissions_are_told_and_nothing_is_written() -> None:
    with shared_folder() as root:
        put(root, FILES)
        before = snapshot(root)
        line = "denied: no permission to write the knowledge folder — let the gateway's user write its folders"
        assert run_unprivileged(IMPORTS, ACTING, str(root)) == [line] * len(ACTIONS)
        assert snapshot(root) == before
