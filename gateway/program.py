"""How to start this installation of the gateway."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from gateway.client_config import MODULE


def program() -> tuple[str, ...]:
    """The command that starts this installation from anywhere."""
    python = Path(sys.executable).absolute()
    script = shutil.which("gateway", path=str(python.parent))
    return (str(python), *MODULE) if script is None else (script,)


def typed() -> str:
    """What a person types for ``gateway``: that alone where the shell finds it, else where it is."""
    command = program()
    return "gateway" if (shutil.which("gateway"),) == command else shlex.join(command)
