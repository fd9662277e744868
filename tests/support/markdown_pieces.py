"""Markdown of pieces that open, close and look like each other, for tests that must hold for any text."""

from __future__ import annotations

from hypothesis import strategies as st

LINES = (
    "## A", "## A  ", "# A", "### B", "###### Z", "##", "## A ##", "   ## A", "    ## A", "#A", "## [x]", "## `c` *e*",
    "B", "-----", "===", "text", "  text", "- item", "  - ## A", "> ## A", "1. x", "***", "| a | b |", "| - | - |",
    "```", "```sh", "````", "~~~", "<!--", "-->", "<div>", "</div>", "<script>", "</script>", "[x]: /y", "\\",
    "\ta", "", "", "  ", "\t", "a\u2028b", "\u000b", "é", "title: A", "---", "[[x]]", "## A > B", "A\\",
)  # fmt: skip

line_ends = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def texts(draw: st.DrawFn, *, most: int = 14) -> str:
    """A text of such lines, with one kind of line end or several, with or without one at its end."""
    lines = draw(st.lists(st.sampled_from(LINES), max_size=most))
    one = draw(line_ends)
    mixed = draw(st.booleans()) and draw(st.booleans())
    ended = "".join(line + (draw(line_ends) if mixed else one) for line in lines)
    body = ended if draw(st.booleans()) else ended.rstrip("\r\n")
    front = draw(
        st.sampled_from(["", "", "", "\ufeff", f"---{one}title: T{one}---{one}", f"---{one}tags: [a]{one}---"])
    )
    return front + body


headings = st.sampled_from(
    ["A", "a", "B", "C", "A > B", "B > A", "Z", "[x]", "`c` *e*", "c e", "title: A", "a <b> *c*"]
)
contents = st.one_of(texts(most=6), st.text(max_size=20))
