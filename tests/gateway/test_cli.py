"""The command line: verbs, help, errors, exit codes, and what a pipe, a locale or a signal make of it."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from gateway import app, cli, places
from gateway.exits import Exit
from gateway.toolsets import TOOLSETS
from tests.fake_gitea import FakeGitea, listen
from tests.support.cli import Home, Inside, Outcome, gateway

QUESTION = "how do we run yarn on windows"


@pytest.fixture
def synced(home: Home, run: Inside) -> Inside:
    home.with_fleet()
    assert run("sync").code == 0
    return run


class TestHelp:
    def test_the_overview_names_every_verb(self, run: Inside) -> None:
        shown = run()
        assert shown.code == 0
        assert all(re.search(rf"^  {verb}  ", shown.out, re.MULTILINE) for verb in cli.VERBS)
        assert shown == run("--help") == run("-h")

    @pytest.mark.parametrize("verb", [*cli.VERBS, *(f"cache {what}" for what in ("info", "check", "clear", "export"))])
    def test_each_fits_on_a_screen_and_shows_an_example(
        self, run: Inside, verb: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        shown = run(*verb.split(), "--help")
        lines = shown.out.splitlines()
        assert shown.code == 0
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        if verb != "cache":
            assert "Example:" in shown.out
            assert f"gateway {verb}" in shown.out

    def test_a_verb_tells_what_the_overview_tells(self, run: Inside) -> None:
        assert set(cli.VERBS) == {
            path.stem.rstrip("_").replace("_", "-")
            for path in Path(cli.__file__).with_name("commands").glob("[!_]*.py")
            if path.stem != "options"
        }

    def test_the_version_is_that_of_the_distribution(self, run: Inside) -> None:
        assert re.fullmatch(r"gateway \d+\.\d+\.\d+\n", run("--version").out)


class TestUsage:
    @pytest.mark.parametrize(
        ("args", "expected"),
        [
            (["snyc"], "gateway: no such verb: snyc (did you mean sync?) — see gateway --help\n"),
            (["--verbose"], "gateway: no such verb: --verbose — see gateway --help\n"),
            (["ask", "x"], "gateway: Missing option '--project' / '-p'. — see gateway ask --help\n"),
            (["sync", "--watch", "5"], 'should be a duration such as "20s", "5m" or "24h" — see gateway sync --help\n'),
            (["ask", "x", "-p", "y", "--limit", "21"], " — see gateway ask --help\n"),
            (["client-config", "emacs"], " — see gateway client-config --help\n"),
            (["serve", "--http", "8080"], "write HOST:PORT, such as 127.0.0.1:8321 — see gateway serve --help\n"),
            (
                ["serve", "--toolsets", "space"],
                f"no toolset is called space; there is: {', '.join(TOOLSETS)} — see gateway serve --help\n",
            ),
            (["cache"], " — see gateway cache --help\n"),
            (
                ["init"],
                "name a server by --url, or a folder with repositories by --root — see gateway init --help\n",
            ),
            (["init", "--root", ".", "--url", "x"], "the others are for a server — see gateway init --help\n"),
            (["init", "--token-file", "a", "--token-command", "b"], "not both — see gateway init --help\n"),
        ],
    )
    def test_a_slip_is_one_line_and_2(self, run: Inside, args: list[str], expected: str) -> None:
        shown = run(*args)
        assert shown.code == 2
        assert shown.out == ""
        assert shown.err.startswith("gateway: ")
        assert shown.err.endswith(expected)
        assert shown.err.count("\n") == 1

    @pytest.mark.parametrize(
        "args", [["sync"], ["ask", "x", "-p", "y"], ["search", "x"], ["get", "a", "b"], ["projects"]]
    )
    def test_without_configuration_the_remedy_is_told(self, run: Inside, args: list[str]) -> None:
        shown = run(*args)
        assert (shown.code, shown.err) == (3, "gateway: no auth.toml — run gateway init\n")

    def test_a_mistake_in_the_configuration_is_told(self, home: Home, run: Inside) -> None:
        home.configure("[sync]\npage = 1\n")
        shown = run("projects")
        assert shown.code == 3
        assert shown.err == f"gateway: {home.config}: [sync] page: unknown key — did you mean pages?\n"

    def test_an_error_that_nobody_expected_is_one_line_too(self, run: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> None:
            raise RuntimeError("two\nlines")

        monkeypatch.setattr("gateway.places.configured", broken)
        shown = run("client-config", "cursor")
        assert shown.code == Exit.INTERNAL
        assert shown.err == "gateway: internal error: RuntimeError: two lines — run it again with -v for the details\n"
        assert "Traceback" in run("client-config", "cursor", "-v").err


class TestSync:
    def test_cron_has_nothing_to_send_when_all_is_well(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        assert run("sync") == Outcome(0, "", "")

    def test_one_line_tells_how_it_went_to_who_wants_to_know(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        shown = run("sync", "-v")
        assert shown.code == 0
        assert re.fullmatch(r"4 projects in \d+\.\d s, 4 read, 1 of those read have no wiki\n", shown.out)
        assert re.fullmatch(r"4 projects in \d+\.\d s, 0 read, 4 unchanged\n", run("sync", "-v").out)

    def test_json_tells_it_to_programs(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        told = json.loads(run("sync", "--json").out)
        assert (told["complete"], told["exit"]) == (True, 0)
        assert told["forges"][0]["listed"] == 4

    def test_a_root_that_is_gone_is_4(self, home: Home, run: Inside) -> None:
        home.configure('[forge]\nkind = "local"\nroots = ["~/nowhere"]\n')
        shown = run("sync")
        assert shown.code == 4
        assert re.fullmatch(r"0 projects in \d+\.\d s, 0 read, listing failed\n", shown.out)
        assert shown.err.startswith("cannot list default: ")
        assert shown.err.count("\n") == 1

    def test_a_forge_that_fails_does_not_keep_the_others_from_being_synced(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        with listen(FakeGitea()) as url:
            home.configure(
                f'[forges.work]\nurl = "{url}"\ntoken = "fake-token-nobody"\n'
                '[forges.lost]\nroots = ["~/nowhere"]\n[forges.here]\nroots = ["~/src"]\n'
            )
            shown = run("sync")
        assert shown.code == 4
        assert "here: 4 projects in " in shown.out
        assert [line.partition(": ")[0] for line in shown.err.splitlines()] == ["cannot list work", "cannot list lost"]

    def test_a_project_that_fails_is_3_and_named(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        objects = home.path / "src" / "acme" / "web" / ".git" / "objects"
        shutil.rmtree(objects)
        objects.mkdir()
        shown = run("sync")
        assert shown.code == 3
        assert "3 read" in shown.out
        assert "1 failed" in shown.out
        assert shown.err.startswith("local/acme/web: ")
        assert shown.err.count("\n") == 1

    def test_another_sync_is_75(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        with app.open_store(places.require(None).settings) as store, store.lease():
            shown = home.run("sync")
        assert shown.code == 75
        assert shown.err == "gateway: another sync is running on this cache — try again when it is done\n"

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
    def test_watching_ends_clean_on_a_signal(self, home: Home, sent: signal.Signals) -> None:
        home.with_fleet()
        with subprocess.Popen(
            gateway(["sync", "--watch", "1h", "--json"]),
            env=home.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith('{"complete": true')
            process.send_signal(sent)
            out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")

    def test_watching_outlives_a_cache_that_cannot_be_written_for_a_while(self, home: Home, tmp_path: Path) -> None:
        home.with_fleet()
        cache = tmp_path / "elsewhere" / "cache.db"
        cache.mkdir(parents=True)
        with subprocess.Popen(
            gateway(["sync", "--watch", "1s", "--json"]),
            env={**home.environ, "GATEWAY_CACHE__FILE": str(cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert process.stdout is not None
            assert process.stderr.readline().endswith("; trying again later\n")
            cache.rmdir()
            assert process.stdout.readline().startswith('{"complete": true')
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)
        assert process.returncode == 0


class TestAsking:
    def test_what_is_found_is_0_and_tells_how_to_read_it(self, synced: Inside) -> None:
        shown = synced("ask", QUESTION, "-p", "web", "-p", "payments", "-p", "legacy-billing")
        assert shown.code == 0
        assert shown.out.startswith("local/acme/web\n  concepts/windows-yarn-exec  Windows yarn exec\n    ")
        assert "\nlocal/acme/payments\n  nothing found\n" in shown.out
        assert "\nlocal/acme/legacy-billing\n  no wiki — repo has no .wiki/index.md\n" in shown.out
        assert shown.out.endswith("gateway get local/acme/web concepts/windows-yarn-exec  reads a page\n")

    def test_nothing_found_is_1(self, synced: Inside) -> None:
        assert synced("ask", "zeppelin", "-p", "web").code == 1
        assert synced("search", "zeppelin").code == 1

    def test_searching_looks_into_the_shared_wiki(self, synced: Inside) -> None:
        shown = synced("search", "release checklist")
        assert shown.code == 0
        assert shown.out.startswith("  concepts/release-checklist  Release checklist\n    ")

    def test_a_miss_in_the_shared_wiki_names_who_may_know(self, synced: Inside) -> None:
        assert "gateway ask yarn -p local/acme/web" in synced("search", "yarn").out

    def test_a_page_comes_exactly(self, home: Home, synced: Inside) -> None:
        page = home.path / "src/acme/web/.wiki/concepts/windows-yarn-exec.md"
        assert synced("get", "web", "concepts/windows-yarn-exec").out == page.read_text(encoding="utf-8")

    def test_a_long_page_comes_whole(self, home: Home, synced: Inside) -> None:
        page = home.path / "src/acme/web/.wiki/long.md"
        page.write_text("# Long\n\n" + "zażółć gęślą jaźń\n" * 30_000, encoding="utf-8")
        shown = synced("get", "web", "long")
        assert shown.out == page.read_text(encoding="utf-8")
        assert shown.err.count("\n") == 1  # what there is to say is said once

    def test_a_section_comes_alone(self, synced: Inside) -> None:
        shown = synced("get", "web", "concepts/windows-yarn-exec", "--section", "What to do")
        assert shown.out.startswith("## What to do\n")

    def test_a_page_that_is_not_there_is_3(self, synced: Inside) -> None:
        shown = synced("get", "web", "concepts/windows-yarn")
        assert shown.code == 3
        assert "did you mean concepts/windows-yarn-exec?" in shown.err

    def test_projects_are_listed_with_what_they_have(self, synced: Inside) -> None:
        assert synced("projects").out.splitlines() == [
            "local/acme/handbook  2 pages",
            "local/acme/legacy-billing  no wiki",
            "local/acme/payments  2 pages",
            "local/acme/web  3 pages, STATUS",
        ]
        assert synced("projects", "WEB").out == "local/acme/web  3 pages, STATUS\n"


class TestCache:
    def test_info_tells_where_and_what(self, home: Home, synced: Inside) -> None:
        shown = synced("cache", "info").out
        assert shown.startswith(f"{home.path}/.local/state/gitea-knowledge-gateway/cache.db: ")
        assert "4 projects, 7 pages" in shown
        assert ": complete; 4 listed, 4 read, 0 failed, 0 gone" in shown

    def test_check_is_0_when_all_is_well(self, synced: Inside) -> None:
        shown = synced("cache", "check")
        assert (shown.code, shown.out) == (0, "ok\n")

    def test_export_is_json(self, synced: Inside) -> None:
        exported = json.loads(synced("cache", "export").out)
        assert [project["name"] for project in exported["projects"]] == [
            "local/acme/handbook",
            "local/acme/legacy-billing",
            "local/acme/payments",
            "local/acme/web",
        ]

    def test_an_empty_one_is_json_too(self, home: Home, run: Inside) -> None:
        assert json.loads(run("cache", "export").out) == {"projects": []}

    def test_clear_asks_first(self, synced: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
        refused = synced("cache", "clear")
        assert (refused.code, refused.err) == (Exit.NOTHING, "gateway: nothing was forgotten\n")
        assert synced("projects").out != ""

    def test_clear_does_not_go_on_where_nobody_can_be_asked(self, synced: Inside) -> None:
        shown = synced("cache", "clear")
        assert shown.code == Exit.USAGE
        assert shown.err.endswith("nobody to ask: say --yes — see gateway cache clear --help\n")
        assert synced("projects").out != ""

    def test_clear_tells_what_it_did(self, synced: Inside) -> None:
        assert synced("cache", "clear", "--yes") == Outcome(0, "forgot 4 projects: gateway sync reads them anew\n", "")
        assert synced("projects").out == ""


class TestSurroundings:
    def test_ascii_output_does_not_raise(self, home: Home, synced: Inside) -> None:
        shown = home.run("ask", "zeppelin", "-p", "legacy-billing", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
        assert shown.code == 1
        assert "no wiki \\u2014 repo" in shown.out

    def test_a_pipe_that_nobody_reads_is_silent(self, home: Home, synced: Inside) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            gateway(["cache", "export"]), env=home.environ, stdout=writer, stderr=subprocess.PIPE, check=False
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (Exit.PIPE, b"")

    def test_streams_that_are_closed_do_not_matter(self, home: Home) -> None:
        script = f"exec {shlex.join(gateway(['--version']))} >&- 2>&-"
        assert subprocess.run(["sh", "-c", script], env=home.environ, check=False).returncode == 0

    def test_a_terminal_gets_colour_unless_it_declines(self, home: Home, synced: Inside) -> None:
        colour = re.compile("\x1b\\[[0-9;]*3[0-9]m")
        assert colour.search(on_terminal(home, "projects"))
        assert not colour.search(on_terminal(home, "projects", NO_COLOR="1"))

    def test_a_terminal_gets_a_bar(self, home: Home) -> None:
        home.with_fleet()
        shown = on_terminal(home, "sync")
        assert "━" in shown
        assert "4 projects in " in shown

    def test_what_a_page_says_does_not_drive_the_terminal(self, home: Home) -> None:
        home.with_fleet()
        page = home.path / "src/acme/web/.wiki/evil.md"
        page.write_text("# Evil \x1b]0;owned\x07\n\nred \x1b[31m text\n", encoding="utf-8")
        home.run("sync")
        for args in (["get", "web", "evil"], ["ask", "evil", "-p", "web"]):
            shown = on_terminal(home, *args)
            assert "red" in shown
            assert "\x1b]0" not in shown
            assert "\x1b[31m" not in shown
        assert "\x1b[31m" in home.run("get", "web", "evil").out

    def test_an_interrupt_is_130_without_a_word(self, run: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("gateway.places.configured", interrupted)
        assert run("client-config", "cursor") == Outcome(Exit.INTERRUPTED, "", "")

    def test_a_foreign_folder_does_not_matter(self, home: Home, tmp_path: Path) -> None:
        """A client may start us in any repository, one with packages and a configuration like ours too."""
        foreign = tmp_path / "foreign"
        for package in ("gateway", "sync", "cache"):
            (foreign / package).mkdir(parents=True)
            (foreign / package / "__init__.py").write_text("raise SystemExit('foreign code')\n", encoding="utf-8")
        (foreign / "auth.toml").write_text('[forge]\nkind = "local"\nroots = ["."]\n', encoding="utf-8")
        shown = home.run("projects", cwd=foreign)
        assert shown.err == "gateway: no auth.toml — run gateway init\n"


def on_terminal(home: Home, *args: str, **env: str) -> str:
    """What ``gateway ARGS`` shows on a terminal of 80 columns."""
    main, end = pty.openpty()
    environ = {**home.environ, "COLUMNS": "80", **env}
    with subprocess.Popen(gateway(args), env=environ, stdin=end, stdout=end, stderr=end) as process:
        os.close(end)
        shown = b""
        while select.select([main], [], [], 30)[0]:
            try:
                chunk = os.read(main, 65536)
            except OSError:  # Linux says that the other end is gone
                break
            if not chunk:
                break
            shown += chunk
        process.wait(30)
    os.close(main)
    return shown.decode()
