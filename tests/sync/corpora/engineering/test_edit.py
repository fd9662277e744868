"""Edits of sections, one fact each: where content goes, what is refused, and how a new document begins."""

from __future__ import annotations

import pytest

from cache.errors import AmbiguousHeading, Conflict, InvalidArgument
from sync.corpora.engineering.edit import Mode, compose, file_into, update


def made(text: str, content: str = "new", *, heading: str = "A", mode: Mode = "append") -> str:
    return update(text, heading, content, mode).text


class TestAppend:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("## A\n\nold\n\n## B\n", "## A\n\nold\n\nnew\n\n## B\n"),
            ("## A\nold\n## B\n", "## A\nold\n\nnew\n\n## B\n"),
            ("## A\n\n\n\n## B\n", "## A\n\nnew\n\n\n\n## B\n"),
            ("## A\n## B\n", "## A\n\nnew\n\n## B\n"),
            ("## A\n```\nx\n```\nB\n---\n", "## A\n```\nx\n```\n\nnew\n\nB\n---\n"),
            ("## A\n\nold\n\n### C\n", "## A\n\nold\n\nnew\n\n### C\n"),
            ("## A\n\nold\n\n# C\n", "## A\n\nold\n\nnew\n\n# C\n"),
            ("## A", "## A\n\nnew\n"),
            ("## A\n\nold\n\n\n", "## A\n\nold\n\n\nnew\n"),
            ("## A\n\nold\n  ", "## A\n\nold\n  \nnew\n"),
            ("## A\r\rold\r\r## B\r", "## A\r\rold\r\rnew\r\r## B\r"),
            ("\ufeff## A\r\nold", "\ufeff## A\r\nold\r\n\r\nnew\r\n"),
        ],
    )
    def test_goes_behind_the_section_s_own_text(self, text: str, expected: str) -> None:
        assert made(text) == expected

    def test_continues_a_list_as_a_list(self) -> None:
        assert made("## A\n\n- x\n\n## B\n", "- y") == "## A\n\n- x\n\n- y\n\n## B\n"

    def test_takes_the_line_ends_around_it_where_there_are_several_kinds(self) -> None:
        assert made("## A\r\nx\r\n\n## B\ny\n", "1\n2") == "## A\r\nx\r\n\r\n1\r\n2\r\n\n## B\ny\n"

    def test_drops_blank_lines_around_content_and_keeps_those_in_it(self) -> None:
        assert made("## A\n", "\n\n  x\n\n\ny  \n\n") == "## A\n\n  x\n\n\ny  \n"


class TestReplace:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("## A\n\nold\n\nolder\n\n## B\n", "## A\n\nnew\n\n## B\n"),
            ("## A\nold\n## B\n", "## A\n\nnew\n\n## B\n"),
            ("## A\n\n\n\nold\n\n\n\n## B\n", "## A\n\n\n\nnew\n\n\n\n## B\n"),
            ("## A\n## B\n", "## A\n\nnew\n\n## B\n"),
            ("## A\n\nold\n\n### C\n\nkept\n", "## A\n\nnew\n\n### C\n\nkept\n"),
            ("## A\n\nold", "## A\n\nnew\n"),
            ("## A\n\n```\nopen\n", "## A\n\nnew\n"),
            ("A\n---\nold\n", "A\n---\n\nnew\n"),
        ],
    )
    def test_puts_content_in_place_of_the_section_s_own_text(self, text: str, expected: str) -> None:
        assert made(text, mode="replace") == expected


class TestNewSections:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", "## A\n\nnew\n"),
            ("\ufeff", "\ufeff## A\n\nnew\n"),
            ("# T\n", "# T\n\n## A\n\nnew\n"),
            ("x\r\n\r\n\r\n", "x\r\n\r\n\r\n## A\r\n\r\nnew\r\n"),
            ("---\ntitle: T\n---", "---\ntitle: T\n---\n\n## A\n\nnew\n"),
            ("- ```\n  x", "- ```\n  x\n\n## A\n\nnew\n"),
        ],
    )
    def test_come_at_the_end(self, text: str, expected: str) -> None:
        done = update(text, "A", "new", "replace")
        assert (done.text, done.created) == (expected, True)

    def test_read_as_they_were_named(self) -> None:
        text = made("# T\n", heading="a *b* <c>")
        assert text == "# T\n\n## a \\*b\\* \\<c>\n\nnew\n"
        assert update(text, "a *b* <c>", "more", "append").created is False


