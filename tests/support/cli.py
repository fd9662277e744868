"""The command line in a home of its own: no configuration, cache or variable of whoever runs the tests counts."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gateway import cli
from gateway.demo import SHARED, make_fleet

LONG_AGO: Final = 1_700_000_000  # seconds since the UTC epoch


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Home:
    """A user's home folder, and what a command is run with there."""

    path: Path

    @property
    def environ(self) -> dict[str, str]:
        """A plain environment: locale and colours are decided, nothing of ours is set."""
        return {"HOME": str(self.path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}

    @property
    def config(self) -> Path:
        return self.path / ".config" / "gitea-knowledge-gateway" / "auth.toml"

    def configure(self, text: str) -> None:
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text, encoding="utf-8")

    def with_fleet(self) -> Home:
        """Configured for the demo's fleet, in ``~/src``, which nobody has touched for years."""
        make_fleet(self.path / "src")
        for path in (self.path / "src").rglob("*"):
            os.utime(path, (LONG_AGO, LONG_AGO))
        self.configure(f'[forge]\nkind = "local"\nroots = ["~/src"]\n[wiki]\nshared = "{SHARED}"\n')
        return self

    def run(
        self, *args: str, env: Mapping[str, str] | None = None, stdin: str = "", cwd: Path | None = None
    ) -> Outcome:
        """``gateway ARGS`` in a process of its own."""
        done = subprocess.run(
            gateway(args),
            env={**self.environ, **(env or {})},
            cwd=cwd or self.path,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)


def gateway(args: Sequence[str]) -> list[str]:
    """The command that runs this checkout's ``gateway``."""
    return [sys.executable, "-P", "-m", "gateway", *args]


@dataclass(frozen=True)
class Inside:
    """``gateway ARGS`` in this process, as somebody who lives in ``home`` and works there: quicker than a new one."""

    home: Home
    capture: pytest.CaptureFixture[str]

    def __call__(self, *args: str) -> Outcome:
        self.capture.readouterr()
        code = cli.run(args)
        out, err = self.capture.readouterr()
        return Outcome(code, out, err)


def move_in(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process the environment and working directory of somebody who lives in ``home``."""
    environ = home.environ
    for name in os.environ.keys() - environ.keys():
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home.path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
