"""Which documents a folder has: regular files that can be named, never through a link, whatever else lies there."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cache.errors import Denied, InvalidPath, NotConfigured, NotFound, TooLarge, Unavailable
from sync.corpora.engineering import folder
from sync.corpora.engineering.folder import MAX_DOCUMENT, documents, obstacle, opened, read
from tests.support.knowledge_base import put
from tests.support.unprivileged import run_unprivileged, shared_folder


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    with opened(tmp_path) as descriptor:
        yield descriptor


class TestListing:
    def test_is_of_markdown_that_can_be_named(self, tmp_path: Path, root: int) -> None:
        files = {
            "knowledge/x.md": "", "knowledge/a/y.MD": "", "knowledge/a/b c/ключ.md": "", "inbox/knowledge-inbox.md": "",
            "knowledge/x.txt": "", "knowledge/.x.md": "", "knowledge/.git/x.md": "", "knowledge/con.md": "",
            "knowledge/a/b~.md": "", "knowledge/a:b.md": "", "inbox/other.md": "", "README.md": "",
            "knowledge/a /x.md": "", "knowledge/x.md.bak": "", "knowledge/.gateway-0123456789abcdef.tmp": "",
        }  # fmt: skip
        put(tmp_path, files)
        assert sorted(documents(root)) == [
            "inbox/knowledge-inbox.md", "knowledge/a/b c/ключ.md", "knowledge/a/y.MD", "knowledge/x.md",
        ]  # fmt: skip

    def test_of_nothing_is_empty(self, tmp_path: Path, root: int) -> None:
        assert documents(root) == {}
        (tmp_path / "knowledge").mkdir()
        (tmp_path / "inbox").mkdir()
        assert documents(root) == {}

    def test_leads_through_no_link_and_waits_for_nothing(self, tmp_path: Path, root: int) -> None:
        put(tmp_path, {"elsewhere/secret.md": "secret", "knowledge/real.md": ""})
        knowledge = tmp_path / "knowledge"
        (knowledge / "file.md").symlink_to(tmp_path / "elsewhere/secret.md")
        (knowledge / "inner.md").symlink_to("real.md")
        (knowledge / "folder").symlink_to(tmp_path / "elsewhere")
        (knowledge / "dangling.md").symlink_to("nowhere")
        (knowledge / "folder.md").mkdir()
        os.mkfifo(knowledge / "fifo.md")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.fspath(knowledge / "socket.md"))
            assert list(documents(root)) == ["knowledge/real.md"]

    def test_of_a_linked_folder_is_refused(self, tmp_path: Path, root: int) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "knowledge").symlink_to("elsewhere")
        with pytest.raises(InvalidPath, match="knowledge is a link or a file"):
            documents(root)

    def test_has_no_inbox_where_that_is_a_link(self, tmp_path: Path, root: int) -> None:
        put(tmp_path, {"elsewhere/knowledge-inbox.md": "secret", "knowledge/x.md": ""})
        (tmp_path / "inbox").symlink_to("elsewhere")
        assert list(documents(root)) == ["knowledge/x.md"]

    def test_goes_so_deep_and_no_deeper(self, tmp_path: Path, root: int) -> None:
        put(tmp_path, {f"knowledge/{'d/' * depth}x.md": "" for depth in (29, 30, 31, 40)})
        assert sorted(path.count("/") for path in documents(root)) == [30, 31]

    def test_has_no_path_that_is_too_long_to_be_named(self, tmp_path: Path, root: int) -> None:
        folders = "/".join(["y" * 240] * 4)
        put(tmp_path, {f"knowledge/{folders}/{'z' * length}.md": "" for length in (23, 24)})
        assert [len(path) for path in documents(root)] == [1_000]

    def test_of_too_many_files_is_refused(self, tmp_path: Path, root: int, monkeypatch: pytest.MonkeyPatch) -> None:
        put(tmp_path, {f"knowledge/a/{number}.md": "" for number in range(5)})
        monkeypatch.setattr(folder, "MAX_FILES", 5)
        with pytest.raises(Unavailable, match="more than 5 files"):
            documents(root)


class TestReading:
    def test_is_exact(self, tmp_path: Path, root: int) -> None:
        put(tmp_path, {"knowledge/a/x.md": {"b64": "/wANCgA="}})
        assert read(root, "knowledge/a/x.md") == b"\xff\x00\r\n\x00"

    def test_leads_through_no_link_and_waits_for_nothing(self, tmp_path: Path, root: int) -> None:
        put(tmp_path, {"elsewhere/x.md": "secret", "knowledge/a/y.md": ""})
        (tmp_path / "knowledge/x.md").symlink_to(tmp_path / "elsewhere/x.md")
        (tmp_path / "knowledge/b").symlink_to(tmp_path / "elsewhere")
        os.mkfifo(tmp_path / "knowledge/fifo.md")
        for path in ("knowledge/x.md", "knowledge/fifo.md", "knowledge/a"):
            with pytest.raises(InvalidPath):
                read(root, path)
        for path in ("knowledge/b/x.md", "knowledge/gone.md", "gone/x.md", "knowledge/a/y.md/z.md"):
            with pytest.raises((InvalidPath, NotFound)):
                read(root, path)

    def test_has_a_bound(self, tmp_path: Path, root: int) -> None:
        put(tmp_path, {"knowledge/x.md": "x" * MAX_DOCUMENT, "knowledge/y.md": "x" * (MAX_DOCUMENT + 1)})
        assert len(read(root, "knowledge/x.md")) == MAX_DOCUMENT
        with pytest.raises(TooLarge):
            read(root, "knowledge/y.md")


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("knowledge/x.md", None),
        ("knowledge/gone/x.md", None),
        ("knowledge/link.md", "knowledge/link.md is no regular file"),
        ("knowledge/folder/x.md", "knowledge/folder/x.md leads through a symbolic link"),
        ("knowledge/a/folder/b/x.md", "knowledge/a/folder/b/x.md leads through a symbolic link"),
        ("knowledge/fifo.md", "knowledge/fifo.md is no regular file"),
        ("knowledge/x.md/y.md", None),
    ],
)
def test_an_obstacle_is_told(tmp_path: Path, root: int, path: str, fault: str | None) -> None:
    put(tmp_path, {"knowledge/x.md": "", "knowledge/a/y.md": ""})
    (tmp_path / "knowledge/link.md").symlink_to("x.md")
    (tmp_path / "knowledge/folder").symlink_to("/")
    (tmp_path / "knowledge/a/folder").symlink_to("nowhere")
    os.mkfifo(tmp_path / "knowledge/fifo.md")
    found = obstacle(root, path)
    assert found is None if fault is None else found is not None and found.startswith(fault)


def test_a_folder_that_is_not_there_is_not_configured(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for root in (tmp_path / "gone", tmp_path / "file"):
        with pytest.raises(NotConfigured), opened(root):
            pass


def test_a_folder_may_itself_be_linked_to(tmp_path: Path) -> None:
    put(tmp_path, {"real/knowledge/x.md": ""})
    (tmp_path / "link").symlink_to("real")
    with opened(tmp_path / "link") as root:
        assert list(documents(root)) == ["knowledge/x.md"]


IMPORTS = """
from pathlib import Path
from cache.errors import KnowledgeError
from sync.corpora.engineering.folder import documents, opened, read
"""

LISTING = """
try:
    with opened(Path(sys.argv[0])) as root:
        print(json.dumps([sorted(documents(root)), *[read(root, path).decode() for path in sys.argv[1:]]]))
