"""The entry that makes an MCP client start the gateway, and its place in the client's own file. Pure.

Each client's file and format are those of its documentation (November 2026); the form of tool names is the one it
takes (Claude Code shows dots as underscores by itself, the others refuse or complain about them).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from gateway import jsonc, toml_text
from gateway.tools.registry import NameForm

MODULE: Final = ("-P", "-m", "gateway")  # -P: never import from the folder that a client happens to start us in

_TOML_ARRAY: Final = r"""\[(?:"(?:[^"\\]|\\.)*"|'[^']*'|#[^\n]*|[^]"'#])*\]"""
_OUR_TOML_KEYS: Final = re.compile(rf"(?m)^(?:command|args)[ \t]*=[ \t]*(?:{_TOML_ARRAY}|[^[\n])[^\n]*(?:\n|\Z)")


class Refused(ValueError):
    """A client's file is left alone; the message says why."""


@dataclass(frozen=True, slots=True)
class Client:
    """An MCP client: the ``form`` of names it takes, the ``table`` of its file that holds servers, the file's
    ``format``, and whether an entry says that it is for ``stdio`` (``typed``)."""

    title: str
    form: NameForm
    table: str
    format: Literal["json", "jsonc", "toml"]
    typed: bool = False


ClientName = Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex"]

CLIENTS: Final[Mapping[ClientName, Client]] = {
    "claude-code": Client("Claude Code", NameForm.DOTTED, "mcpServers", "json", typed=True),
    "claude-desktop": Client("Claude Desktop", NameForm.UNDERSCORE, "mcpServers", "json"),
    "cursor": Client("Cursor", NameForm.UNDERSCORE, "mcpServers", "jsonc"),
    "vscode": Client("VS Code", NameForm.UNDERSCORE, "servers", "jsonc", typed=True),
    "codex": Client("Codex", NameForm.UNDERSCORE, "mcp_servers", "toml"),
}


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where a client keeps its file: ``platform`` as ``sys.platform`` has it."""

    platform: str
    home: Path
    environ: Mapping[str, str]

    def application_data(self) -> Path:
        """Where applications keep a user's settings."""
        match self.platform:
            case "darwin":
                return self.home / "Library" / "Application Support"
            case "win32":
                return self._folder("APPDATA", self.home / "AppData" / "Roaming")
            case _:
                return self._folder("XDG_CONFIG_HOME", self.home / ".config")

    def client_file(self, client: ClientName) -> Path:
        """The file that holds the servers of all of this user's projects."""
        match client:
            case "claude-code":
                return self._folder("CLAUDE_CONFIG_DIR", self.home) / ".claude.json"
            case "claude-desktop":
                return self.application_data() / "Claude" / "claude_desktop_config.json"
            case "cursor":
                return self.home / ".cursor" / "mcp.json"
            case "vscode":
                return self.application_data() / "Code" / "User" / "mcp.json"
            case "codex":
                return self._folder("CODEX_HOME", self.home / ".codex") / "config.toml"

    def _folder(self, variable: str, default: Path) -> Path:
        value = self.environ.get(variable)
        return Path(value) if value else default


def entry(client: Client, program: Sequence[str], config: Path | None) -> dict[str, Any]:
    """The entry for ``client``: ``program`` is the absolute command, ``config`` the configuration in use."""
    command, *args = program
    args.append("serve")
    if config is not None:
        args += ["--config", str(config)]
    if client.form is not NameForm.DOTTED:
        args += ["--tool-names", client.form.value]
    return ({"type": "stdio"} if client.typed else {}) | {"command": command, "args": args}


def show(client: Client, name: str, wanted: Mapping[str, Any]) -> str:
    """The entry as it stands in an otherwise empty file of ``client``."""
    return merge("", client, name, wanted)


def merge(text: str, client: Client, name: str, wanted: Mapping[str, Any]) -> str:
    """``text``, the client's file, with the entry ``name`` in it. All else stays as it is.

    Keys of an entry of ours that somebody added stay too. Raises :class:`Refused` for a file that cannot be read,
    and for an entry of that name that starts something else.
    """
    before = servers(text, client)
    present = before.get(name)
    if present is not None and not is_ours(present):
        raise Refused(f"another server is called {name} there — choose another name with --name")
    if present is not None and all(present.get(key) == value for key, value in wanted.items()):
        return text
    merged = {**(present or {}), **wanted}
    put = _put_toml if client.format == "toml" else _put_json
    after = put(text, client, name, merged)
    if not _differs_only_in(client, name, merged, text, after):
        raise Refused("it cannot be changed safely — add the entry by hand, as gateway client-config prints it")
    return after


def _differs_only_in(client: Client, name: str, merged: Mapping[str, Any], before: str, after: str) -> bool:
    expected = _parse(before, client)
    expected = {**expected, client.table: {**expected.get(client.table, {}), name: merged}}
    try:
        return _parse(after, client) == expected
    except Refused:
        return False


def servers(text: str, client: Client) -> Mapping[str, Any]:
    """The servers that a client's file names. Raises :class:`Refused`."""
    found = _parse(text, client).get(client.table, {})
    if not isinstance(found, dict):
        raise Refused(f"{client.table} is not a table")
    return found


def is_ours(present: object) -> bool:
    """Whether an entry starts the gateway, be it another installation of it."""
    if not isinstance(present, dict):
        return False
    command, args = present.get("command"), present.get("args")
    if not isinstance(command, str) or not isinstance(args, list) or "serve" not in args:
        return False
    return Path(command).stem == "gateway" or args[:3] == [*MODULE]


def _parse(text: str, client: Client) -> dict[str, Any]:
    if not text.strip():
        return {}
    if client.format == "toml":
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            raise Refused("it is not valid TOML — mend it first") from None
    try:
        return jsonc.parse(text, comments=client.format == "jsonc")
    except jsonc.Malformed as error:
        raise Refused(f"it is {error} — mend it first") from None


def _put_json(text: str, client: Client, name: str, merged: Mapping[str, Any]) -> str:
    present = servers(text, client).get(name)
    if present is None:
        return jsonc.put(text if text.strip() else "{}\n", (client.table, name), merged)
    for key, value in merged.items():
        if present.get(key) != value:
            text = jsonc.put(text, (client.table, name, key), value)
    return text


def _put_toml(text: str, client: Client, name: str, merged: Mapping[str, Any]) -> str:
    """Replace the lines of the entry's own keys, or add a table at the end. The caller checks the outcome."""
    newline = "\r\n" if "\r\n" in text else "\n"
    header = f"[{client.table}.{name}]"
    ours = [f"command = {toml_text.string(merged['command'])}", f"args = {toml_text.array(merged['args'])}"]
    found = re.search(rf"^{re.escape(header)}[^\n]*\n", text, re.MULTILINE)
    if found is None:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        return text + gap + newline.join([header, *ours, ""])
    following = re.compile(r"^\[", re.MULTILINE).search(text, found.end())
    end = len(text) if following is None else following.start()
    own = _OUR_TOML_KEYS.sub("", text[found.end() : end])
    return text[: found.end()] + newline.join([*ours, ""]) + own + text[end:]
