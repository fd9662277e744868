"""What is open at the end of a text, and the line that closes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.closing import closing, is_closed

OPENERS = [
    "```\n",
    "~~~ sh\n",
    "`````\n",
    "<!--\n",
    "<script>\n",
    "<?x\n",
    "<![CDATA[\n",
    "    ",
    "- ",
    "> ",
    "# a\n",
    "b\n",
    "\n",
]


@pytest.mark.parametrize(
    "text", ["", "text", "text\n\n\n", "```\nx\n```", "- ```\n  x", "> ```\n> x", "    ```\n", "<div>\nx"]
)
def test_what_a_blank_line_ends_is_closed(text: str) -> None:
    assert closing(text) == ""


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("```sh\nx", "```"),
        ("~~~\n```\nx\n", "~~~"),
        ("`````\n```\nx\n```", "`````"),
        ("```\nx\n```\n\n~~~~\ny", "~~~~"),
        ("a\r~~~\rb", "~~~"),
        ("<!-- x\ny", "-->"),
        ("<?php\n", "?>"),
        ("<![CDATA[\n", "]]>"),
        ("<pre>\n", "</textarea></style></script></pre>"),
    ],
)
def test_what_is_open_is_closed_as_it_was_opened(text: str, end: str) -> None:
    assert closing(text) == end


def test_a_byte_order_mark_hides_nothing() -> None:
    assert closing("\ufeff```", 1) == "```"


def test_front_matter_opens_nothing() -> None:
    text = "---\na: |\n  ```\n---\n"
    assert closing(text, len(text)) == ""


@given(st.lists(st.sampled_from(OPENERS), max_size=6).map("".join))
def test_what_was_closed_is_closed(text: str) -> None:
    assert is_closed(f"{text}\n{closing(text)}")
