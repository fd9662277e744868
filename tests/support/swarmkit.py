"""The installed SwarmKit that the full tests use: in an environment of its own, which ``scripts/test --full`` makes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
WORKSPACE: Final = "examples/hello"  # in a checkout of tests.support.swarmkit_repo


def swarmkit_python() -> Path:
    """Its interpreter; ``$SWARMKIT_PYTHON`` names another one."""
    named = os.environ.get("SWARMKIT_PYTHON")
    python = Path(named) if named else ROOT / ".venv-swarmkit" / "bin" / "python"
    if not python.exists():
        pytest.fail("no SwarmKit: scripts/test --full sets it up, or SWARMKIT_PYTHON names an interpreter that has it")
    return python


def swarmkit_packages() -> Path:
    """The folder of its packages."""
    return next(swarmkit_python().parent.parent.glob("lib/python3*/site-packages"))


def listing(folder: Path) -> Mapping[str, tuple[int, int, bytes]]:
    """Everything below ``folder``: mode, modification time and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.lstat()
        found[str(path.relative_to(folder))] = (
            stat.st_mode,
            stat.st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
    return found


def codes(answer: Mapping[str, Any]) -> list[str]:
    """The codes of the errors in an answer of ``validate_workspace``."""
    return [error["code"] for error in answer["errors"]]
