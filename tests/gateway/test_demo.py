"""The first thing that a person sees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dulwich.porcelain import status
from dulwich.repo import Repo

from gateway.demo import FLEET, make_fleet
from gateway.program import typed
from tests.support.cli import Home, Inside


def test_it_shows_a_hit_a_miss_a_project_without_a_wiki_and_the_page(home: Home, run: Inside) -> None:
    shown = run("demo")
    assert (shown.code, shown.err) == (0, "")
    for told in (
        "4 projects in ",
        "  local/acme/web\n    concepts/windows-yarn-exec  Windows yarn exec\n",
        "  local/acme/payments\n    nothing found\n",
        "  local/acme/legacy-billing\n    no wiki — repo has no .wiki/index.md\n",
        "\n  # Windows yarn exec\n",
    ):
        assert told in shown.out, told
    assert "\x1b" not in shown.out


def test_it_says_what_to_type_next(home: Home, run: Inside) -> None:
    shown = run("demo")
    assert re.search(r"^  \S*gateway\S* client-config claude-code --write", shown.out, re.MULTILINE)


def test_it_leaves_nothing_behind(home: Home, run: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = home.path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert run("demo").code == 0
    assert list(temporary.iterdir()) == []
    assert list(home.path.iterdir()) == [temporary]


def test_a_user_may_keep_it_and_go_on(home: Home, run: Inside) -> None:
    shown = run("demo", "--keep", "kept here")
    assert shown.code == 0
    config = str(home.path / "kept here" / "auth.toml")
    assert f"search 'release checklist' --config '{config}'" in shown.out
    assert run("search", "release checklist", "--config", config).code == 0


def test_it_does_not_touch_a_folder_that_is_there(home: Home, run: Inside) -> None:
    (home.path / "mine").mkdir()
    shown = run("demo", "--keep", "mine")
    assert (shown.code, shown.err) == (3, "gateway: mine is there already — name a new folder\n")


def test_the_repositories_are_real_and_clean(tmp_path: Path) -> None:
    make_fleet(tmp_path)
    for name, files in FLEET.items():
        with Repo(tmp_path / name) as repo:
            state = status(repo)
            assert (state.staged, state.unstaged, state.untracked) == ({"add": [], "delete": [], "modify": []}, [], [])
            assert {path.decode() for path in repo.open_index()} == set(files)


def test_two_demos_make_the_same_commits(tmp_path: Path) -> None:
    for copy in ("a", "b"):
        make_fleet(tmp_path / copy)
    heads = [{name: Repo(tmp_path / copy / name).head() for name in FLEET} for copy in ("a", "b")]
    assert heads[0] == heads[1]


def test_a_shell_that_does_not_find_the_command_is_helped_to(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    script = home.path / "a venv" / "bin" / "gateway"
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", str(home.path))
    assert typed() == ("gateway", f"export PATH='{script.parent}':\"$PATH\"")
    monkeypatch.setenv("PATH", str(script.parent))
    assert typed() == ("gateway", "")
