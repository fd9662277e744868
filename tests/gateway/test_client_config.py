"""The entry for each client, and its place in the client's own file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from gateway.client_config import CLIENTS, ClientName, Machine, Refused, entry, is_ours, merge, show

PROGRAM = ("/opt/tools/bin/gateway",)
CONFIG = Path("/etc/knowledge/auth.toml")
NAMES: tuple[ClientName, ...] = ("claude-code", "claude-desktop", "cursor", "vscode", "codex")


def put(client: ClientName, text: str, *, name: str = "knowledge") -> str:
    return merge(text, CLIENTS[client], name, entry(CLIENTS[client], PROGRAM, CONFIG))


class TestEntry:
    def test_claude_code_takes_dotted_names(self) -> None:
        assert entry(CLIENTS["claude-code"], PROGRAM, CONFIG) == {
            "type": "stdio",
            "command": "/opt/tools/bin/gateway",
            "args": ["serve", "--config", "/etc/knowledge/auth.toml"],
        }

    @pytest.mark.parametrize("client", ["claude-desktop", "cursor", "vscode", "codex"])
    def test_the_others_take_underscores(self, client: ClientName) -> None:
        assert entry(CLIENTS[client], PROGRAM, None)["args"] == ["serve", "--tool-names", "underscore"]

    def test_an_interpreter_can_be_the_command(self) -> None:
        made = entry(CLIENTS["cursor"], ("/usr/bin/python3", "-P", "-m", "gateway"), None)
        assert made["command"] == "/usr/bin/python3"
        assert made["args"][:4] == ["-P", "-m", "gateway", "serve"]
        assert is_ours(made)

    @pytest.mark.parametrize(
        ("client", "table"),
        [
            ("claude-code", "mcpServers"),
            ("claude-desktop", "mcpServers"),
            ("cursor", "mcpServers"),
            ("vscode", "servers"),
        ],
    )
    def test_it_is_shown_as_it_stands_in_a_file(self, client: ClientName, table: str) -> None:
        wanted = entry(CLIENTS[client], PROGRAM, CONFIG)
        assert json.loads(show(CLIENTS[client], "knowledge", wanted)) == {table: {"knowledge": wanted}}

    def test_codex_reads_toml(self) -> None:
        wanted = entry(CLIENTS["codex"], ('/opt/a "b"\x7f\\c/gateway',), CONFIG)
        assert tomllib.loads(show(CLIENTS["codex"], "knowledge", wanted)) == {"mcp_servers": {"knowledge": wanted}}


class TestPlace:
    @pytest.mark.parametrize(
        ("platform", "client", "expected"),
        [
            ("linux", "claude-code", ".claude.json"),
            ("linux", "claude-desktop", ".config/Claude/claude_desktop_config.json"),
            ("darwin", "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
            ("win32", "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
            ("linux", "cursor", ".cursor/mcp.json"),
            ("linux", "vscode", ".config/Code/User/mcp.json"),
            ("darwin", "vscode", "Library/Application Support/Code/User/mcp.json"),
            ("linux", "codex", ".codex/config.toml"),
        ],
    )
    def test_each_client_has_its_own(self, platform: str, client: ClientName, expected: str) -> None:
        assert Machine(platform, Path("/home/u"), {}).client_file(client) == Path("/home/u") / expected

    @pytest.mark.parametrize(
        ("variable", "client", "expected"),
        [
            ("CLAUDE_CONFIG_DIR", "claude-code", "/x/.claude.json"),
            ("CODEX_HOME", "codex", "/x/config.toml"),
            ("XDG_CONFIG_HOME", "vscode", "/x/Code/User/mcp.json"),
        ],
    )
    def test_a_variable_moves_it(self, variable: str, client: ClientName, expected: str) -> None:
        assert Machine("linux", Path("/home/u"), {variable: "/x"}).client_file(client) == Path(expected)


class TestMerge:
    @pytest.mark.parametrize("client", NAMES)
    def test_it_is_there_after_one_time_and_unchanged_after_two(self, client: ClientName) -> None:
        once = put(client, "")
        assert put(client, once) == once

    @pytest.mark.parametrize("client", NAMES)
    def test_a_moved_installation_is_mended(self, client: ClientName) -> None:
        old = merge("", CLIENTS[client], "knowledge", entry(CLIENTS[client], ("/old/gateway",), None))
        assert put(client, old) == put(client, "")

    def test_other_servers_and_settings_stay_to_the_byte(self) -> None:
        text = '{\n   "numStartups": 1e2,  "mcpServers": {"other": {"command": "x"}},\n   "é": "\\u00e9"\n}'
        after = put("claude-code", text)
        assert after.startswith('{\n   "numStartups": 1e2,  "mcpServers": {"other": {"command": "x"},')
        assert after.endswith('},\n   "é": "\\u00e9"\n}')

    def test_comments_of_an_editor_stay(self) -> None:
        text = '{\n\t// mine\n\t"inputs": [],\n\t"servers": {\n\t\t"other": {"command": "x"}, // yes\n\t}\n}\n'
        after = put("vscode", text)
        assert after.replace(after[after.index('\n\t\t"knowledge"') : after.index("\n\t}\n}")], "") == text

    def test_what_somebody_added_to_the_entry_stays(self) -> None:
        added = put("claude-code", "").replace('"type"', '"env": {"GATEWAY_GATEWAY__DEADLINE": "5s"}, "type"')
        moved = added.replace("/opt/tools/bin", "/old")
        assert put("claude-code", moved) == added

    @pytest.mark.parametrize("client", ["claude-code", "claude-desktop"])
    def test_a_strict_client_has_no_comments(self, client: ClientName) -> None:
        with pytest.raises(Refused, match="it is not JSON at line 1 — mend it first"):
            put(client, "{} // c")

    @pytest.mark.parametrize(
        ("client", "text"),
        [
            ("cursor", "{"),
            ("cursor", "[]"),
            ("cursor", '{"mcpServers": []}'),
            ("codex", "a = "),
            ("codex", "mcp_servers = 1"),
        ],
    )
    def test_a_malformed_file_is_left_alone(self, client: ClientName, text: str) -> None:
        with pytest.raises(Refused):
            put(client, text)

    @pytest.mark.parametrize(
        ("client", "text"),
        [
            ("cursor", '{"mcpServers": {"knowledge": {"command": "other", "args": ["serve"]}}}'),
            ("cursor", '{"mcpServers": {"knowledge": {"url": "https://example.test/mcp"}}}'),
            ("cursor", '{"mcpServers": {"knowledge": null}}'),
            ("codex", '[mcp_servers.knowledge]\ncommand = "other"\n'),
        ],
    )
    def test_another_server_of_that_name_is_left_alone(self, client: ClientName, text: str) -> None:
        if "null" in text:
            assert json.loads(put(client, text))["mcpServers"]["knowledge"]["command"] == PROGRAM[0]
            return
        with pytest.raises(Refused, match="another server is called knowledge there — choose another name with --name"):
            put(client, text)
        assert json_or_toml(client, put(client, text, name="wikis"))["wikis"]["command"] == PROGRAM[0]


def json_or_toml(client: ClientName, text: str) -> dict[str, dict[str, object]]:
    parsed = tomllib.loads(text) if client == "codex" else json.loads(text)
    servers = parsed[CLIENTS[client].table]
    assert isinstance(servers, dict)
    return servers


class TestCodex:
    def test_a_table_is_added_at_the_end(self) -> None:
        assert put("codex", 'model = "x" # mine') == 'model = "x" # mine\n\n' + put("codex", "")

    def test_other_tables_and_comments_stay(self) -> None:
        text = (
            "# top\n[mcp_servers.a]\ncommand = 'a'\n\n"
            "[mcp_servers.knowledge] # ours\nstartup_timeout_sec = 30\ncommand = '/old/gateway'\n"
            "args = [\n  'serve', # ]\n  \"a]\",\n]\nenabled = true\n\n"
            "[mcp_servers.knowledge.env]\nA = 'b'\n\n[[x]]\ncommand = 'stays'\n"
        )
        after = put("codex", text)
        parsed, before = tomllib.loads(after), tomllib.loads(text)
        wanted = entry(CLIENTS["codex"], PROGRAM, CONFIG)
        before["mcp_servers"]["knowledge"].update(wanted)
        assert parsed == before
        for kept in ("# top\n", "# ours\n", "startup_timeout_sec = 30\n", "enabled = true\n", "command = 'stays'\n"):
            assert kept in after

    @pytest.mark.parametrize(
        "text",
        [
            "mcp_servers = {other = {command = 'x'}}\n",
            "[mcp_servers]\nknowledge = {command = '/old/gateway', args = ['serve']}\n",
        ],
    )
    def test_tables_in_one_line_are_left_alone(self, text: str) -> None:
        with pytest.raises(Refused, match="it cannot be changed safely — add the entry by hand"):
            put("codex", text)

    def test_line_ends_stay(self) -> None:
        assert "\r\n[mcp_servers.knowledge]\r\ncommand" in put("codex", "a = 1\r\n")
