"""What is known of the documents: always what the files say now, read only where they changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sync.corpora.engineering import folder
from sync.corpora.engineering.catalog import Catalog
from sync.corpora.engineering.folder import opened
from sync.forge.base import SETTLE
from tests.support.knowledge_base import put

Look = Callable[[], dict[str, str]]

LATER = 4_000_000_000.0  # seconds since the UTC epoch: every file is settled


@pytest.fixture
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture
def look(tmp_path: Path, catalog: Catalog) -> Look:
    """Looks again, and gives the titles by path."""

    def look() -> dict[str, str]:
        with opened(tmp_path) as root:
            catalog.look(root, LATER, to_search=True)
        return {path: facts.title for path, facts in catalog.facts.items()}

    return look


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are read."""
    seen: list[str] = []
    real = folder.read

    def read(root: int, path: str) -> bytes:
        seen.append(path)
        return real(root, path)

    monkeypatch.setattr(folder, "read", read)
    return seen


class TestChanges:
    def test_are_seen_at_each_look_and_nothing_else_is_read(self, tmp_path: Path, look: Look, reads: list[str]) -> None:
        put(tmp_path, {"knowledge/x.md": "# X\n", "knowledge/y.md": "# Y\n"})
        assert look() == {"knowledge/x.md": "X", "knowledge/y.md": "Y"}
        reads.clear()
        look()
        assert reads == []
        put(tmp_path, {"knowledge/x.md": "# New\n", "knowledge/z.md": "# Z\n"})
        (tmp_path / "knowledge/y.md").unlink()
        assert look() == {"knowledge/x.md": "New", "knowledge/z.md": "Z"}
        assert sorted(reads) == ["knowledge/x.md", "knowledge/z.md"]

    def test_are_read_once_more_where_they_are_searched_only_later(
        self, tmp_path: Path, catalog: Catalog, reads: list[str]
    ) -> None:
        put(tmp_path, {"knowledge/x.md": "# X\n", "knowledge/y.md": "# Y\n"})
        with opened(tmp_path) as root:
            catalog.look(root, LATER)
            assert catalog.search("x", 5) == []
            assert [facts.title for facts in catalog.facts.values()] == ["X", "Y"]
            for _ in range(2):
                catalog.look(root, LATER, to_search=True)
        assert [hit.title for hit in catalog.search("x", 5)] == ["X"]
        assert sorted(reads) == ["knowledge/x.md", "knowledge/x.md", "knowledge/y.md", "knowledge/y.md"]

    def test_that_keep_time_and_size_are_seen_by_the_inode(self, tmp_path: Path, look: Look) -> None:
        path = tmp_path / "knowledge/x.md"
        put(tmp_path, {"knowledge/x.md": "# A\n", "other.md": "# B\n"})
        look()
        before = path.stat()
        os.utime(tmp_path / "other.md", ns=(before.st_atime_ns, before.st_mtime_ns))
        (tmp_path / "other.md").replace(path)
        assert look() == {"knowledge/x.md": "B"}

    def test_of_a_file_that_was_just_written_are_looked_for_again(
        self, tmp_path: Path, catalog: Catalog, reads: list[str]
    ) -> None:
        put(tmp_path, {"knowledge/x.md": "# X\n"})
        now = (tmp_path / "knowledge/x.md").stat().st_mtime
        with opened(tmp_path) as root:
            for seconds in (0, SETTLE / 2, SETTLE * 2, SETTLE * 3):
                catalog.look(root, now + seconds)
        assert len(reads) == 3

    def test_of_folders_move_documents(self, tmp_path: Path, look: Look) -> None:
        put(tmp_path, {"knowledge/a/x.md": "# X\n"})
        look()
        (tmp_path / "knowledge/a").rename(tmp_path / "knowledge/b")
        assert look() == {"knowledge/b/x.md": "X"}

    def test_that_cannot_be_read_leave_the_name(self, tmp_path: Path, look: Look, catalog: Catalog) -> None:
        put(tmp_path, {"knowledge/x.md": "# X\n\nwords\n"})
        look()
        put(tmp_path, {"knowledge/x.md": "words " * 300_000})
        assert look() == {"knowledge/x.md": "x"}
        assert catalog.search("words", 5) == []
        put(tmp_path, {"knowledge/x.md": "# X\n"})
        assert look() == {"knowledge/x.md": "X"}


class TestSearch:
    def hits(self, catalog: Catalog, query: str) -> list[tuple[str, str]]:
        return [(hit.path, hit.heading) for hit in catalog.search(query, 10)]

    def test_finds_sections_of_documents_and_notes(self, tmp_path: Path, look: Look, catalog: Catalog) -> None:
        put(
            tmp_path,
            {
                "knowledge/api/limits.md": "# Rate limits\n\nIntro.\n\n## Per client\n\nA minute.\n\n## Burst\n\n10\n",
                "inbox/knowledge-inbox.md": "# Knowledge inbox\n\n## 2026-11-30T12:00:00Z — burst\n\nTwenty now.\n",
            },
        )
        look()
        assert self.hits(catalog, "rate limits") == [("knowledge/api/limits.md", "Rate limits")]
        assert self.hits(catalog, "minute") == [("knowledge/api/limits.md", "Per client")]
        assert self.hits(catalog, "burst") == [
            ("knowledge/api/limits.md", "Burst"),
            ("inbox/knowledge-inbox.md", "2026-11-30T12:00:00Z — burst"),
        ]
        assert self.hits(catalog, "knowledge inbox") == []  # words of every document's path

    def test_shows_where_and_why(self, tmp_path: Path, look: Look, catalog: Catalog) -> None:
        put(tmp_path, {"knowledge/a/x.md": "---\ntags: [net]\n---\n# Title\n\n## Ports\n\nWe *listen* on 8080.\n"})
        look()
        (hit,) = catalog.search("listen", 10)
        assert (hit.path, hit.title, hit.heading) == ("knowledge/a/x.md", "Title", "Ports")
        assert "listen" in hit.snippet
        assert 0 < hit.score < 1
        (hit,) = catalog.search("title", 10)
        assert hit.snippet == "We listen on 8080."

    def test_tags_raise_a_match_and_make_none(self, tmp_path: Path, look: Look, catalog: Catalog) -> None:
        put(
            tmp_path,
            {
                "knowledge/a.md": "# A\n\nauth here\n",
                "knowledge/b.md": "---\ntags: [auth]\n---\n# B\n\nauth here\n",
                "knowledge/c.md": "---\ntags: [auth]\n---\n# C\n\nother\n",
            },
        )
        look()
        assert [path for path, _ in self.hits(catalog, "auth")] == ["knowledge/b.md", "knowledge/a.md"]

    @pytest.mark.parametrize("text", ["", "---\ntitle: Alone\n---\n", "text without heading\n"])
    def test_finds_a_document_without_sections_by_its_title(
        self, tmp_path: Path, look: Look, catalog: Catalog, text: str
    ) -> None:
        put(tmp_path, {"knowledge/alone.md": text})
        look()
        assert self.hits(catalog, "alone") == [("knowledge/alone.md", "")]

    def test_a_heading_in_code_is_none(self, tmp_path: Path, look: Look, catalog: Catalog) -> None:
        put(tmp_path, {"knowledge/x.md": "# X\n\n```\n## Setup\n```\n"})
        look()
        assert self.hits(catalog, "setup") == [("knowledge/x.md", "X")]
