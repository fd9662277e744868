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
from typing import cast

from tests.support.cli import Outcome

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


# The command is run before, too, as root and with another cache, so that it has all that it imports late.
_REHEARSED = """
import io, tempfile
from gateway import cli

def run():
    sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    code = cli.run(json.loads(sys.argv[1]))
    sys.stdout.flush(), sys.stderr.flush()
    return code, *(stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr))

real = sys.stdout, sys.stderr
with tempfile.TemporaryDirectory() as folder:
    os.environ["GATEWAY_CACHE__FILE"] = f"{folder}/cache.db"
    run()
    del os.environ["GATEWAY_CACHE__FILE"]
"""
_GATEWAY = """
sys.argv = [None, json.dumps(sys.argv)]
outcome = run()
sys.stdout, sys.stderr = real
print(json.dumps(outcome))
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


def gateway_unprivileged(*args: str) -> Outcome:
    """``gateway ARGS`` without root's powers, in a process of its own."""
    code, out, err = cast(tuple[int, str, str], run_unprivileged(_REHEARSED, _GATEWAY, *args))
    return Outcome(code, out, err)


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
