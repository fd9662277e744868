"""``gateway sync`` as cron starts it: hardly an environment, any folder, nobody watching."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fake_gitea import FakeGitea, Server, web_page
from tests.fake_gitea.faults import When
from tests.support.cli import Outcome
from tests.support.gitea_fleet import PLAIN, wiki
from tests.support.installation import TOKEN, Installation, filled

REPOSITORIES = {"acme/web": wiki("Yarn", "Größe 你好"), "acme/api": wiki("Limits", status=None), "acme/tool": PLAIN}
SILENCE = Outcome(0, "", "")
FULL = pytest.mark.full


@pytest.fixture
def server(forge_process: Server) -> Server:
    return filled(forge_process, REPOSITORIES)


@pytest.fixture
def home(installation: Installation, server: Server) -> Installation:
    installation.configure(server)
    return installation


def expect_whole_cache(home: Installation) -> None:
    with home.store() as store:
        projects = store.projects(limit=10)
        pages = {project.name: [page.slug for page in store.pages(project.key)] for project in projects}
    assert pages == {
        "acme/api": ["concepts/limits"],
        "acme/tool": [],
        "acme/web": ["concepts/yarn", "concepts/größe-你好"],
    }


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"PATH": "/usr/bin:/bin"},
        {"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        pytest.param({"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, marks=FULL),
        pytest.param({"LC_ALL": "no_SUCH.locale", "TZ": "Nowhere/Land", "HOME": "/nowhere"}, marks=FULL),
    ],
    ids=["nothing", "PATH alone", "locale C", "ASCII alone", "nonsense"],
)
def test_any_environment_will_do(home: Installation, env: Mapping[str, str]) -> None:
    assert home.run("sync", env=env) == SILENCE
    expect_whole_cache(home)


def test_a_configuration_may_be_named_from_where_one_is(home: Installation) -> None:
    shown = home.run("sync", "--config", home.config.name, env={}, cwd=home.config.parent, named=False)
    assert shown == SILENCE
    expect_whole_cache(home)


def test_paths_in_it_are_taken_from_its_folder(home: Installation, server: Server) -> None:
    home.config.write_text(
        f'[forge]\nurl = "{server.url}"\ntoken_file = "token"\n[cache]\nfile = "state/cache.db"\n', encoding="utf-8"
    )
    home.config.with_name("token").write_text(TOKEN + "\n")
    relative = {"GATEWAY_CONFIG": f"{home.config.parent.name}/auth.toml"}
    assert home.run("sync", env=relative, cwd=home.config.parent.parent, named=False) == SILENCE
    assert (home.config.parent / "state" / "cache.db").exists()


def test_from_the_root_folder(home: Installation) -> None:
    assert home.run("sync", env={}, cwd=Path("/")) == SILENCE
    expect_whole_cache(home)


@FULL
def test_from_a_folder_that_is_gone(home: Installation) -> None:
    gone = home.folder / "gone"
    gone.mkdir()
    assert home.run("sync", env={}, cwd=gone, script='rmdir "$PWD"; exec "$@"') == SILENCE
    expect_whole_cache(home)


def test_without_a_file_the_environment_is_the_configuration(home: Installation, server: Server) -> None:
    env = {
        "GATEWAY_FORGE__KIND": "gitea",
        "GATEWAY_FORGE__URL": server.url,
        "GATEWAY_FORGE__TOKEN": TOKEN,
        "GATEWAY_CACHE__FILE": str(home.cache),
        "HOME": str(home.folder / "home"),
    }
    home.config.unlink()
    assert home.run("sync", env=env, named=False) == SILENCE
    home.configure(server)
    expect_whole_cache(home)


def test_twice_within_a_second_is_as_good_as_once(home: Installation, server: Server) -> None:
    home.fill()
    server.run(FakeGitea.commit, "acme/web", {"code.py": "pass\n"})
    server.reset_counts()
    assert home.run("sync", env={}) == SILENCE
    assert server.counts["GET /user/repos"] == 1
    assert home.run("sync", env={}) == SILENCE
    expect_whole_cache(home)


@pytest.mark.parametrize("closed", [">&-", pytest.param("<&- >&- 2>&-", marks=FULL)])
def test_closed_streams_harm_nothing(home: Installation, closed: str) -> None:
    """The cache's own files must not take a closed stream's number, lest somebody's words end up in them."""
    assert home.run("sync", "-v", script=f'exec "$@" {closed}').code == 0
    home.expect_sound_cache()
    expect_whole_cache(home)


def test_a_full_disk_behind_stdout_is_told_and_does_not_harm_the_cache(home: Installation) -> None:
    shown = home.run("sync", "--json", script='exec "$@" > /dev/full')
    assert shown.code not in (0, 70)
    assert shown.err.count("\n") == 1
    expect_whole_cache(home)


@pytest.mark.parametrize("umask", ["000", pytest.param("077", marks=FULL)])
def test_whatever_the_umask_only_the_owner_may_read_what_is_kept(home: Installation, umask: str) -> None:
    assert home.run("sync", env={}, script=f'umask {umask}; exec "$@"') == SILENCE
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.cache.parent.iterdir()}
    assert modes
    assert set(modes.values()) == {0o600}, modes
    assert stat.S_IMODE(home.cache.parent.stat().st_mode) == 0o700


def test_the_same_holds_while_it_runs(home: Installation, server: Server) -> None:
    """The write-ahead log and what stands beside it come and go."""
    seen: dict[str, int] = {}
    server.run(_slow_down, 0.05)
    try:
        running = home.start("sync")
        while not running.ended:
            for path in home.cache.parent.glob("*"):
                try:
                    seen[path.name] = seen.get(path.name, 0) | stat.S_IMODE(path.stat().st_mode)
                except FileNotFoundError:
                    continue
        assert running.outcome() == SILENCE
    finally:
        server.run(_slow_down, 0.0)
    assert {"cache.db", "cache.db-wal", "cache.db-shm", "cache.db.lease", "cache.db.lock"} <= seen.keys()
    assert set(seen.values()) == {0o600}, seen


def test_a_mail_comes_only_when_something_is_wrong_and_then_says_what(home: Installation, server: Server) -> None:
    server.add_fault(web_page(), When(path="/repos/acme/web/*"))
    try:
        shown = home.run("sync", env={})
    finally:
        server.clear_faults()
    assert shown.code == 3
    assert "1 failed" in shown.out
    assert shown.err.startswith("acme/web: ")
    assert "HTML where the API's answer was expected" in shown.err
    assert home.run("sync", env={}) == SILENCE


@FULL
def test_json_is_one_line_whatever_the_locale(home: Installation) -> None:
    shown = home.run("sync", "--json", env={"LC_ALL": "C"})
    (line,) = shown.out.splitlines()
    assert json.loads(line)["complete"] is True


@FULL
def test_the_forge_named_by_nothing_is_one_line(home: Installation) -> None:
    home.config.write_text("")
    shown = home.run("sync", env={})
    assert shown.code == 3
    assert shown.err.count("\n") == 1
    assert "no forge in" in shown.err


@FULL
def test_a_command_that_prints_the_token_is_run_with_what_there_is(home: Installation, server: Server) -> None:
    home.configure(server)
    home.config.write_text(
        home.config.read_text().replace("token = ", "token_command = 'echo ").replace(f'"{TOKEN}"', f"{TOKEN}'")
    )
    assert home.run("sync", env={"PATH": "/usr/bin:/bin"}) == SILENCE
    expect_whole_cache(home)


def _slow_down(forge: FakeGitea, seconds: float) -> None:
    forge.delay = seconds
