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
from tests.fake_gitea import listen
from tests.support.cli import Home
from tests.support.gitea_client import ALICE, fake_forge

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(*sections: str) -> str:
    """What the ``sections`` whose titles begin so tell to type; all of them where none is named."""
    found = [each for each in README.split("\n## ") if each.startswith(sections or "")]
    assert len(found) >= len(sections)
    return "".join(re.findall(r"^```sh\n(.*?)^```$", "\n".join(found), re.MULTILINE | re.DOTALL))


LOCAL = commands("See it", "Take it", "Or with repositories", "To your agent")
SERVER = commands("Take it", "Five minutes", "To your agent")

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


def type_in(commands: str, home: Home, checkout: Path) -> str:
    """What somebody sees who types ``commands`` into a shell."""
    environ = {**home.environ, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["sh", "-eux"],
        input=commands,
        cwd=checkout,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_commands_do_what_it_says(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    home = Home(tmp_path / "home")
    make_fleet(home.path / "src")
    shown = type_in(LOCAL, home, checkout)
    for told in (
        "4 projects in ",
        "concepts/release-checklist",
        "forge default: 4 repositories",
        "Claude Code: knowledge starts this gateway",
    ):
        assert told in shown, told
    assert "knowledge" in json.loads((home.path / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]


def test_so_they_do_with_a_server(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    home = Home(tmp_path / "home")
    (home.path / "gitea-token").write_text(ALICE, encoding="utf-8")
    (home.path / "gitea-token").chmod(0o600)
    forge = fake_forge()
    forge.add_repo("acme/web", {".wiki/index.md": "# Wiki\n- [Yarn](yarn.md)\n", ".wiki/yarn.md": "# Yarn\n"})
    with listen(forge) as url:
        shown = type_in(SERVER.replace("https://git.example.com", url), home, checkout)
    for told in ("acme/web  1 page", "the token is alice's", "Claude Code: knowledge starts this gateway"):
        assert told in shown, told
    assert not any(line.startswith(("warn ", "fail ")) for line in shown.splitlines())


def test_every_command_is_run() -> None:
    assert sorted(set(commands().splitlines())) == sorted({*LOCAL.splitlines(), *SERVER.splitlines()})


def test_it_starts_with_the_two_commands() -> None:
    assert re.findall(r"^scripts/\w+", commands(), re.MULTILINE) == ["scripts/demo", "scripts/test"]
    assert commands().startswith("scripts/demo")


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 100