class TestRefusals:
    @pytest.mark.parametrize("content", ["```\nx", "~~~~", "<!-- x", "<script>", "a\n\n```sh\n\n## x"])
    def test_of_content_that_is_left_open(self, content: str) -> None:
        with pytest.raises(InvalidArgument, match="content leaves code or a comment open — close it at its end"):
            made("# T\n\n## A\n\n## B\n", content)

    @pytest.mark.parametrize("content", ["# x", "## x", "x\n---", "x\n===", "ok\n\n## x"])
    def test_of_headings_that_would_end_the_section(self, content: str) -> None:
        with pytest.raises(InvalidArgument, match=r"heading 'x' of level [12], .* give it level 3 or deeper"):
            made("# T\n\n## A\n\n## B\n", content)

    def test_of_headings_that_would_take_over_what_is_below(self) -> None:
        text = "## A\n\n#### C\n"
        with pytest.raises(InvalidArgument, match="give it level 4 or deeper"):
            made(text, "### x")
        assert made(text, "#### x") == "## A\n\n#### x\n\n#### C\n"

    def test_of_any_heading_where_there_is_no_deeper_level(self) -> None:
        with pytest.raises(InvalidArgument, match="write bold text instead"):
            made("###### A\n", "###### x")

    def test_but_not_of_what_only_looks_like_it(self) -> None:
        content = "```\n## x\n```\n\n- ## x\n\n> ## x\n\n    ## x\n\n---"
        assert made("## A\n", content) == f"## A\n\n{content}\n"

    @pytest.mark.parametrize("content", ["", " \n\t\n", "\ufeff"])
    def test_of_nothing(self, content: str) -> None:
        with pytest.raises(InvalidArgument, match="content is empty"):
            made("## A\n", content)

    @pytest.mark.parametrize("text", ["# T\n\n## A\n\n```\nx\n", "## A\n\n<!--\n"])
    def test_of_a_document_that_is_left_open(self, text: str) -> None:
        with pytest.raises(Conflict, match="still open at line"):
            made(text)

    def test_of_what_would_close_something_above(self) -> None:
        with pytest.raises(InvalidArgument, match="would change how the document around it reads"):
            made("---\nkey: x\n\n## A\n", "---")

    def test_of_a_heading_that_fits_several(self) -> None:
        with pytest.raises(AmbiguousHeading):
            made("## A\n\n## A\n")


class TestNewDocuments:
    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("x", "# T\n\nx\n"),
            ("# T\n\nx", "# T\n\nx\n"),
            ("T\n===\r\nx\r\n", "T\n===\nx\n"),
            ("---\ntags: [a]\n---\nx", "---\ntags: [a]\n---\n\n# T\n\nx\n"),
            ("---\ntitle: T\n---\nx", "---\ntitle: T\n---\nx\n"),
            ("## A\n", "# T\n\n## A\n"),
        ],
    )
    def test_have_their_title_once(self, content: str, expected: str) -> None:
        assert compose("T", content) == expected

    @pytest.mark.parametrize("content", ["# Other\n", "x\n\n# Other", "---\ntitle: Other\n---\nx"])
    def test_have_no_other_title(self, content: str) -> None:
        with pytest.raises(InvalidArgument, match="content has a title of its own, 'Other'"):
            compose("T", content)

    @pytest.mark.parametrize(("title", "content"), [("", "x"), ("a\nb", "x"), ("# T", "x"), ("T", ""), ("T", "```\nx")])
    def test_are_refused_where_they_could_not_be_edited(self, title: str, content: str) -> None:
        with pytest.raises(InvalidArgument):
            compose(title, content)

    def test_may_have_any_title(self) -> None:
        assert compose("C# *x* #", "y") == "# C\\# \\*x\\* \\#\n\ny\n"


class TestFiling:
    def test_lowers_headings_as_far_as_they_must(self) -> None:
        assert file_into("## A\n\n#### C\n", "A", "### x\n\ny") == "## A\n\n#### x\n\ny\n\n#### C\n"
        assert file_into("# T\n", "A", "# x\n") == "# T\n\n## A\n\n### x\n"

    def test_adds_nothing_that_is_there(self) -> None:
        once = file_into("## A\n\nold\n\n## B\n", "A", "### x\n\ny")
        assert file_into(once, "a", "### x\n\ny") == once

    def test_adds_what_only_stands_inside_of_other_text(self) -> None:
        assert file_into("## A\n\na\nx\nb\n", "A", "x") == "## A\n\na\nx\nb\n\nx\n"
