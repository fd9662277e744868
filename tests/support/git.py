"""The git executable, where a test needs what only git itself makes: linked worktrees, packs, sparse checkouts."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

GIT = shutil.which("git")

# Where all tests are run, the long ones too, one without git fails: nothing else shows what git itself makes.
needs_git = pytest.mark.skipif(
    f"{GIT is None} and config.option.markexpr == 'not full'", reason="needs the git executable, which is not here"
)


def git(folder: Path, *arguments: str) -> str:
    """Run git in ``folder`` without anybody's configuration; its output, without the last line end."""
    assert GIT is not None, "there is no git executable"
    environment = {
        **os.environ,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "A U Thor",
        "GIT_AUTHOR_EMAIL": "author@example.test",
        "GIT_COMMITTER_NAME": "A U Thor",
        "GIT_COMMITTER_EMAIL": "author@example.test",
    }
    done = subprocess.run(
        [GIT, "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout.removesuffix("\n")
