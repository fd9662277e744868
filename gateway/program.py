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


def typed() -> tuple[str, str]:
    """What a person types for ``gateway``, and once before that so that the shell finds it: nothing where it does."""
    command = program()
    if len(command) > 1:
        return shlex.join(command), ""
    if (shutil.which("gateway"),) == command:
        return "gateway", ""
    return "gateway", f'export PATH={shlex.quote(str(Path(command[0]).parent))}:"$PATH"'
