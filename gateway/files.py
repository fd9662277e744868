"""Replace a file of the user's as a whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
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


def back_up(path: Path, data: bytes, now: datetime) -> Path:
    """Keep ``data``, what ``path`` holds, beside it and as private as it is. Raises ``OSError``."""
    backup = path.with_name(f"{path.name}.{now:%Y%m%dT%H%M%SZ}.bak")
    replace(backup, data, mode=path.stat().st_mode & 0o777)
    return backup
