"""A person at a terminal: types each answer when its question stands there."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from collections.abc import Callable, Sequence

from tests.support.cli import Home, gateway

PATIENCE = 30  # seconds for a question to appear

Answer = str | Callable[[], str]


def converse(home: Home, args: Sequence[str], answers: Sequence[tuple[str, Answer]]) -> tuple[int, str]:
    """How ``gateway ARGS`` ends, and what it shows to somebody who answers each question that holds these words."""
    main, end = pty.openpty()
    # A session of its own: a password is asked for at the controlling terminal, which must not be the tester's.
    with subprocess.Popen(
        gateway(args),
        env={**home.environ, "COLUMNS": "200"},
        cwd=home.path,
        stdin=end,
        stdout=end,
        stderr=end,
        start_new_session=True,
    ) as process:
        os.close(end)
        shown, seen = "", 0
        for question, answer in answers:
            while question not in shown[seen:]:
                piece = _read(main)
                if not piece:
                    process.kill()
                    raise AssertionError(f"not asked: {question}\n{shown}")
                shown += piece
            seen = len(shown)
            os.write(main, (answer if isinstance(answer, str) else answer()).encode() + b"\n")
        while piece := _read(main):
            shown += piece
        code = process.wait(PATIENCE)
    os.close(main)
    return code, shown.replace("\r\n", "\n")


def _read(main: int) -> str:
    """What comes next; nothing where nothing does, or where the other end is gone."""
    if not select.select([main], [], [], PATIENCE)[0]:
        return ""
    try:
        return os.read(main, 65536).decode(errors="replace")
    except OSError:  # so says Linux
        return ""
