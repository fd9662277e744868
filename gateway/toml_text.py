"""Write the little TOML that is written here. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable


def string(text: str) -> str:
    """A basic string (TOML 1.0, "String"): as in JSON, but DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def array(items: Iterable[str]) -> str:
    """An array of strings."""
    return f"[{', '.join(map(string, items))}]"
