"""What a page is to hold once it is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.errors import InvalidArgument, KnowledgeError, NotUtf8, TooLarge
from sync import front_matter
from sync.page import facts
from sync.page_edit import MAX_BODY, PageText, compose_page

PATH = ".wiki/concepts/keys.md"


def compose(body: str, existing: str | bytes | None = None, title: str = "Cache keys") -> PageText:
    return compose_page(title, body, existing.encode() if isinstance(existing, str) else existing, PATH)


def text(body: str, existing: str | bytes | None = None, title: str = "Cache keys") -> str:
    return compose(body, existing, title).data.decode()


class TestTitle:
    def test_is_a_heading_where_the_page_has_none(self) -> None:
        assert text("How caches are keyed.\n") == "# Cache keys\n\nHow caches are keyed.\n"

    def test_stands_behind_front_matter(self) -> None:
        assert text("---\ntags: [a]\n---\n\nText\n") == "---\ntags: [a]\n---\n\n# Cache keys\n\nText\n"
        assert text("Text\n", "---\ntags: [a]\n---\nOld\n") == "---\ntags: [a]\n---\n# Cache keys\n\nText\n"
        assert text("---\ntags: []\n---\n") == "---\ntags: []\n---\n# Cache keys\n"

    @pytest.mark.parametrize(
        "body", ["# Cache keys\n\nText\n", "# Other\n", "Other\n===\n", "---\ntitle: Other\n---\nText\n", "a\n\n# b\n"]
    )
    def test_of_the_bodys_own_is_left_alone(self, body: str) -> None:
        assert text(body) == body

    @pytest.mark.parametrize("body", ["## Part\n", "> # Quoted\n", "```\n# code\n```\n", "---\ntitle:\n---\nText\n"])
    def test_is_missing_where_only_something_else_looks_like_one(self, body: str) -> None:
        assert "# Cache keys\n" in text(body)

    def test_of_kept_front_matter_is_enough(self) -> None:
        page = compose("Text\n", "---\ntitle: Kept\n---\n# Old\n")
        assert page.data == b"---\ntitle: Kept\n---\nText\n"
        assert page.title == "Kept"

    @pytest.mark.parametrize(
        "title", ["C #", "# a", "*a*", "1. a", "- a", "a\\", "[[a|b]]", "&amp;", "a `b`", "---", "#"]
    )
    def test_is_read_back_whatever_it_holds(self, title: str) -> None:
        page = compose("Text\n", title=title)
        assert page.title == facts(page.data.decode()).heading == title

    def test_is_told(self) -> None:
        assert compose("# Heading\n").title == "Heading"
        assert compose("---\ntitle: From YAML\ntype: source\n---\n# Heading\n").facts.title == "From YAML"
        assert compose("Text").title == "Cache keys"


class TestFrontMatter:
    KEPT = "---\r\ntitle:   'Cache  keys'   # why\r\nx: [1,\t2]\r\n...\r\n"

    def test_is_kept_byte_for_byte(self) -> None:
        assert text("# New\n", self.KEPT + "# Old\r\n") == self.KEPT + "# New\r\n"

    def test_gives_way_to_that_of_the_body(self) -> None:
        assert text("---\ntags: []\n---\n# New\n", self.KEPT + "# Old\r\n") == "---\r\ntags: []\r\n---\r\n# New\r\n"

    def test_gives_way_to_empty_front_matter(self) -> None:
        assert text("---\n---\n# New\n", "---\ntags: []\n---\n# Old\n") == "---\n---\n# New\n"

    def test_does_not_give_way_to_rules(self) -> None:
        assert (
            text("---\njust text\n---\n# New\n", "---\na: b\n---\n") == "---\na: b\n---\n---\njust text\n---\n# New\n"
        )

    def test_that_ends_with_the_page_is_ended(self) -> None:
        assert text("# New", "---\na: b\n---") == "---\na: b\n---\n# New\n"


class TestLineEnds:
    def test_of_a_new_page_are_the_bodys(self) -> None:
        assert text("a\r\nb") == "# Cache keys\r\n\r\na\r\nb\r\n"

    @pytest.mark.parametrize("body", ["# New\n\na", "# New\r\n\r\na\r\n", "# New\r\n\na"])
    def test_are_those_of_the_page_so_far(self, body: str) -> None:
        assert text(body, "old\r\npage\r\n") == "# New\r\n\r\na\r\n"
        assert text(body, "old\npage") == "# New\n\na\n"

    def test_are_the_bodys_where_the_page_has_both_or_none(self) -> None:
        assert text("# New\r\n\na\n", "old\r\npage\n") == "# New\r\n\na\n"
        assert text("# New\r\na", "old") == "# New\r\na\r\n"

    def test_end_the_last_line(self) -> None:
        assert text("# New") == "# New\n"
        assert text("# New\r") == "# New\r"


class TestByteOrderMark:
    def test_of_the_body_is_left_out(self) -> None:
        assert text("\ufeff# New\n") == "# New\n"

    @pytest.mark.parametrize("old", ["\ufeff# Old\n", "\ufeff---\na: b\n---\n# Old\n"])
    @pytest.mark.parametrize("body", ["# New\n", "\ufeff# New\n", "---\nc: d\n---\n# New\n"])
    def test_of_the_page_is_kept(self, old: str, body: str) -> None:
        page = text(body, old)
        assert page.startswith("\ufeff")
        assert page.count("\ufeff") == 1


class TestRefusals:
    def test_are_for_more_than_a_mebibyte(self) -> None:
        assert len(compose("# " + "x" * (MAX_BODY - 2)).data) == MAX_BODY + 1
        for body in ("x" * (MAX_BODY + 1), "ü" * (MAX_BODY // 2) + "x"):
            with pytest.raises(TooLarge, match="body is larger than 1048576 bytes"):
                compose(body)

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            ("a\ud800", "lone surrogate, U\\+D800"),
            ("a\0b", "NUL"),
            ("", "empty"),
            (" \n", "empty"),
            ("\ufeff", "empty"),
        ],
    )
    def test_are_for_what_no_page_holds(self, body: str, reason: str) -> None:
        with pytest.raises(InvalidArgument, match=reason) as caught:
            compose(body)
        assert caught.value.argument == "body"

    def test_are_for_an_existing_page_that_is_no_text(self) -> None:
        with pytest.raises(NotUtf8, match=PATH):
            compose("Text", b"\xff")
        with pytest.raises(InvalidArgument, match=PATH):
            compose("Text", b"a\0b")


PARTS = st.sampled_from(["---\n", "a: b\n", "title: T\n", "# H\n", "text\n", "\r\n", "\n", "...\n", "\ufeff", "```\n"])
PAGES = st.lists(PARTS, max_size=8).map("".join) | st.text(max_size=80)


@given(PAGES, st.none() | PAGES, st.sampled_from(["Cache keys", "a * b_", "<x>", "字", "#"]))
@settings(deadline=None, max_examples=300)
def test_the_page_has_a_title_its_body_and_what_it_keeps(body: str, old: str | None, title: str) -> None:
    try:
        page = compose(body, old, title)
    except KnowledgeError:
        return
    made = page.data.decode()
    assert page.facts == facts(made)
    assert page.title
    words = body.lstrip("\ufeff")
    prose = words[front_matter.split(words)[1] :]
    assert made.replace("\r\n", "\n").rstrip("\r\n").endswith(prose.replace("\r\n", "\n").strip("\r\n"))
    if old is not None and not front_matter.split(words)[1]:
        assert made.startswith(old[: front_matter.split(old)[1]])
    assert compose(body, made, title).data == page.data
