"""Which paths name files of a repository. Pure."""

from __future__ import annotations


def is_safe(path: str) -> bool:
    """Whether ``path`` can name one: relative, without steps up, and none of git's own."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or "\\" in path or "\0" in path:
        return False
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
