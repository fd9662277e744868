"""Text as files and stores can hold it. Pure."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate, which has no UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