except KnowledgeError as error:
    print(json.dumps(error.line))
"""


class TestMissingPermissions:
    @pytest.fixture
    def shared(self) -> Iterator[Path]:
        with shared_folder() as shared:
            put(shared, {"knowledge/a/x.md": "x", "knowledge/y.md": "y"})
            yield shared

    def test_of_a_folder_hide_what_is_in_it(self, shared: Path) -> None:
        (shared / "knowledge/a").chmod(0o000)
        assert run_unprivileged(IMPORTS, LISTING, str(shared), "knowledge/y.md") == [["knowledge/y.md"], "y"]

    def test_of_a_file_are_told_when_it_is_read(self, shared: Path) -> None:
        (shared / "knowledge/y.md").chmod(0o000)
        line = "denied: no permission to read knowledge/y.md — give the gateway's user access to it"
        assert run_unprivileged(IMPORTS, LISTING, str(shared), "knowledge/y.md") == line

    def test_of_all_are_told(self, shared: Path) -> None:
        (shared / "knowledge").chmod(0o000)
        line = "denied: no permission to read knowledge — give the gateway's user access to it"
        assert run_unprivileged(IMPORTS, LISTING, str(shared)) == line
        shared.chmod(0o000)
        line = "denied: no permission to read the knowledge folder — give the gateway's user access to it"
        assert run_unprivileged(IMPORTS, LISTING, str(shared)) == line
        assert issubclass(Denied, Exception)
