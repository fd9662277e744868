"""Paths of documents: what is refused, what a new document is called, and that neither leads elsewhere."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import InvalidPath
from sync.corpora.engineering.paths import MAX_PATH, fault_in, file_name, is_document, new_path, parts_of, stem
from sync.files.names import MAX_NAME

REFUSED = [
    "", "/", "/etc/passwd", "//x", "a//b", "a/", "..", "../x", "a/../x", "a/..", ".", "./a", "a/.", ".git/config",
    "a/.b", "a\\b", "\\\\srv\\x", "C:x", "C:\\x", "a.md:ads", "~", "~/x", "~user/x", "a/b~", "a\0b", "a\nb", "a\tb",
    "a\x7fb", "a\x85b", "a\u2028b", "a\ud800b", "con", "CON", "con.md", "api/aux.txt.md", "nul", "com1", "LPT9.md",
    "COM¹", "git~1", "a.", "a /b", " a", "a/b ", "a" * (MAX_PATH + 1), "/".join("a" * 40),
]  # fmt: skip


class TestRefusals:
    @pytest.mark.parametrize("path", REFUSED)
    def test_what_could_lead_elsewhere_is_no_path(self, path: str) -> None:
        with pytest.raises(InvalidPath, match=r"^topicOrPath: ") as refused:
            parts_of(path, "topicOrPath")
        assert refused.value.argument == "topicOrPath"
        assert len(refused.value.line) < 300

    @pytest.mark.parametrize("path", REFUSED)
    def test_nor_is_it_of_a_new_document(self, path: str) -> None:
        with pytest.raises(InvalidPath):
            new_path(path)

    @pytest.mark.parametrize(
        "path", ["a", "api/apim", "a b/c d", "%2e%2e%2fx", "ключи", "a..b", "x.md", "a/conx", "-", "_"]
    )
    def test_other_paths_are_taken_as_they_are(self, path: str) -> None:
        assert "/".join(parts_of(path, "topic")) == path


class TestNames:
    @pytest.mark.parametrize(
        ("topic", "path"),
        [
            ("apim", "knowledge/general/apim.md"),
            ("api/apim", "knowledge/api/apim.md"),
            ("knowledge/api/apim.md", "knowledge/api/apim.md"),
            ("knowledge", "knowledge/general/knowledge.md"),
            ("API/Rate Limits!", "knowledge/api/rate-limits.md"),
            ("api/APIM.MD", "knowledge/api/apim.md"),
            ("a/b/c", "knowledge/a/b/c.md"),
            ("v1.2_x", "knowledge/general/v1.2_x.md"),
            ("  x?".strip(), "knowledge/general/x.md"),
            ("cafe\u0301", "knowledge/general/café.md"),
            ("ﬁle ２", "knowledge/general/file-2.md"),
            ("हिन्दी टेक्स्ट", "knowledge/general/हिन्दी-टेक्स्ट.md"),
            ("日本語／設定", "knowledge/general/日本語-設定.md"),
            ("İ", "knowledge/general/i̇.md"),
            ("…x…", "knowledge/general/x.md"),
        ],
    )
    def test_a_new_document_is_called_after_its_topic(self, topic: str, path: str) -> None:
        assert new_path(topic) == path

    @pytest.mark.parametrize(
        "topic", ["!!!", "api/?", "‥", "‥/x", "con!", "ＣＯＮ", ".md", "api/.md", "\u0301", "a" * 300, "é" * 200]
    )
    def test_a_topic_that_gives_no_name_is_refused(self, topic: str) -> None:
        with pytest.raises(InvalidPath):
            new_path(topic)

    @given(st.text(max_size=30))
    def test_never_leads_elsewhere(self, topic: str) -> None:
        try:
            path = new_path(topic)
        except InvalidPath:
            return
        assert is_document(path)
        assert path == unicodedata.normalize("NFC", path)
        assert path.split("/")[0] == "knowledge"
        assert not {"", ".", ".."} & set(path.split("/"))
        assert all(len(part.encode()) <= MAX_NAME for part in path.split("/"))

    @given(st.text(max_size=20))
    def test_the_name_of_a_name_is_itself(self, name: str) -> None:
        try:
            made = file_name(name, "topic")
        except InvalidPath:
            return
        assert file_name(made, "topic") == made
        assert fault_in(made) is None


def test_a_document_is_markdown_below_knowledge_that_can_be_named() -> None:
    assert is_document("knowledge/api/x.MD")
    assert not any(map(is_document, ["x.md", "knowledge/x.txt", "knowledge/.x.md", "knowledge/a/con.md", "other/x.md"]))
    assert stem("knowledge/api/x.y.MD") == "x.y"
