"""The documents of a checkout: always as they are now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cache.search.query import Query
from sync.corpora.swarmkit.documents import Documents
from tests.support.swarmkit_repo import EXTRA, titles, write

NOW = 4_000_000_000.0  # whatever was written is older than that


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "design/details/a.md", "# Alpha\n\napple\n")
    write(tmp_path / "design/details/b.md", "# Beta\n\nbanana\n")
    return tmp_path


@pytest.fixture
def documents(root: Path) -> Documents:
    return Documents(root, lambda: NOW)


def paths(documents: Documents, query: str) -> list[str]:
    return [found.section.path for found in documents.search(Query.parse(query), 5)]


class TestAlwaysCurrent:
    def test_a_new_file_is_found(self, documents: Documents, root: Path) -> None:
        assert paths(documents, "cherry") == []
        write(root / "design/details/deep/er/c.md", "# Gamma\n\ncherry\n")
        assert paths(documents, "cherry") == ["design/details/deep/er/c.md"]

    def test_a_changed_one_is_read_again(self, documents: Documents, root: Path) -> None:
        assert paths(documents, "apple") == ["design/details/a.md"]
        write(root / "design/details/a.md", "# Alpha\n\ncherry\n")
        assert paths(documents, "apple") == []
        assert paths(documents, "cherry") == ["design/details/a.md"]

    def test_so_is_one_that_was_put_in_its_place_with_its_time(self, documents: Documents, root: Path) -> None:
        paths(documents, "apple")
        old = root / "design/details/a.md"
        write(root / "new", "# Alpha\n\nmelon\n")
        os.utime(root / "new", ns=(old.stat().st_atime_ns, old.stat().st_mtime_ns))
        (root / "new").rename(old)
        assert paths(documents, "melon") == ["design/details/a.md"]

    def test_a_removed_one_is_not_found(self, documents: Documents, root: Path) -> None:
        assert paths(documents, "apple")
        (root / "design/details/a.md").unlink()
        assert paths(documents, "apple") == []
        assert [note.slug for note in documents.notes()] == ["b"]

    def test_a_renamed_one_is_found_where_it_is(self, documents: Documents, root: Path) -> None:
        paths(documents, "apple")
        (root / "design/details/a.md").rename(root / "design/details/z.md")
        assert paths(documents, "apple") == ["design/details/z.md"]

    def test_what_changed_within_a_tick_of_the_clock_is_seen(self, root: Path) -> None:
        file = root / "design/details/a.md"
        documents = Documents(root, lambda: file.stat().st_mtime)
        paths(documents, "apple")
        stat = file.stat()
        with file.open("r+") as open_file:
            open_file.write("# Alpha\n\ngrape\n")
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert paths(documents, "grape") == ["design/details/a.md"]


class TestMentions:
    @pytest.mark.parametrize("text", ["see `a.b-c`.", "| a.b-c | x |", "(a.b-c)", "a.b-c\nz"])
    def test_a_section_that_names_a_code_is_found(self, root: Path, text: str) -> None:
        write(root / "docs/notes/x.md", f"# X\n\n## One\n\n{text}\n\n## Two\n")
        found = Documents(root, lambda: NOW).mentions("a.b-c")
        assert [(section.path, section.heading) for section in found] == [("docs/notes/x.md", "One")]

    @pytest.mark.parametrize("text", ["x.a.b-c", "a.b-c-d", "a.b-c.d", "A.b-c", "a.b-cd", "-a.b-c"])
    def test_another_word_that_holds_it_is_none(self, root: Path, text: str) -> None:
        write(root / "docs/notes/x.md", text)
        assert list(Documents(root, lambda: NOW).mentions("a.b-c")) == []


class TestFaults:
    def test_a_link_that_leads_out_is_not_read(
        self, documents: Documents, root: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        outside = tmp_path_factory.mktemp("outside")
        write(outside / "secret.md", "# Secret\n\npassword\n")
        (root / "design/details/link.md").symlink_to(outside / "secret.md")
        (root / "design/details/folder").symlink_to(outside)
        assert paths(documents, "password") == []

    def test_no_checkout_at_all_is_an_empty_one(self, tmp_path: Path) -> None:
        assert paths(Documents(tmp_path / "nothing", lambda: NOW), "x") == []


class TestWholeCheckout:
    def test_a_title_finds_its_note_first(self, repo: Path) -> None:
        documents = Documents(repo, lambda: NOW)
        first = [paths(documents, note.title)[0] for note in titles()]
        right = [path == f"design/details/{note.slug}.md" for path, note in zip(first, titles(), strict=True)]
        assert sum(right) >= 125

    def test_every_note_is_known_whatever_its_front_matter(self, repo: Path) -> None:
        notes = Documents(repo, lambda: NOW).notes()
        assert len(notes) == 160
        assert {note.title for note in notes if "/" not in note.slug} >= {
            note.title for number, note in enumerate(titles()) if number % 2
        }

    @pytest.mark.parametrize(
        ("word", "path"),
        [
            (EXTRA[path].rstrip().rpartition(" ")[2].rstrip("."), path)
            for path in EXTRA
            if path not in ("docs/site/index.md", "docs/notes/errors.md")
        ],
    )
    def test_each_kind_of_document_is_searched(self, repo: Path, word: str, path: str) -> None:
        assert paths(Documents(repo, lambda: NOW), word) == [path]

    def test_the_sites_own_pages_and_copies_are_not(self, repo: Path) -> None:
        documents = Documents(repo, lambda: NOW)
        assert paths(documents, "vanilla") == []
        assert not [path for note in titles()[:20] for path in paths(documents, note.title) if "docs/site" in path]
