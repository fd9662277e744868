"""An engineering knowledge base to test with: its files, and what can be done with it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from sync.corpora.engineering.base import KnowledgeBase

NOW: Final = 4_000_000_000.0  # seconds since the UTC epoch: long after any file of a test was written
STAMP: Final = "2096-10-02T07:06:40Z"

Content = str | Mapping[str, str]

INBOX: Final = "inbox/knowledge-inbox.md"
FILES: Final = {"knowledge/a/x.md": "# X\n\n## A\n\nold\n", INBOX: "# Knowledge inbox\n\n## mine\n\nnote\n"}

# What a writer may do with these files, by name.
ACTIONS: Final[Mapping[str, Callable[[KnowledgeBase], object]]] = {
    "create": lambda base: base.create("b/c/y", "Y", "text"),
    "update": lambda base: base.update("x", "A", "new", mode="append", expected=None),
    "capture": lambda base: base.capture("new", None),
    "file": lambda base: base.file(1, "x", heading="A", title=None),
}


def knowledge_base(root: Path) -> KnowledgeBase:
    return KnowledgeBase(root, clock=lambda: NOW)


def put(root: Path, files: Mapping[str, Content]) -> None:
    """Write files below ``root``: text, or ``{"b64": …}``."""
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(bytes_of(content))


def bytes_of(content: Content) -> bytes:
    """A file's content as it stands in a case."""
    return content.encode() if isinstance(content, str) else base64.b64decode(content["b64"])


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file below ``root``, whatever it is called."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
