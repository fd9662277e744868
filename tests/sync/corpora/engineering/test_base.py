"""The knowledge base as its tools use it: what comes back, and what is on disk then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cache.errors import (
    AlreadyExists,
    Ambiguous,
    Conflict,
    InvalidArgument,
    InvalidPath,
    NotConfigured,
    NotFound,
    NotUtf8,
    TooLarge,
)
from sync.corpora.engineering.base import KnowledgeBase
from sync.corpora.engineering.edit import Mode
from sync.corpora.engineering.folder import MAX_DOCUMENT
from tests.support.knowledge_base import STAMP, knowledge_base, put, snapshot

INBOX = "inbox/knowledge-inbox.md"


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    return knowledge_base(tmp_path)


def append(
    base: KnowledgeBase, reference: str, content: str = "new", *, heading: str = "A", etag: str | None = None
) -> str:
    return base.update(reference, heading, content, mode="append", expected=etag).etag


class TestAnEmptyFolder:
    def test_is_an_empty_knowledge_base(self, tmp_path: Path, base: KnowledgeBase) -> None:
        assert (base.topics(), base.search("x", 5), base.inbox()) == ([], [], ())
        assert list(tmp_path.iterdir()) == []

    def test_gets_its_folders_at_the_first_write(self, tmp_path: Path, base: KnowledgeBase) -> None:
        assert base.create("x", "X", "y").path == "knowledge/general/x.md"
        assert base.capture("z", None).path == INBOX
        assert snapshot(tmp_path) == {
            "knowledge/general/x.md": b"# X\n\ny\n",
            INBOX: f"# Knowledge inbox\n\n## {STAMP}\n\nz\n".encode(),
        }

    def test_that_is_gone_is_not_configured(self, tmp_path: Path) -> None:
        gone = knowledge_base(tmp_path / "gone")
        for call in (gone.topics, gone.inbox, lambda: gone.capture("x", None), lambda: gone.create("x", "X", "y")):
            with pytest.raises(NotConfigured):
                call()
        assert not (tmp_path / "gone").exists()


class TestGet:
    def test_gives_text_facts_and_etag(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/api/x.md": "\ufeff---\r\ntitle: T\r\ntags: [a]\r\n---\r\ntext"})
        got = base.get("x")
        assert got.text == "\ufeff---\r\ntitle: T\r\ntags: [a]\r\n---\r\ntext"
        assert (got.path, got.title, got.tags, got.lossy) == ("knowledge/api/x.md", "T", ("a",), False)
        put(tmp_path, {"knowledge/api/x.md": "other"})
        assert base.get("x").etag != got.etag

    def test_says_what_it_could_not_show(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/x.md": {"b64": "IyBBCv8K"}, "knowledge/y.md": "# \ufffd\n"})
        got = base.get("x")
        assert (got.text, got.lossy) == ("# A\n\ufffd\n", True)
        assert base.get("y").lossy is False

    def test_reads_the_inbox_by_its_path(self, base: KnowledgeBase) -> None:
        base.capture("x", None)
        assert base.get(INBOX).title == "Knowledge inbox"
        assert base.topics() == []

    def test_through_a_link_is_refused(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"secret.md": "secret", "knowledge/a/x.md": "x"})
        (tmp_path / "knowledge/x.md").symlink_to(tmp_path / "secret.md")
        (tmp_path / "knowledge/b").symlink_to(tmp_path)
        os.mkfifo(tmp_path / "knowledge/pipe.md")
        for reference in ("x", "knowledge/x.md", "b/secret", "pipe"):
            with pytest.raises(InvalidPath, match=r"^topicOrPath: "):
                base.get(reference)
            with pytest.raises(InvalidPath):
                append(base, reference)
        assert snapshot(tmp_path)["secret.md"] == b"secret"

    def test_of_what_is_too_large_is_refused_by_name(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/big.md": "x" * (MAX_DOCUMENT + 1)})
        assert [topic.title for topic in base.topics()] == ["big"]
        with pytest.raises(TooLarge, match=r"knowledge/big\.md"):
            base.get("big")


def test_topics_come_by_path(tmp_path: Path, base: KnowledgeBase) -> None:
    put(tmp_path, {"knowledge/b.md": "# B\n", "knowledge/a/c.md": "---\ntags: x\n---\n", "knowledge/a.md": ""})
    assert [(topic.path, topic.title, topic.tags) for topic in base.topics()] == [
        ("knowledge/a.md", "a", ()),
        ("knowledge/a/c.md", "c", ("x",)),
        ("knowledge/b.md", "B", ()),
    ]


class TestCreate:
    @pytest.mark.parametrize("there", ["knowledge/api/x.md", "knowledge/api/X.md", "knowledge/api/X.MD"])
    def test_is_refused_where_one_is_called_so(self, tmp_path: Path, base: KnowledgeBase, there: str) -> None:
        put(tmp_path, {there: "theirs"})
        with pytest.raises(AlreadyExists) as refused:
            base.create("api/x", "X", "y")
        assert refused.value.path == there
        assert snapshot(tmp_path) == {there: b"theirs"}

    def test_goes_into_the_area_as_it_is_spelled(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/API/y.md": ""})
        assert base.create("api/x", "X", "y").path == "knowledge/API/x.md"

    def test_is_refused_where_several_areas_are_called_so(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/API/y.md": "", "knowledge/Api/y.md": ""})
        with pytest.raises(Ambiguous, match="knowledge/API, knowledge/Api"):
            base.create("api/x", "X", "y")

    @pytest.mark.parametrize("folder", ["knowledge", "knowledge/api"])
    def test_leads_through_no_link(self, tmp_path: Path, base: KnowledgeBase, folder: str) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / folder).parent.mkdir(exist_ok=True)
        (tmp_path / folder).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(InvalidPath, match="is a link or a file"):
            base.create("api/x", "X", "y")
        assert list((tmp_path / "elsewhere").iterdir()) == []

    def test_is_refused_where_a_link_or_a_pipe_has_the_name(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/general/z.md": ""})
        (tmp_path / "knowledge/general/x.md").symlink_to(tmp_path / "secret")
        os.mkfifo(tmp_path / "knowledge/general/y.md")
        for name in "xy":
            with pytest.raises(AlreadyExists):
                base.create(name, "X", "y")
        assert not (tmp_path / "secret").exists()

    def test_of_more_than_a_document_holds_is_refused(self, tmp_path: Path, base: KnowledgeBase) -> None:
        with pytest.raises(TooLarge):
            base.create("x", "X", "é" * MAX_DOCUMENT)
        assert list(tmp_path.iterdir()) == []


class TestUpdate:
    def test_answers_with_the_new_etag(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/x.md": "## A\n"})
        assert append(base, "x") == base.get("x").etag
        done = base.update("x", "B", "b", mode="replace", expected=base.get("x").etag)
        assert (done.path, done.created_section, done.etag) == ("knowledge/x.md", True, base.get("x").etag)

    @pytest.mark.parametrize("mode", ["append", "replace"])
    def test_with_an_old_etag_is_a_conflict(self, tmp_path: Path, base: KnowledgeBase, mode: Mode) -> None:
        put(tmp_path, {"knowledge/x.md": "## A\n"})
        etag = base.get("x").etag
        put(tmp_path, {"knowledge/x.md": "## A\n\ntheirs\n"})
        with pytest.raises(Conflict, match="not as you read it"):
            base.update("x", "A", "ours", mode=mode, expected=etag)
        assert snapshot(tmp_path) == {"knowledge/x.md": b"## A\n\ntheirs\n"}

    def test_that_changes_nothing_writes_nothing(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/x.md": "## A\n\nsame\n"})
        before = (tmp_path / "knowledge/x.md").stat()
        base.update("x", "A", "same", mode="replace", expected=None)
        assert (tmp_path / "knowledge/x.md").stat() == before

    def test_keeps_permissions(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/x.md": "## A\n"})
        (tmp_path / "knowledge/x.md").chmod(0o640)
        append(base, "x")
        assert (tmp_path / "knowledge/x.md").stat().st_mode & 0o777 == 0o640

    def test_of_what_is_not_utf8_is_refused(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/x.md": {"b64": "IyBBCv8K"}})
        with pytest.raises(NotUtf8):
            append(base, "x")
        assert snapshot(tmp_path) == {"knowledge/x.md": b"# A\n\xff\n"}

    def test_of_the_inbox_is_refused(self, base: KnowledgeBase) -> None:
        base.capture("x", None)
        with pytest.raises(InvalidPath, match="is the inbox, where entries are only added"):
            append(base, INBOX)

    def test_that_would_make_it_too_large_is_refused(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/x.md": "x" * MAX_DOCUMENT})
        with pytest.raises(TooLarge):
            append(base, "x")

    def test_leaves_no_temporary_file_and_removes_those_of_the_killed(
        self, tmp_path: Path, base: KnowledgeBase
    ) -> None:
        put(tmp_path, {"knowledge/x.md": "## A\n", "knowledge/.gateway-0123456789abcdef.tmp": "half"})
        append(base, "x")
        assert list(snapshot(tmp_path)) == ["knowledge/x.md"]


class TestCapture:
    def test_adds_entries_and_keeps_the_rest(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {INBOX: "mine\r\n"})
        assert base.capture("# x\ny", "api/limits").timestamp == STAMP
        assert snapshot(tmp_path)[INBOX].decode() == f"mine\r\n\r\n## {STAMP} — api/limits\r\n\r\n### x\r\ny\r\n"

    def test_is_refused_where_the_inbox_is_a_link(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"elsewhere/knowledge-inbox.md": "theirs"})
        (tmp_path / "inbox").symlink_to("elsewhere")
        with pytest.raises(InvalidPath):
            base.capture("x", None)
        assert snapshot(tmp_path / "elsewhere") == {"knowledge-inbox.md": b"theirs"}

    def test_is_refused_where_the_inbox_is_not_utf8_or_full(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {INBOX: {"b64": "/w=="}})
        with pytest.raises(NotUtf8):
            base.capture("x", None)
        put(tmp_path, {INBOX: "x" * MAX_DOCUMENT})
        with pytest.raises(TooLarge, match="file some of those in it with gateway inbox"):
            base.capture("x", None)

    def test_calls_the_folder_by_its_name(self, tmp_path: Path, base: KnowledgeBase) -> None:
        (tmp_path / "Inbox").mkdir()
        with pytest.raises(Exception, match="the folder inbox is called Inbox — call it inbox"):
            base.capture("x", None)


class TestFiling:
    def test_moves_an_entry_into_a_section(self, tmp_path: Path, base: KnowledgeBase) -> None:
        put(tmp_path, {"knowledge/api/x.md": "# X\n\n## A\n\nold\n"})
        base.capture("# first\n\na", "api/x")
        base.capture("second", None)
        assert base.file(1, None, heading="A", title=None) == "knowledge/api/x.md"
        assert snapshot(tmp_path) == {
            "knowledge/api/x.md": b"# X\n\n## A\n\nold\n\n### first\n\na\n",
            INBOX: f"# Knowledge inbox\n\n## {STAMP}\n\nsecond\n".encode(),
        }

    def test_makes_a_new_document(self, tmp_path: Path, base: KnowledgeBase) -> None:
        base.capture("words", None)
        assert base.file(1, "api/new", heading=None, title="New") == "knowledge/api/new.md"
        assert snapshot(tmp_path)["knowledge/api/new.md"] == b"# New\n\nwords\n"
        assert base.inbox() == ()

    @pytest.mark.parametrize(("heading", "title"), [("A", None), (None, "X")])
    def test_can_be_done_again_by_who_was_killed_in_between(
        self, tmp_path: Path, base: KnowledgeBase, heading: str | None, title: str | None
    ) -> None:
        if heading:
            put(tmp_path, {"knowledge/general/x.md": "## A\n"})
        base.capture("words\n\n### more", None)
        captured = (tmp_path / INBOX).read_bytes()
        base.file(1, "x", heading=heading, title=title)
        after = snapshot(tmp_path)
        put(tmp_path, {INBOX: captured.decode()})  # as if it had not come to that
        base.file(1, "x", heading=heading, title=title)
        assert snapshot(tmp_path) == after

    @pytest.mark.parametrize(
        ("number", "topic", "heading", "title", "error"),
        [
            (0, "x", "A", None, NotFound),
            (2, "x", "A", None, NotFound),
            (1, None, "A", None, InvalidArgument),
            (1, "x", None, None, InvalidArgument),
            (1, "x", "A", "T", InvalidArgument),
            (1, "nope", "A", None, NotFound),
            (1, "../x", None, "T", InvalidPath),
            (1, "y", None, "Y", AlreadyExists),
            (1, INBOX, "A", None, InvalidPath),
        ],
    )
    def test_that_cannot_be_done_changes_nothing(
        self,
        tmp_path: Path,
        base: KnowledgeBase,
        number: int,
        topic: str | None,
        heading: str | None,
        title: str | None,
        error: type[Exception],
    ) -> None:
        put(tmp_path, {"knowledge/x.md": "## A\n", "knowledge/general/y.md": "# Y\n\nother\n"})
        base.capture("words", None)
        before = snapshot(tmp_path)
        with pytest.raises(error):
            base.file(number, topic, heading=heading, title=title)
        assert snapshot(tmp_path) == before
