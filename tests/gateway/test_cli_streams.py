"""What the command line does where nobody can hear it."""

from __future__ import annotations

import shlex
import subprocess

from gateway.exits import Exit
from tests.support.cli import Home, Inside, gateway


def in_shell(home: Home, redirections: str, *args: str) -> subprocess.CompletedProcess[str]:
    script = f"exec {shlex.join(gateway(args))} {redirections}"
    return subprocess.run(
        ["sh", "-c", script], env=home.environ, cwd=home.path, capture_output=True, text=True, check=False
    )


def test_what_is_meant_for_a_closed_stderr_does_not_go_to_stdout(home: Home) -> None:
    done = in_shell(home, "2>&-", "sync")
    assert (done.returncode, done.stdout) == (3, "")


def test_a_closed_stdout_is_nobodys_file(home: Home) -> None:
    home.with_fleet()
    assert in_shell(home, ">&-", "sync").returncode == 0
    assert home.run("cache", "check").out == "ok\n"
    assert in_shell(home, ">&-", "projects").stderr == ""


def test_a_full_device_is_told_with_the_remedy(home: Home) -> None:
    done = in_shell(home, ">/dev/full", "--help")
    assert (done.returncode, done.stderr) == (
        Exit.FAILED,
        "gateway: no space left on the device — make room, then run it again\n",
    )


def test_the_help_that_an_error_names_is_that_of_the_innermost_verb(run: Inside) -> None:
    assert run("cache", "export", "fleet.json").err.endswith(" — see gateway cache export --help\n")


def test_a_closed_stdin_is_nobody_to_ask(home: Home) -> None:
    done = in_shell(home, "<&-", "init")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nobody to ask" in done.stderr
