"""Other people's words in our messages."""

from __future__ import annotations

import pytest

from gateway.wording import printable, printable_lines


@pytest.mark.parametrize("sign", ["\x00", "\n", "\t", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e", "\u2066", "\ud800"])
def test_what_drives_a_terminal_is_replaced(sign: str) -> None:
    assert printable(f"a{sign}b") == "a\ufffdb"


def test_a_text_keeps_its_lines_of_either_kind_and_its_tabs() -> None:
    assert printable_lines("a\tb\r\nc\x1b\n\nd\re\r") == "a\tb\r\nc\ufffd\n\nd\ufffde\ufffd"
