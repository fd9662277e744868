"""Replace a file of the user's as a whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(path: Path, data: bytes, *, mode: int) -> None:
    """Make ``data`` the content of ``path``, in one step that a crash cannot split. ``mode`` is its permissions.

    Raises ``OSError``, and leaves nothing behind.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
