"""What writing a page comes to, by what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cache.errors import Conflict, InvalidArgument, TooLarge
from cache.model import TreeEntry
from sync.forge.base import Absent, File, Refused, TooBig
from sync.forge.blobs import blob_name, blob_sha
from sync.forge.writing import Change, LastChange
from sync.ingest import (
    Clash,
    Draft,
    Finding,
    Plan,
    Scene,
    blobs_after,
    conflict,
    file_of,
    find_place,
    find_place_again,
    plan,
    revision_of,
    shown_as_diff,
)

INDEX = "# Wiki\n\n## Concepts\n\n- [One](concepts/one.md)\n"
ONE = "# One\n"
DRAFT = Draft.of("keys", "concepts", "Cache keys", "One each.\n", "what tells")
PAGE = b"# Cache keys\n\nOne each.\n"
LISTED = f"{INDEX}- [Cache keys](concepts/keys.md) — what tells\n".encode()
COMMIT = "c" * 40


def scene(files: Mapping[str, str], draft: Draft = DRAFT, *, commit: str = COMMIT) -> Scene:
    """A wiki of ``files`` by their paths below ``.wiki/``."""
    names = {path: blob_name(text.encode(), like=commit) for path, text in files.items()}
    tree = tuple(TreeEntry(path, 0o100644, names[path], len(text.encode())) for path, text in sorted(files.items()))
    place = find_place(draft, tree)
    read = {path: File(f".wiki/{path}", names[path], text.encode()) for path, text in files.items()}
    return Scene(commit, tree, place, read.get(place.target.path), read.get(place.index), at=1.0)


BEFORE = scene({"index.md": INDEX, "concepts/one.md": ONE})
AFTER = scene({"index.md": LISTED.decode(), "concepts/one.md": ONE, "concepts/keys.md": PAGE.decode()})


def planned(draft: Draft, of: Scene, expected: str | None = None, *, sent: bool = False) -> Plan:
    decision = plan(draft, of, expected, sent=sent)
    assert isinstance(decision, Plan)
    return decision


class TestDraft:
    def test_words_are_put_on_one_line(self) -> None:
        assert Draft.of("a", None, " Two\n words ", "b", "\t").title == "Two words"

    @pytest.mark.parametrize("title", ["", " \n"])
    def test_there_is_a_title(self, title: str) -> None:
        with pytest.raises(InvalidArgument, match="title is empty"):
            Draft.of("a", None, title, "b")


class TestPlace:
    @pytest.mark.parametrize(
        ("files", "index"),
        [
            ({}, "index.md"),
            ({"README.md": "# R\n"}, "README.md"),
            ({"README.md": "# R\n", "INDEX.MD": "# I\n"}, "INDEX.MD"),
            ({"concepts/index.md": "# C\n"}, "index.md"),
        ],
    )
    def test_the_line_goes_where_the_reader_looks(self, files: Mapping[str, str], index: str) -> None:
        assert scene(files).place.index == index

    @pytest.mark.parametrize("path", ["index.md", "Index.md", "index.md/a.md"])
    def test_what_is_no_file_is_in_the_way_of_an_index(self, path: str) -> None:
        entry = TreeEntry(path, 0o120000 if "/" not in path else 0o100644, "a" * 40, 1)
        with pytest.raises(Conflict, match=f"{path} is in the way of an index — put a regular file in its place"):
            find_place(DRAFT, [entry])

    def test_a_page_that_went_is_not_looked_for_under_another_name(self) -> None:
        draft = replace(DRAFT, slug="guides/a", type=None)
        place = scene({"guides/a.md": "# A\n"}, draft).place
        again = find_place_again(place, scene({"guides/b.md": "# B\n", "concepts/guides/a.md": "# A\n"}).tree)
        assert (again.target.slug, again.target.exists, again.target.type) == ("guides/a", False, None)

    def test_a_new_one_must_be_one_still(self) -> None:
        assert find_place_again(BEFORE.place, AFTER.tree).target.exists
        with pytest.raises(InvalidArgument, match="concepts/Keys exists"):
            find_place_again(BEFORE.place, scene({"concepts/Keys.md": ""}, replace(DRAFT, slug="x")).tree)

    def test_what_was_read_is_a_file_or_none(self) -> None:
        file = File("a", "b" * 40, b"")
        assert (file_of(file), file_of(Absent("a"))) == (file, None)
        with pytest.raises(TooLarge, match="a is larger than 3 bytes"):
            file_of(TooBig("a", 3))
        with pytest.raises(Conflict, match="a is a symbolic link — put a regular file in its place"):
            file_of(Refused("a", "a symbolic link"))


class TestPlan:
    def test_a_new_page_is_made_and_the_index_changed_as_they_were_read(self) -> None:
        assert planned(DRAFT, BEFORE).changes == (
            Change(".wiki/concepts/keys.md", PAGE, None),
            Change(".wiki/index.md", LISTED, blob_sha(INDEX.encode())),
        )

    def test_a_wiki_that_has_it_all_needs_nothing(self) -> None:
        assert planned(DRAFT, AFTER).changes == planned(DRAFT, AFTER, "another").changes == ()

    @pytest.mark.parametrize("sent", [False, True])
    @pytest.mark.parametrize("expected", [None, "another"])
    def test_a_page_of_another_text_takes_having_read_it(self, expected: str | None, sent: bool) -> None:
        other = replace(DRAFT, body="Other.\n")
        assert plan(other, AFTER, expected, sent=sent) == Clash(AFTER.revision)
        assert len(planned(other, AFTER, AFTER.revision).changes) == 1

    def test_a_page_that_is_not_there_cannot_have_been_read(self) -> None:
        assert plan(DRAFT, BEFORE, "a" * 40) == Clash(None)

    def test_the_line_alone_takes_having_read_the_page(self) -> None:
        reworded = replace(DRAFT, description="other words")
        assert plan(reworded, AFTER, None) == Clash(AFTER.revision)
        assert [each.path for each in planned(reworded, AFTER, AFTER.revision).changes] == [".wiki/index.md"]

    def test_of_what_was_sent_the_line_is_anybodys(self) -> None:
        reworded = replace(DRAFT, description="other words")
        assert planned(reworded, AFTER, None, sent=True).changes == ()

    def test_of_what_was_sent_a_line_that_is_missing_is_added(self) -> None:
        unlisted = scene({"index.md": INDEX, "concepts/one.md": ONE, "concepts/keys.md": PAGE.decode()})
        assert [each.path for each in planned(DRAFT, unlisted, None, sent=True).changes] == [".wiki/index.md"]

    @pytest.mark.parametrize(
        ("body", "section"), [("---\ntype: package\n---\nx\n", "Packages"), ("---\ntype: odd\n---\nx\n", "Other")]
    )
    def test_a_page_in_no_types_folder_is_listed_by_what_it_says(self, body: str, section: str) -> None:
        draft = replace(DRAFT, slug="guides/a", type=None, body=body)
        found = scene({"index.md": INDEX, "guides/a.md": "# A\n"}, draft)
        index = planned(draft, found, found.revision).changes[1].data.decode()
        assert index.endswith(f"## {section}\n\n- [Cache keys](guides/a.md) — what tells\n")

    def test_what_it_makes_is_what_follows(self) -> None:
        made = planned(DRAFT, BEFORE)
        shas = {each.path: blob_sha(each.data) for each in made.changes}
        after = BEFORE.after(made.edit("concepts/keys"), COMMIT, shas, at=2.0)
        assert after == replace(AFTER, place=BEFORE.place, at=2.0)
        assert blobs_after(BEFORE, made) == after.blobs

    def test_a_file_keeps_its_mode(self) -> None:
        tree = tuple(replace(entry, mode=0o100755) for entry in BEFORE.tree)
        made = planned(DRAFT, BEFORE)
        shas = {each.path: blob_sha(each.data) for each in made.changes}
        after = replace(BEFORE, tree=tree).after(made.edit(""), COMMIT, shas, at=2.0)
        assert {entry.path: entry.mode for entry in after.tree} == {
            "concepts/keys.md": 0o100644,
            "concepts/one.md": 0o100755,
            "index.md": 0o100755,
        }

    @pytest.mark.parametrize("digits", [40, 64])
    def test_the_revision_is_told_before_it_is_written(self, digits: int) -> None:
        found = scene({"index.md": INDEX}, commit="c" * digits)
        assert revision_of(planned(DRAFT, found), found) == blob_name(PAGE, like="x" * digits)

    def test_the_diff_shows_page_and_index(self) -> None:
        assert shown_as_diff(planned(DRAFT, BEFORE), BEFORE) == (
            "--- /dev/null\n+++ b/.wiki/concepts/keys.md\n@@ -0,0 +1,3 @@\n+# Cache keys\n+\n+One each.\n"
            "--- a/.wiki/index.md\n+++ b/.wiki/index.md\n@@ -3,3 +3,4 @@\n ## Concepts\n \n - [One](concepts/one.md)\n"
            "+- [Cache keys](concepts/keys.md) — what tells\n"
        )


class TestConflict:
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (None, "x at revision"),
            (
                LastChange(COMMIT, "Bob\x1b[1m", 1e9),
                "changed by Bob\N{REPLACEMENT CHARACTER}[1m at 2001-09-09T01:46:40Z",
            ),
            (LastChange(COMMIT, "Bob", 1e30), "changed by Bob —"),
            (LastChange("", "", 1e9, uncommitted=True), "edited at 2001-09-09T01:46:40Z and not committed"),
        ],
    )
    def test_it_says_by_whom_as_far_as_that_is_known(self, change: LastChange | None, told: str) -> None:
        finding = Finding("x", None, Clash("r"), change, meanwhile=False, sent=False)
        assert told.replace("x at revision", "page exists: x is at revision r — read it") in conflict(finding).message

    def test_it_says_that_what_was_sent_may_be_there(self) -> None:
        finding = Finding("x", "q", Clash("r"), None, meanwhile=True, sent=True)
        assert conflict(finding).message == (
            "page changed: x is at revision r, between read and write, after what was sent may have been written"
            " — read it, then send that revision as expected_revision"
        )
