"""What no file may be called on some system. Pure."""

from __future__ import annotations

import re
from typing import Final

MAX_NAME: Final = 255  # bytes of a file's or folder's name, which is the bound of most file systems

_RESERVED: Final = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\..*)?"  # devices on Windows
    r"|git~[0-9]+",  # a short name of .git on NTFS, which git refuses
    re.IGNORECASE | re.DOTALL,
)


def is_reserved(name: str) -> bool:
    """Whether ``name`` means something else than a file on some system."""
    return _RESERVED.fullmatch(name) is not None
