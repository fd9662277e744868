"""Whether the token that whole processes are configured with stands anywhere that it must not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.support.installation import TOKEN

FORMS = (TOKEN.encode(), TOKEN.encode("utf-16-le"))


def holding(files: Iterable[Path]) -> list[Path]:
    """Those of ``files`` in which the token stands."""
    return [file for file in files if any(form in file.read_bytes() for form in FORMS)]


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
