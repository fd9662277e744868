"""Plain words as Markdown that shows them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cache.errors import InvalidArgument
from sync.inline import escape, one_line
from sync.markdown import blocks

# Letters, markup, and what no text can hold.
WORDS = st.lists(
    st.sampled_from(
        [*"aZé字1 \\`*_[]()<>&~!|#-+:;'\"^$@{}=.", "&amp;", "<br>", "[[x|y]]", "[a](b.md)", "https://x.test"]
    ),
    max_size=20,
).map("".join)


@given(WORDS | st.text(max_size=60))
@settings(deadline=None, max_examples=300)
@example("snake_case and __dunder__ and _word_")
@example("~5 ms, ~~not~~")
@example("AT&T &copy; &#35;")
@example("a \\* b \\\\")
def test_what_is_escaped_reads_as_it_was(text: str) -> None:
    try:
        line = one_line(text, "title", 300)
    except InvalidArgument:
        return
    for thorough in (False, True) if line else ():
        (block,) = blocks(f"- x{escape(line, thorough=thorough)}x\n")
        assert block.text == f"x{line}x"


@pytest.mark.parametrize(
    "line",
    ["Cache keys", "snake_case_names", "~5 ms", "AT&T", "how? why!", "a (b) c", "1 > 0", "C# & C++", "字 — ü", 'a "b"'],
)
def test_what_is_no_markup_stays_as_it_is(line: str) -> None:
    assert escape(line) == line


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("[x] `y` *z* <b>", "\\[x\\] \\`y\\` \\*z\\* \\<b>"),
        ("_a_", "\\_a\\_"),
        ("&amp;", "\\&amp;"),
        ("~~a~~", "\\~\\~a\\~\\~"),
    ],
)
def test_what_could_be_markup_is_escaped(line: str, escaped: str) -> None:
    assert escape(line) == escaped


def test_white_space_of_all_kinds_is_one_space() -> None:
    assert one_line("  a \t\r\n\n b\u00a0c\u2028d\x85e ", "title", 300) == "a b c d e"


@pytest.mark.parametrize("code", ["0000", "0007", "001B", "007F", "0090", "D800", "FDD0", "FFFF"])
def test_what_no_text_holds_is_refused(code: str) -> None:
    with pytest.raises(InvalidArgument, match=f"description holds U\\+{code}, which no text can") as caught:
        one_line(f"a {chr(int(code, 16))}", "description", 300)
    assert caught.value.argument == "description"


def test_what_is_too_long_is_refused() -> None:
    assert len(one_line("x" * 300 + "  ", "title", 300)) == 300
    with pytest.raises(InvalidArgument, match="title must have at most 300 characters"):
        one_line("x" * 301, "title", 300)
