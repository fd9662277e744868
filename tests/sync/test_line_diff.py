"""Differences as git shows them."""

from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.line_diff import MAX_EDITS, diff

PATH = ".wiki/index.md"


def applied(old: bytes, patch: str) -> bytes:
    """What a patch makes of ``old``; every line that it shows of that must be there."""
    lines = old.splitlines(keepends=True) if b"\r" not in old else re.findall(rb"[^\n]*\n|[^\n]+\Z", old)
    made: list[bytes] = []
    at = 0
    for hunk in re.split(r"^@@ ", patch, flags=re.MULTILINE)[1:]:
        head, _, body = hunk.partition(" @@\n")
        ranges = re.fullmatch(r"-(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?", head)
        assert ranges is not None
        start = int(ranges[1]) - (ranges[2] != "0")
        made += lines[at:start]
        at = start
        assert len(made) == int(ranges[3]) - (ranges[4] != "0")
        before, made_before = at, len(made)
        for mark, shown, unended in re.findall(r"^([ +-])(.*\n)(\\ No newline at end of file\n)?", body, re.MULTILINE):
            line = (shown[:-1] if unended else shown).encode()
            if mark != "+":
                assert lines[at] == line
                at += 1
            if mark != "-":
                made.append(line)
        assert at - before == int(ranges[2] or 1)
        assert len(made) - made_before == int(ranges[4] or 1)
    return b"".join([*made, *lines[at:]])


class TestShape:
    def test_is_that_of_git(self) -> None:
        old = b"".join(b"%d\n" % number for number in range(1, 21))
        new = old.replace(b"2\n3\n", b"2\nnew\n3\n", 1).replace(b"19\n", b"")
        assert diff(old, new, PATH) == (
            "--- a/.wiki/index.md\n+++ b/.wiki/index.md\n"
            "@@ -1,5 +1,6 @@\n 1\n 2\n+new\n 3\n 4\n 5\n"
            "@@ -16,5 +17,4 @@\n 16\n 17\n 18\n-19\n 20\n"
        )

    def test_of_a_new_file_says_that_there_was_none(self) -> None:
        assert diff(None, b"# A\n", PATH) == "--- /dev/null\n+++ b/.wiki/index.md\n@@ -0,0 +1 @@\n+# A\n"

    def test_of_an_empty_file_is_no_new_one(self) -> None:
        assert diff(b"", b"a\nb\n", PATH) == "--- a/.wiki/index.md\n+++ b/.wiki/index.md\n@@ -0,0 +1,2 @@\n+a\n+b\n"

    def test_of_equal_versions_is_empty(self) -> None:
        assert diff(b"a", b"a", PATH) == ""

    def test_marks_a_line_that_does_not_end(self) -> None:
        assert diff(b"a\nb", b"a\nb\nc", PATH).endswith(
            "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"
        )

    def test_keeps_carriage_returns(self) -> None:
        assert diff(b"a\r\n", b"a\n", PATH).endswith("@@ -1 +1 @@\n-a\r\n+a\n")

    def test_joins_changes_that_are_near(self) -> None:
        assert diff(b"a\n" + b"x\n" * 6 + b"b\n", b"A\n" + b"x\n" * 6 + b"B\n", PATH).count("@@ -") == 1
        assert diff(b"a\n" + b"x\n" * 7 + b"b\n", b"A\n" + b"x\n" * 7 + b"B\n", PATH).count("@@ -") == 2

    @pytest.mark.parametrize(
        ("path", "shown"), [("a b.md", "b/a b.md\t"), ('a"b.md', '"b/a\\"b.md"'), ("ü/字.md", "b/ü/字.md")]
    )
    def test_names_paths_as_git_does(self, path: str, shown: str) -> None:
        assert diff(None, b"x\n", path).splitlines()[1] == f"+++ {shown}"

    def test_shows_bytes_that_are_no_text(self) -> None:
        assert diff(b"\xff\n", b"", PATH).endswith("-\ufffd\n")


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "ü\n", "\n", "\r\n"]), max_size=30).map("".join)
TEXTS = st.builds(lambda text, last: (text + last).encode(), LINES, st.sampled_from(["", "", "a", "\r", "\\"]))


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=300)
def test_applied_to_the_old_bytes_it_gives_the_new_ones(old: bytes, new: bytes) -> None:
    assert applied(old, diff(old, new, PATH)) == new


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_it_is_no_longer_than_that_of_another_algorithm(old: bytes, new: bytes) -> None:
    first, second = (re.findall(r"[^\n]*\n|[^\n]+\Z", text.decode()) for text in (old, new))
    other = [line for line in difflib.ndiff(first, second) if line[0] in "+-"]
    ours = [line for line in diff(old, new, PATH).split("\n")[2:] if line[:1] in {"+", "-"}]
    assert len(ours) <= len(other)


class TestBounds:
    def test_versions_that_are_far_apart_are_one_change(self) -> None:
        old = b"".join(b"%d\n" % number for number in range(0, 4 * MAX_EDITS, 2))
        new = b"".join(b"%d\n" % number for number in range(0, 4 * MAX_EDITS, 3))
        patch = diff(b"same\n" + old, b"same\n" + new, PATH)
        assert patch.count("@@ -") == 1
        assert applied(b"same\n" + old, patch) == b"same\n" + new

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (b"a\n" * 2**17, b"b\n" * 2**17),
            (b"a\nb\n" * 2**16, b"b\na\na\n" * 2**15),
            (b"a\n" * 2**16 + b"b\n" * 2**16, b"b\n" * 2**16 + b"a\n" * 2**16),
        ],
    )
    def test_hostile_versions_are_compared(self, old: bytes, new: bytes) -> None:
        assert applied(old, diff(old, new, PATH)) == new
