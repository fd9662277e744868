"""Paths inside a repository, as the forge cleans them."""

from __future__ import annotations

import posixpath


def clean_tree_path(path: str) -> str | None:
    """``path`` without dots and double slashes (the root is empty); ``None`` where it would go into ``.git``."""
    clean = posixpath.normpath("/" + path).strip("/")
    return None if ".git" in clean.lower().split("/") else clean
