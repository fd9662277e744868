"""The branch on which a page is proposed where the default branch takes no direct commit. Pure.

It is called ``knowledge/<slug>``. What git takes in no branch's name (git-check-ref-format) stands in it by percent and
two hexadecimal digits a byte, the percent sign too, so that no two pages share a branch. A name that is too long for a
forge or a file system is cut, and a digest of the slug tells it from others. Where there is such a branch and it is of
no use, the next one is ``knowledge-2/<slug>``: a number behind could be another page's name.
"""

from __future__ import annotations

import hashlib
import re

MAX_NAME = 100  # code points; what Gitea takes
MAX_PART = 200  # bytes between slashes: each part is a file's name, behind which git puts ".lock"

_KEPT = 40  # code points of a name that is cut
_REFUSED = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\%\ud800-\udfff]"
    r"|(?:\A|(?<=\.))\."  # in front, or two in a row
    r"|\.(?=(?:lock)?\Z)"
    r"|@(?=\{)",
    re.IGNORECASE,
)


def branch_name(slug: str, number: int = 1) -> str:
    """The name of the branch for the page ``slug``, the first one or a later ``number`` of them."""
    top = "knowledge" if number == 1 else f"knowledge-{number}"
    escaped = "/".join(_REFUSED.sub(_as_hexadecimal, part) for part in slug.split("/"))
    name = f"{top}/{escaped}"
    if len(name) <= MAX_NAME and all(len(part.encode()) <= MAX_PART for part in name.split("/")):
        return name
    digest = hashlib.sha256(slug.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{top}/{escaped[:_KEPT]}%-{digest}"  # behind no other percent sign is there a hyphen


def _as_hexadecimal(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))
