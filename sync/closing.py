"""Code and HTML that is still open at the end of a text, and what closes it. Pure.

Whether something is open is asked of the parser, by a heading put behind the text: inside code or HTML it is none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque

from sync.markdown import blocks

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})", re.MULTILINE)
# What ends an HTML block that a blank line does not end (CommonMark 0.31, section 4.6), and the element with it.
_HTML_ENDS = ("-->", "?>", "]]>", ">", "</textarea></style></script></pre>")


def is_closed(text: str, start: int = 0) -> bool:
    """Whether what follows ``text`` and a blank line is a block of its own. ``start`` is where its Markdown begins."""
    last = deque(blocks(f"{text}\n\n# x\n", start), maxlen=1)
    return bool(last) and last[0].level == 1 and last[0].start == len(text) + 2


def closing(text: str, start: int = 0) -> str:
    """The line that closes what is open at the end of ``text``; ``""`` where nothing is."""
    if is_closed(text, start):
        return ""
    fences = sorted({match[1] for match in _FENCE.finditer(text[start:].replace("\r", "\n"))}, key=len)
    for fence in "`~":
        lengths = [each for each in fences if each[0] == fence]
        at = bisect_left(lengths, True, key=lambda end: is_closed(f"{text}\n{end}", start))  # it may be longer
        if at < len(lengths):
            return lengths[at]
    return next((end for end in _HTML_ENDS if is_closed(f"{text}\n{end}", start)), "")
