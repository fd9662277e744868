"""Blocks of text and links, read in windows."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.blocks import Block, BlockKind, Piece, PieceKind
from sync.markdown import _LIMITS, LONGEST, MAX_EMBEDS, MAX_NESTING, MAX_TITLE, WINDOW, blocks

TEXT, CODE, LINK, WIKILINK = PieceKind.TEXT, PieceKind.CODE, PieceKind.LINK, PieceKind.WIKILINK


def pieces(text: str) -> list[Piece]:
    return [piece for block in blocks(text) for cell in block.cells for piece in cell]


def links(text: str) -> list[tuple[str, str]]:
    return [(piece.text, piece.target) for piece in pieces(text) if piece.kind in {LINK, WIKILINK}]


class TestBlocks:
    def test_are_headings_paragraphs_and_rows(self) -> None:
        text = "# One\n\ntext\n\n| a | b |\n|---|---|\n| c | d |\n\nTwo\n---\n"
        assert [(block.kind.name, block.text, block.level) for block in blocks(text)] == [
            ("HEADING", "One", 1),
            ("PARAGRAPH", "text", 0),
            ("HEAD", "ab", 0),
            ("ROW", "cd", 0),
            ("HEADING", "Two", 2),
        ]

    @pytest.mark.parametrize("start", ["    code", "> quote", "```\ncode\n```", "- item"])
    def test_end_at_a_lone_carriage_return_as_at_any_line_end(self, start: str) -> None:
        text = f"{start}\n\n## A\n\ntext\n"
        assert list(blocks(text.replace("\n", "\r"))) == list(blocks(text))

    def test_know_where_in_lists_and_quotes_they_stand(self) -> None:
        text = "- a\n\n  b\n  - c\n- d\n\n> e\n> - f\n\ng\n\n- # h\n"
        assert [(block.text, block.depth, block.opens, block.quoted) for block in blocks(text)] == [
            ("a", 1, True, False),
            ("b", 1, False, False),
            ("c", 2, True, False),
            ("d", 1, True, False),
            ("e", 0, True, True),
            ("f", 1, True, True),
            ("g", 0, True, False),
            ("h", 1, True, False),
        ]

    def test_an_item_that_opens_with_a_list_has_been_opened(self) -> None:
        assert [(block.text, block.depth, block.opens) for block in blocks("- - a\n\n  b\n")] == [
            ("a", 2, True),
            ("b", 1, False),
        ]

    def test_leave_code_html_and_rules_out(self) -> None:
        assert list(blocks("```\na\n```\n\n    b\n\n<div>c</div>\n\n***\n\n<!-- d -->\n\n- ***\n")) == []

    @pytest.mark.parametrize("letter", ["a", "ä", "字", "😀"])
    @pytest.mark.parametrize(
        ("text", "starts"),
        [
            ("# a\n\naa\n\nTwo\n---\n", ["# a", "aa", "Two"]),
            ("| a | b |\n|---|---|\n| c | a |\n", ["| a |", "| c |"]),
            (" - aa\n\n   aaa\n   - b\n - c\n", [" - aa", "aaa", "- b", " - c"]),
            ("-\n- a\n\n      code\n\n  b\n", ["- a", "b"]),
            ("1. - a\n", ["- a"]),
            ("```\na\n```\n\n> - a\n>\n> b\n", ["- a", "b"]),
        ],
    )
    def test_know_where_they_begin(self, text: str, starts: list[str], letter: str) -> None:
        text = text.replace("a", letter)
        found = [block.start for block in blocks(text)]
        assert found == [text.index(start.replace("a", letter)) for start in starts]

    @pytest.mark.parametrize("letter", ["a", "ä", "😀"])
    @pytest.mark.parametrize(
        ("text", "ends"),
        [
            ("# a\n\nb\na\n\nTwo\n---\n\nx", [4, 9, 18, 20]),
            ("- a\n  - b\n\n    ```\n    a\n    ```\n- c\n<!-- a -->\n", [37, 37, 37]),
            ("| a |\n|---|\n| b |\n\nc", [18, 18, 20]),
            ("> - a\n>\n> b\n", [12, 12]),
        ],
    )
    def test_know_where_that_ends_which_they_belong_to(self, text: str, ends: list[int], letter: str) -> None:
        assert [block.end for block in blocks(text.replace("a", letter))] == ends

    def test_know_their_places_in_every_window(self) -> None:
        paragraph = "ä" * 70 + "\n\n"
        items = "- ö\n" * 3
        text = (paragraph + items + "\n") * 2 * (WINDOW // 80)
        found = list(blocks(text))
        assert all(text.startswith(("ä", "- ö"), block.start) for block in found)
        assert {text[block.end - 2 : block.end] for block in found} == {"ä\n", "\n\n"}

    def test_begin_where_they_are_told_to(self) -> None:
        assert [(block.text, block.start) for block in blocks("ä # no\n# ja\n", 7)] == [("ja", 7)]


class TestPieces:
    def test_are_text_code_and_links(self) -> None:
        assert pieces("a *b*\n`c` [d `e`\nf](g.md) [[h]] [[i|j]]") == [
            Piece(TEXT, "a b\n"),
            Piece(CODE, "c"),
            Piece(TEXT, " "),
            Piece(LINK, "d e f", "g.md"),
            Piece(TEXT, " "),
            Piece(WIKILINK, "h", "h"),
            Piece(TEXT, " "),
            Piece(WIKILINK, "j", "i"),
        ]

    def test_images_are_left_out_but_for_their_text_in_a_link(self) -> None:
        assert pieces("a![b [c](d)](e) ![[i]]") == [Piece(TEXT, "a"), Piece(TEXT, " ")]
        assert pieces("[![f](g)](h)") == [Piece(LINK, "f", "h")]

    def test_a_break_in_html_parts_words(self) -> None:
        assert [block.text for block in blocks("a<br/>b<BR>c<b>d</b>")] == ["a b cd"]

    def test_an_address_is_a_link_to_it(self) -> None:
        assert links("<a@example.test>") == [("a@example.test", "mailto:a@example.test")]

    def test_a_link_with_brackets_in_its_text_is_no_wikilink(self) -> None:
        assert pieces("[[a b]](c/d.md) e") == [Piece(LINK, "a b", "c/d.md"), Piece(TEXT, " e")]
        assert links("[[a]](see there) [[b]](optional)") == [("a", "a"), ("b", "b")]

    @pytest.mark.parametrize("row", ["| [[a/b|c d]] | e |", "| [[a/b\\|c d]] | e |", "[[a/b|c d]] | e"])
    def test_a_wikilinks_bar_ends_no_cell(self, row: str) -> None:
        (block,) = [block for block in blocks(f"x | y\n--|--\n{row}\n") if block.kind is BlockKind.ROW]
        assert block.cells == ((Piece(WIKILINK, "c d", "a/b"),), (Piece(TEXT, "e"),))

    def test_bars_elsewhere_stay(self) -> None:
        assert [block.text for block in blocks("| a | b |\n|--|--|\n| `[[c|d]]` | [[e|]] f |\n")] == [
            "ab",
            "[[c|d]]e f",
        ]
        assert pieces("[[a|b]] or `[[c|d]]`")[2] == Piece(CODE, "[[c|d]]")


class TestHostileText:
    def test_lone_surrogates_are_replaced(self) -> None:
        assert [block.text for block in blocks("a \ud800 [b\udfff](c)")] == ["a \ufffd b\ufffd"]

    def test_containers_nested_beyond_reason_are_text(self) -> None:
        assert max(block.depth for block in blocks("- " * MAX_NESTING + "a")) == MAX_NESTING
        assert max(block.depth for block in blocks("- " * 100_000 + "a")) == 0
        assert not any(block.quoted for block in blocks(">" * 100_000 + "a\n" + "b\n" * 10))

    def test_deep_indentation_nests_no_further(self) -> None:
        text = "".join(" " * (2 * depth) + "- a\n" for depth in range(1000))
        assert max(block.depth for block in blocks(text)) < 100

    def test_embeds_beyond_reason_are_text(self) -> None:
        assert links("![[a]] [[b]]\n" * (MAX_EMBEDS + 1))[:1] == [("b", "b")]

    def test_a_quote_that_may_open_an_endless_title_is_a_typographic_one(self) -> None:
        endless = '[a](b "' + "c\n" * (MAX_TITLE + 1)
        assert next(blocks(endless)).text.startswith("[a](b “c c")
        assert links('[a](b "c\nd")') == [("a", "b")]

    def test_one_endless_line_is_read_in_pieces(self) -> None:
        assert len(links("[a](b) " * (WINDOW // 2))) > WINDOW // 2 - 10

    @pytest.mark.parametrize("fence", ["```\n{}```\n", "<!--\n{}-->\n", "<pre>\n{}</pre>\n"])
    def test_code_and_comments_are_read_whole(self, fence: str) -> None:
        hidden = fence.format("[a](b)\n\n" * LONGEST)
        assert links(f"[x](y)\n\n{hidden}\n[z](w)\n") == [("x", "y"), ("z", "w")]

    def test_a_longer_list_is_read_in_pieces(self) -> None:
        count = LONGEST // 5
        assert len(links("- [a](b)\n" * count)) == count

    @given(st.text(alphabet=st.characters(exclude_categories=()), max_size=500))
    @settings(deadline=None)
    def test_no_text_raises(self, text: str) -> None:
        assert all(block.start <= len(text) for block in blocks(text))
        assert all(block.start <= len(text) for block in read_in_windows(text, 50))


LINES = (
    "# H",
    "Title\n---",
    "",
    "text [a](b.md) `c`",
    "- item [[q]]",
    "  - nested",
    "    deep",
    "1. one",
    "   - é [ü](ö.md)",
    "> quote",
    "```\ncode\n\n# no\n```",
    "~~~",
    "| a | [[b|c]] |\n|--|--|\n| [d](e) | f |",
    "<!-- c\n\n# d -->",
    "<div>",
    "[ref] and [ref][]",
    "***",
    "\t- tab",
)


def read_in_windows(text: str, window: int) -> list[Block]:
    """Read with small windows, which grow for whatever does not fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sync.markdown.WINDOW", window)
        patch.setattr("sync.markdown._LIMITS", dict.fromkeys(_LIMITS, sys.maxsize))
        return list(blocks(text))


@given(st.lists(st.sampled_from(LINES), max_size=40), st.integers(20, 200))
@settings(deadline=None, max_examples=200)
def test_windows_do_not_show(lines: list[str], window: int) -> None:
    text = "\n".join(("[ref]: target.md", "", *lines, ""))
    assert read_in_windows(text, window) == list(blocks(text))
