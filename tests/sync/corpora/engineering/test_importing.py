"""A folder of notes copied in: what is copied where, what gets a title, what is left out, and nothing overwritten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import InvalidArgument, InvalidPath, KnowledgeError, NotConfigured
from sync.corpora.engineering.document import facts_of
from sync.corpora.engineering.importing import Copied, LeftOut, import_folder, target, titled
from sync.corpora.engineering.paths import KNOWLEDGE, is_document
from tests.support import markdown_pieces as pieces
from tests.support.knowledge_base import knowledge_base, put, snapshot


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def told(done: list[Copied | LeftOut]) -> dict[str, str]:
    """What became of each file: where it went, or why it did not."""
    return {each.source: each.path if isinstance(each, Copied) else each.why for each in done}


class TestCopies:
    def test_keep_folders_and_names_and_every_byte(self, notes: Path, root: Path) -> None:
        put(notes, {"api/Rate Limits.md": "# R\r\n", "a/b/c.MD": "# C", "top.md": "\ufeff# T\n"})
        assert told(import_folder(notes, root)) == {
            "a/b/c.MD": "knowledge/a/b/c.MD",
            "api/Rate Limits.md": "knowledge/api/Rate Limits.md",
            "top.md": "knowledge/general/top.md",
        }
        assert snapshot(root) == {
            "knowledge/a/b/c.MD": b"# C",
            "knowledge/api/Rate Limits.md": b"# R\r\n",
            "knowledge/general/top.md": "\ufeff# T\n".encode(),
        }

    def test_may_all_go_into_one_area(self, notes: Path, root: Path) -> None:
        put(notes, {"x.md": "# X\n", "a/y.md": "# Y\n"})
        assert set(told(import_folder(notes, root, area="old/wiki")).values()) == {
            "knowledge/old/wiki/x.md", "knowledge/old/wiki/a/y.md",
        }  # fmt: skip
        for area in ("../x", "a//b", "/x", ".x"):
            with pytest.raises(InvalidPath):
                import_folder(notes, root, area=area)

    def test_get_names_that_a_document_may_have(self, notes: Path, root: Path) -> None:
        put(notes, {"a:b/What: now.md": "# X\n", "x~1.md": "# Y\n"})
        assert set(told(import_folder(notes, root)).values()) == {
            "knowledge/a-b/what-now.md", "knowledge/general/x-1.md",
        }  # fmt: skip

    def test_are_found(self, notes: Path, root: Path) -> None:
        put(notes, {"a/x.md": "words\n"})
        import_folder(notes, root)
        assert [hit.title for hit in knowledge_base(root).search("words", 5)] == ["X"]

    def test_of_a_dry_run_are_only_told(self, notes: Path, root: Path) -> None:
        put(notes, {"a/x.md": "# X\n", "a/X.md": "# Y\n", "p.png": ""})
        would = told(import_folder(notes, root, dry_run=True))
        assert list(root.iterdir()) == []
        assert would == told(import_folder(notes, root))


class TestTitles:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("words\n", '---\ntitle: "Rate limits"\n---\n\nwords\n'),
            ("a\r\nb\r\n", '---\r\ntitle: "Rate limits"\r\n---\r\n\r\na\r\nb\r\n'),
            ("\ufeffwords", '\ufeff---\ntitle: "Rate limits"\n---\n\nwords'),
            ("", '---\ntitle: "Rate limits"\n---\n\n'),
            ("---\ntags: [a]\n---\nwords\n", '---\ntitle: "Rate limits"\ntags: [a]\n---\nwords\n'),
            ("---\n---\nwords\n", '---\ntitle: "Rate limits"\n---\nwords\n'),
            ("\ufeff---\r\ntags: [a]\r\n---\r\n", '\ufeff---\r\ntitle: "Rate limits"\r\ntags: [a]\r\n---\r\n'),
            ("---\n\nwords\n", '---\ntitle: "Rate limits"\n---\n\n---\n\nwords\n'),
            ("# T\n", "# T\n"),
            ("T\n===\n", "T\n===\n"),
            ("---\ntitle: T\n---\n", "---\ntitle: T\n---\n"),
            ("---\ntitle:\n---\nwords\n", "---\ntitle:\n---\nwords\n"),
        ],
    )
    def test_are_added_in_front_matter_where_one_is_missing(self, text: str, expected: str) -> None:
        assert titled(text, "rate_limits") == expected

    @pytest.mark.parametrize(
        ("name", "title"), [("x", "X"), ("a-b_c d", "A b c d"), ('say "x"\\', 'Say "x"\\'), ("日本", "日本")]
    )
    def test_are_the_file_s_name_in_words(self, name: str, title: str) -> None:
        assert facts_of(titled("words", name), "a.md").title == title

    @given(pieces.texts())
    def test_of_any_text_keep_the_rest_of_it(self, text: str) -> None:
        made = titled(text, "rate-limits")
        if made != text:
            line = next(line for line in made.splitlines(keepends=True) if line.startswith("title: "))
            assert facts_of(made, "a.md").title == "Rate limits"
            assert made.count(line) == 1
            assert made.endswith(text.lstrip("\ufeff").removeprefix("---\n").removeprefix("---\r\n"))


class TestLeftOut:
    def test_is_what_is_no_note(self, notes: Path, root: Path) -> None:
        put(
            notes,
            {
                "p.png": "", ".git/config": "", ".hidden.md": "", "a/n.markdown": "", "bad.md": {"b64": "/w=="},
                "big.md": "x" * (1024 * 1024 + 1), "!!!.md": "# X\n", "con.md": "# X\n", "ok.md": "# OK\n",
            },
        )  # fmt: skip
        (notes / "link.md").symlink_to("ok.md")
        (notes / "folder").symlink_to("a")
        os.mkfifo(notes / "fifo.md")
        done = told(import_folder(notes, root))
        assert done.pop("con.md").startswith("its name: con is a reserved name")
        assert done == {
            "p.png": "no .md file",
            ".git": "hidden",
            ".hidden.md": "hidden",
            "a/n.markdown": "no .md file",
            "bad.md": "not UTF-8 text",
            "big.md": "larger than 1048576 bytes",
            "!!!.md": "knowledge/general/!!!.md",
            "ok.md": "knowledge/general/ok.md",
            "link.md": "a symbolic link",
            "folder": "a symbolic link",
            "fifo.md": "no regular file",
        }

    def test_is_what_is_there_already_and_stays_as_it_is(self, notes: Path, root: Path) -> None:
        put(root, {"knowledge/a/X.md": "theirs"})
        put(notes, {"a/x.md": "# X\n", "a/y.md": "# Y\n", "A/Y.md": "# Other\n"})
        done = told(import_folder(notes, root))
        assert done == {
            "A/Y.md": "knowledge/a/Y.md",
            "a/x.md": "knowledge/a/X.md is called the same",
            "a/y.md": "knowledge/a/Y.md is called the same",
        }
        assert snapshot(root) == {"knowledge/a/X.md": b"theirs", "knowledge/a/Y.md": b"# Other\n"}

    def test_is_everything_at_the_second_time(self, notes: Path, root: Path) -> None:
        put(notes, {"a/x.md": "words\n", "y.md": "# Y\n"})
        import_folder(notes, root)
        before = snapshot(root)
        assert set(told(import_folder(notes, root)).values()) == {"there already"}
        assert snapshot(root) == before


class TestRefusals:
    @pytest.mark.parametrize("inner", ["", "knowledge", "knowledge/a"])
    def test_of_the_knowledge_base_itself(self, root: Path, inner: str) -> None:
        put(root, {"knowledge/a/x.md": ""})
        with pytest.raises(InvalidArgument, match="lie in each other"):
            import_folder(root / inner, root)

    def test_where_there_is_no_knowledge_folder(self, notes: Path, tmp_path: Path) -> None:
        with pytest.raises(NotConfigured):
            import_folder(notes, tmp_path / "gone")


@given(st.text(min_size=1, max_size=20).filter(lambda name: "/" not in name and "\0" not in name))
def test_any_name_becomes_a_document_s_or_is_refused(name: str) -> None:
    try:
        path = target(f"a/{name}.md", (KNOWLEDGE,))
    except KnowledgeError:
        return
    assert is_document(path)
