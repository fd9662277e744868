"""Page names and the parts of page texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import InvalidArgument
from cache.model import Page, Project, ProjectKey, ProjectState, RepoRef
from gateway.pages import SMALL_BYTES, clean_slug, correct_case, cut, in_folder, page_url


class TestCleanSlug:
    @pytest.mark.parametrize(
        "slug",
        ["concepts/x", "/concepts/x", ".wiki/concepts/x", "concepts/x.md", "/.wiki/concepts/x.md", " concepts/x "],
    )
    def test_tolerates_the_ways_people_write_it(self, slug: str) -> None:
        assert clean_slug(slug) == "concepts/x"

    @pytest.mark.parametrize("slug", ["../etc/passwd", "a/../../b", ".wiki/../x", "a\\b", "..", "/../x"])
    def test_refuses_what_leaves_the_wiki(self, slug: str) -> None:
        with pytest.raises(InvalidArgument, match=r"leaves \.wiki/"):
            clean_slug(slug)

    @pytest.mark.parametrize("slug", ["", "/", ".wiki/", "  ", ".md"])
    def test_refuses_an_empty_one(self, slug: str) -> None:
        with pytest.raises(InvalidArgument, match="slug is empty"):
            clean_slug(slug)

    def test_refuses_a_directory_by_name(self) -> None:
        with pytest.raises(InvalidArgument, match="concepts/ is a directory"):
            clean_slug("concepts/")

    @pytest.mark.parametrize("slug", ["a//b", "./a", "a/./b", "a\x00b", "a\nb", "a\x1b[31mb"])
    def test_refuses_what_git_does_not_hold(self, slug: str) -> None:
        with pytest.raises(InvalidArgument) as caught:
            clean_slug(slug)
        assert caught.value.message.isprintable()

    def test_keeps_names_that_only_look_odd(self) -> None:
        assert clean_slug("sources/Über Größe 50% #1") == "sources/Über Größe 50% #1"
        assert clean_slug("a..b") == "a..b"

    @given(st.text())
    def test_gives_a_path_below_the_wiki_or_one_error(self, slug: str) -> None:
        try:
            cleaned = clean_slug(slug)
        except InvalidArgument:
            return
        assert not cleaned.startswith("/")
        assert ".." not in cleaned.split("/")


class TestCorrectCase:
    def test_mends_a_slip_of_case(self) -> None:
        assert correct_case("Concepts/caching", ["concepts/Caching", "other"]) == "concepts/Caching"

    def test_two_that_fit_are_none(self) -> None:
        assert correct_case("A", ["a", "á".casefold(), "A "]) == "a"
        assert correct_case("abc", ["ABC", "Abc"]) is None


class TestCut:
    def test_a_short_text_is_whole(self) -> None:
        excerpt = cut("one\ntwo\n", offset=0, max_chars=100)
        assert (excerpt.text, excerpt.next_offset, excerpt.chars) == ("one\ntwo\n", None, 8)

    def test_ends_at_a_line_end(self) -> None:
        assert cut("one\ntwo\nthree\n", offset=0, max_chars=10).text == "one\ntwo\n"

    def test_ends_inside_a_line_only_if_that_line_is_longer(self) -> None:
        assert cut("a" * 50, offset=0, max_chars=10).text == "a" * 10

    def test_the_bound_in_bytes_counts_too(self) -> None:
        excerpt = cut("ж" * 40_000, offset=0, max_chars=40_000)
        assert len(excerpt.text.encode()) == SMALL_BYTES

    def test_a_caller_who_asks_for_more_gets_more_bytes(self) -> None:
        assert len(cut("ж" * 60_000, offset=0, max_chars=50_000).text) == 50_000

    def test_but_no_more_than_there_is_room_for(self) -> None:
        assert len(cut("ж" * 200_000, offset=0, max_chars=200_000).text) == 100_000

    def test_the_end_itself_is_an_empty_part(self) -> None:
        assert cut("abc", offset=3, max_chars=10).text == ""

    def test_an_offset_past_the_end_is_refused(self) -> None:
        with pytest.raises(InvalidArgument, match="at most 3"):
            cut("abc", offset=4, max_chars=10)

    def test_without_a_bound_all_of_it_comes(self) -> None:
        excerpt = cut("ж" * 300_000, offset=1, max_chars=None)
        assert (len(excerpt.text), excerpt.next_offset) == (299_999, None)

    @given(st.text(alphabet="ab\nж語", max_size=200), st.integers(1, 60))
    def test_the_parts_make_the_whole_once(self, text: str, max_chars: int) -> None:
        parts, offset = [], 0
        while True:
            excerpt = cut(text, offset=offset, max_chars=max_chars)
            parts.append(excerpt.text)
            if excerpt.next_offset is None:
                break
            assert excerpt.next_offset > offset
            offset = excerpt.next_offset
        assert "".join(parts) == text


def project(url: str | None) -> Project:
    return Project(RepoRef(ProjectKey("default", 1), "acme/web", "main"), ProjectState.OK, url=url)


def test_a_page_url_encodes_each_segment_once() -> None:
    url = page_url(project("https://git.example.test/acme/web"), "sources/Über 50% #1")
    assert url == "https://git.example.test/acme/web/src/branch/main/.wiki/sources/%C3%9Cber%2050%25%20%231.md"


def test_a_local_page_has_no_url() -> None:
    assert page_url(project(None), "a") is None


def test_in_folder_names_pages_below_a_folder() -> None:
    pages = [Page(slug, "s", 1, "concepts", slug) for slug in ("concepts/a", "concepts/b", "other/c")]
    assert in_folder("Concepts", pages) == ("concepts/a", "concepts/b")
