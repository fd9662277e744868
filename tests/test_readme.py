"""Every command of the README is run, in order, as somebody would who reads it on a fresh machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.demo import make_fleet
from tests.support.cli import Home

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = "".join(re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))

# Nothing is installed, and the checks, which are what runs this test, pass at once.
PYTHON = """#!/bin/sh
case "$*" in *pytest*) exit 0 ;; esac
exec "{python}" "$@"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The scripts, with an environment in place that holds what is installed here."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        shutil.copy(ROOT / name, root)
    programs = dict.fromkeys(("ruff", "mypy", "lint-imports", "uv"), "#!/bin/sh\n")
    programs["python"] = PYTHON.format(python=sys.executable)
    programs["gateway"] = f'#!/bin/sh\nexec "{sys.executable}" -P -m gateway "$@"\n'
    (root / ".venv" / "bin").mkdir(parents=True)
    for name, text in programs.items():
        (root / ".venv" / "bin" / name).write_text(text, encoding="utf-8")
        (root / ".venv" / "bin" / name).chmod(0o755)
    return root


def test_its_commands_do_what_it_says(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    home = Home(tmp_path / "home")
    make_fleet(home.path / "src")
    environ = {**home.environ, "PATH": f"{checkout}/.venv/bin:{home.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-eux"],
        input=COMMANDS,
        cwd=checkout,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for told in (
        "4 projects in ",
        "concepts/release-checklist",
        "4 git repositories found",
        "Claude Code starts it as knowledge",
    ):
        assert told in done.stdout, told
    assert "knowledge" in json.loads((home.path / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]


def test_it_starts_with_the_two_commands() -> None:
    assert re.findall(r"^scripts/\w+", COMMANDS, re.MULTILINE) == ["scripts/demo", "scripts/test"]
    assert COMMANDS.startswith("scripts/demo")


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 100
