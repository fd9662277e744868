"""What pages, titles, names and errors say does not drive the terminal that shows them, nor the log."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import Home, Inside, gateway
from tests.support.repos import make_repo

RED, TITLE, BACK = "\x1b[41m", "\x1b]0;owned\x07", "\u202e"  # nothing of ours stands on red
OURS = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")  # colours, and what moves a progress bar
DRIVING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
PAGE = f"# Yarn\r\n\r\nUse {RED}yarn{TITLE}, {BACK}or\x9b41m not.\u2028\r\n"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with a synced fleet whose indexes, pages, files and folders all bring control sequences."""
    home = Home(tmp_path_factory.mktemp("home"))
    wiki = {
        ".wiki/index.md": f"# I\n\n- [Yarn {TITLE}{BACK}](yarn.md) — how {RED}to\n",
        ".wiki/yarn.md": PAGE,
        "STATUS.md": f"# Status {RED}\n",
    }
    for name in ("web", f"{RED}red/api", "broken"):
        make_repo(home.path / "src" / name, wiki)
    (home.path / "src/broken/.git/HEAD").write_text(f"ref: refs/heads/x{RED}\n")
    home.configure('[forge]\nkind = "local"\nroots = ["~/src"]\n[wiki]\nshared = "local/web"\n')
    assert home.run("sync").code == 3
    return home


def on_a_terminal(home: Home, *args: str) -> str:
    """What ``gateway ARGS`` sends to a terminal, by both of its streams."""
    ours, theirs = pty.openpty()
    command = gateway(args)
    with subprocess.Popen(command, env=home.environ, cwd=home.path, stdin=theirs, stdout=theirs, stderr=theirs) as done:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:
            pass  # what Linux makes of the end
        finally:
            os.close(ours)
        done.wait(30)
    return shown.decode()


@pytest.mark.parametrize(
    "args",
    [
        ["sync", "-v"],
        ["ask", "yarn", "-p", "web", "-p", f"no{TITLE}body"],
        ["ask", f"{RED}yarn", "-p", "web"],
        ["search", "yarn"],
        ["projects"],
        ["get", "web", "yarn"],
        ["get", "web", f"{RED}gone"],
        ["get", "web", "yarn", "--section", TITLE],
        ["get", RED, "yarn", "-v"],
        ["sync", "--config", f"{RED}.toml", "-v"],
        [RED],
    ],
)
def test_nothing_but_our_own_colours_reaches_a_terminal(hostile: Home, args: list[str]) -> None:
    shown = on_a_terminal(hostile, *args)
    assert shown
    assert RED not in shown
    assert DRIVING.findall(OURS.sub("", shown)) == []


def test_a_page_on_a_terminal_keeps_its_lines(hostile: Home) -> None:
    shown = on_a_terminal(hostile, "get", "web", "yarn").replace("\r\r\n", "\r\n")  # the terminal adds its own
    assert shown.startswith("# Yarn\r\n\r\nUse \ufffd[41myarn")


def test_a_pipe_gets_a_page_as_it_stands(hostile: Home) -> None:
    done = subprocess.run(gateway(["get", "web", "yarn"]), env=hostile.environ, capture_output=True, check=True)
    assert done.stdout.decode() == PAGE


@pytest.mark.parametrize("args", [["ask", "yarn", "-p", "web"], ["search", "yarn"], ["projects"]])
def test_a_pipe_gets_one_line_for_each_thing_whatever_it_is_called(hostile: Home, args: list[str]) -> None:
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", hostile.run(*args).out) == []


def test_the_log_keeps_its_lines_to_itself(home: Home, run: Inside, tmp_path: Path) -> None:
    home.configure(f'[forge]\nkind = "local"\nroots = ["{tmp_path}"]\n')
    shown = run("get", f"x{TITLE}\ngateway: all is well", "y", "-v").err
    assert "Traceback" in shown
    assert "\x1b" not in shown
    assert "\ngateway: all is well" not in shown


def test_a_person_sees_the_demo_with_a_progress_bar_and_air_between_its_steps(home: Home) -> None:
    shown = on_a_terminal(home, "demo")
    assert "\N{BOX DRAWINGS HEAVY HORIZONTAL}" in shown
    lines = OURS.sub("", shown).split("\r\n")
    assert lines[lines.index("  $ gateway sync") - 2] == ""
    assert [line for line in lines if line.endswith(" ")] == []
