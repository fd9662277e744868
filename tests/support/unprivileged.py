"""Running a test's action without root's powers, so that permissions mean something where tests run as root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534

# What asyncio imports late is brought in before, since the interpreter itself may lie where only root may look.
_PREPARE = """
import json, os, sys
import anyio
{imports}
anyio.run(anyio.to_thread.run_sync, int)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
sys.argv = json.loads(sys.argv[1])
"""


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A temporary folder that everybody may enter, unlike pytest's own. Everything in it is removed afterwards,
    whatever its permissions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            yield folder
        finally:
            for path, _, _ in os.walk(folder):
                Path(path).chmod(0o755)


def run_unprivileged(imports: str, action: str, *arguments: str) -> object:
    """Run ``imports``, then drop root's powers, then run ``action``, with ``arguments`` in ``sys.argv``.

    ``action`` prints one JSON value, which is returned."""
    code = _PREPARE.format(imports=imports, nobody=NOBODY) + action
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )
    return json.loads(done.stdout)
