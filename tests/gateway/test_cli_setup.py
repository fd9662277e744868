"""``init`` and ``client-config``: what they write, and what they leave alone."""

from __future__ import annotations

import json
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.cli import Home, Inside
from tests.support.terminal import converse


class TestInit:
    def test_flags_are_enough(self, home: Home, run: Inside) -> None:
        (home.path / "src").mkdir()
        shown = run("init", "--root", "~/src", "--shared", "local/wiki")
        assert shown.code == 0
        assert f"\nwrote {home.config}\n" in shown.out
        assert tomllib.loads(home.config.read_text(encoding="utf-8")) == {
            "forge": {"kind": "local", "roots": ["~/src"]},
            "wiki": {"shared": "local/wiki"},
        }

    def test_only_its_owner_may_read_it(self, home: Home, run: Inside) -> None:
        run("init", "--root", "~")
        assert stat.S_IMODE(home.config.stat().st_mode) == 0o600

    def test_it_tells_what_it_found_and_what_comes_next(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        shown = run("init", "--root", "src", "--force")
        assert shown.out.startswith("ok   forge default: 4 repositories\n")
        assert shown.out.endswith("\nnext: gateway sync, then gateway client-config claude-code --write\n")
        assert run("sync").code == 0

    def test_a_relative_root_is_written_whole(self, home: Home, run: Inside) -> None:
        (home.path / 'a "quoted" root').mkdir()
        run("init", "--root", 'a "quoted" root')
        written = tomllib.loads(home.config.read_text(encoding="utf-8"))
        assert written["forge"]["roots"] == [str(home.path / 'a "quoted" root')]

    def test_a_root_that_is_not_there_writes_nothing(self, home: Home, run: Inside) -> None:
        shown = run("init", "--root", "~/nowhere")
        assert (shown.code, shown.err) == (3, "gateway: ~/nowhere is no folder — name one that holds repositories\n")
        assert not home.config.exists()

    def test_one_that_is_there_stays(self, home: Home, run: Inside) -> None:
        home.configure("# mine\n")
        shown = run("init", "--root", "~")
        assert shown.code == 3
        assert shown.err.endswith("is there already — edit it, or replace it with --force\n")
        assert home.config.read_text(encoding="utf-8") == "# mine\n"

    def test_force_keeps_a_backup(self, home: Home, run: Inside) -> None:
        home.configure("# mine\n")
        assert run("init", "--root", "~", "--force").code == 0
        (backup,) = home.config.parent.glob("*.bak")
        assert backup.read_text(encoding="utf-8") == "# mine\n"

    def test_it_can_be_written_elsewhere(self, home: Home, run: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
        assert run("init", "--root", "~", "--config", "x/y.toml").code == 0
        monkeypatch.setenv("GATEWAY_CONFIG", str(home.path / "z.toml"))
        assert run("init", "--root", "~").code == 0
        assert (home.path / "x" / "y.toml").exists()
        assert (home.path / "z.toml").exists()
        assert not home.config.exists()

    def test_a_person_is_asked_and_offered_the_likely_shared_wiki(self, home: Home) -> None:
        home.with_fleet()
        home.config.unlink()
        answers = [
            ("Gitea or Forgejo server", ""),
            ("A folder with your repositories [~/src]", ""),
            ("[local/acme/handbook]", ""),
        ]
        code, shown = converse(home, ["init"], answers)
        assert code == 0, shown
        assert tomllib.loads(home.config.read_text(encoding="utf-8"))["wiki"]["shared"] == "local/acme/handbook"

    def test_a_person_who_errs_is_asked_again(self, home: Home) -> None:
        (home.path / "src").mkdir()
        question = "A folder with your repositories"
        answers = [
            ("Gitea or Forgejo server", ""),
            (question, "~/scr"),
            (question, "~/src"),
            ("belongs to everybody", "-"),
        ]
        code, shown = converse(home, ["init"], answers)
        assert code == 0, shown
        assert "~/scr is no folder — name one that holds repositories\n" in shown
        assert "wiki" not in tomllib.loads(home.config.read_text(encoding="utf-8"))


class TestClientConfig:
    def test_the_command_is_absolute_and_runs_from_anywhere(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        entry = json.loads(run("client-config", "claude-code").out)["mcpServers"]["knowledge"]
        assert Path(entry["command"]).is_absolute()
        assert entry["args"] == ["serve", "--config", str(home.config)]
        command = [entry["command"], *(arg for arg in entry["args"] if arg != "serve")]
        command.insert(1, "projects")
        done = subprocess.run(command, cwd="/", env=home.environ, capture_output=True, check=False)
        assert done.returncode == 0

    def test_without_configuration_none_is_named(self, home: Home, run: Inside) -> None:
        entry = json.loads(run("client-config", "vscode").out)["servers"]["knowledge"]
        assert entry["args"] == ["serve", "--tool-names", "underscore"]

    def test_what_only_this_environment_sets_is_named(
        self, home: Home, run: Inside, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GATEWAY_FORGE__KIND", "local")
        monkeypatch.setenv("GATEWAY_FORGE__ROOTS", '["/srv/secret"]')
        shown = run("client-config", "cursor", "--write")
        assert shown.code == 0
        assert shown.err == (
            "gateway: not in the entry: GATEWAY_FORGE__KIND, GATEWAY_FORGE__ROOTS"
            " — clients may not pass them on; set them in auth.toml\n"
        )

    def test_writing_says_where_and_keeps_the_rest(self, home: Home, run: Inside) -> None:
        path = home.path / ".claude.json"
        path.write_text('{"numStartups": 3, "mcpServers": {"other": {"command": "x"}}}', encoding="utf-8")
        path.chmod(0o640)
        shown = run("client-config", "claude-code", "--write")
        assert shown.code == 0
        assert shown.out.startswith(f"wrote {path}, and kept what was there as .claude.json.")
        assert shown.out.endswith(" — restart Claude Code\n")
        written = json.loads(path.read_text(encoding="utf-8"))
        assert written["numStartups"] == 3
        assert list(written["mcpServers"]) == ["other", "knowledge"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        (backup,) = home.path.glob(".claude.json.*.bak")
        assert json.loads(backup.read_text(encoding="utf-8"))["mcpServers"] == {"other": {"command": "x"}}

    def test_writing_again_changes_nothing(self, home: Home, run: Inside) -> None:
        run("client-config", "codex", "--write")
        before = sorted((path, path.stat().st_mtime_ns) for path in (home.path / ".codex").iterdir())
        shown = run("client-config", "codex", "--write")
        assert shown.out == f"{home.path}/.codex/config.toml has the entry already\n"
        assert sorted((path, path.stat().st_mtime_ns) for path in (home.path / ".codex").iterdir()) == before

    def test_a_new_file_is_private(self, home: Home, run: Inside) -> None:
        run("client-config", "cursor", "--write")
        assert stat.S_IMODE((home.path / ".cursor" / "mcp.json").stat().st_mode) == 0o600

    def test_a_link_stays_a_link(self, home: Home, run: Inside) -> None:
        (home.path / "dotfiles").mkdir()
        (home.path / ".cursor").mkdir()
        real = home.path / "dotfiles" / "mcp.json"
        real.write_text("{}", encoding="utf-8")
        (home.path / ".cursor" / "mcp.json").symlink_to(real)
        run("client-config", "cursor", "--write")
        assert (home.path / ".cursor" / "mcp.json").is_symlink()
        assert "knowledge" in real.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        "content", [b"{", b"\xff", b'{"mcpServers": {"knowledge": {"url": "https://example.test"}}}']
    )
    def test_a_file_that_cannot_be_changed_safely_stays(self, home: Home, run: Inside, content: bytes) -> None:
        path = home.path / ".claude.json"
        path.write_bytes(content)
        shown = run("client-config", "claude-code", "--write")
        assert shown.code == 3
        assert shown.err.startswith(f"gateway: {path} is left as it is: ")
        assert path.read_bytes() == content
        assert list(home.path.iterdir()) == [path]

    def test_a_person_is_told_where_the_entry_belongs(self, home: Home, run: Inside) -> None:
        _, shown = converse(home, ["client-config", "cursor"], [])
        assert shown.endswith(f"gateway: this belongs into {home.path}/.cursor/mcp.json; --write puts it there\n")
        assert run("client-config", "cursor").err == ""

    def test_another_name_can_be_chosen(self, home: Home, run: Inside) -> None:
        shown = run("client-config", "claude-code", "--name", "wikis")
        assert list(json.loads(shown.out)["mcpServers"]) == ["wikis"]
        assert run("client-config", "claude-code", "--name", "a b").code == 2
