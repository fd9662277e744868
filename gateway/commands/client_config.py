"""``gateway client-config``: what makes an MCP client start the gateway."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from cache.errors import Conflict, Denied, InvalidArgument
from gateway import files, places
from gateway.claude_md import claude_md
from gateway.client_config import CLIENTS, ClientName, Machine, Refused, entry, merge, show
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.program import program
from gateway.settings import ENV_NESTED, ENV_PREFIX, Settings, SwarmkitSection
from gateway.swarmkit_config import workspace_entry
from gateway.toolsets import configured
from sync.corpora.swarmkit.layout import find_checkout

NEW_FILE_MODE: Final = 0o600  # a client's file may come to hold other servers' secrets

verb = new_verb()


def _server_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", text):
        raise typer.BadParameter("letters, digits, - and _, at most 32")
    return text


@verb.command(
    epilog=example("gateway client-config claude-code --write", "gateway client-config claude-md >> CLAUDE.md")
)
def client_config(
    client: Annotated[
        Literal[ClientName, "swarmkit", "claude-md"],
        typer.Argument(
            help="Which client; swarmkit: a workspace; claude-md: words for a CLAUDE.md.", show_default=False
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Put it into the client's own file.", show_default=False)
    ] = False,
    name: Annotated[
        str, typer.Option(parser=_server_name, metavar="NAME", help="What the client calls the server.")
    ] = "knowledge",
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Print the entry that makes an MCP client start the gateway, or write it.

    The client's file keeps all else as it is, and a backup of the file stays beside it.
    """
    log_to_stderr(verbose=verbose)
    loaded = places.configured(config)
    if client == "swarmkit":
        return _for_a_workspace(SwarmkitSection() if loaded is None else loaded.settings.swarmkit, write=write)
    if client == "claude-md":
        return _for_agents(name, Settings() if loaded is None else loaded.settings, write=write)
    _tell_of_variables(os.environ)
    wanted = entry(CLIENTS[client], program(), None if loaded is None else loaded.path)
    path = Machine(sys.platform, places.user_places().home, os.environ).client_file(client)
    if not write:
        print(show(CLIENTS[client], name, wanted), end="", flush=True)
        if sys.stdout.isatty():
            print(f"gateway: this belongs into {path}; --write puts it there", file=sys.stderr)
        return Exit.OK
    try:
        print(_write(path, client, name, wanted))
    except Refused as refusal:
        raise InvalidArgument(f"{path} is left as it is: {refusal}") from None
    except OSError as error:
        raise Denied(f"cannot write {path}: {error.strerror} — see its permissions") from None
    return Exit.OK


def _tell_of_variables(environ: Mapping[str, str]) -> None:
    """Say which settings a client's entry lacks, since a client starts the gateway in an environment of its own."""
    if names := sorted(name for name in environ if name.upper().startswith(ENV_PREFIX) and ENV_NESTED in name):
        some = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        print(
            f"gateway: not in the entry: {some} — clients may not pass them on; set them in auth.toml", file=sys.stderr
        )


def _for_a_workspace(section: SwarmkitSection, *, write: bool) -> Exit:
    if write:
        raise typer.BadParameter(
            "a workspace is written by its people: run it without --write, and put in what it prints"
        )
    repo = Path(section.repo) if section.repo else find_checkout(Path.cwd())
    print(workspace_entry(program(), repo, section.python), end="", flush=True)
    return Exit.OK


def _for_agents(server: str, settings: Settings, *, write: bool) -> Exit:
    if write:
        raise typer.BadParameter("a CLAUDE.md is written by its people: run it without --write, and add what it prints")
    toolsets = settings.gateway.toolsets or configured(settings)
    print(claude_md(server, toolsets, read_only=settings.gateway.read_only), end="", flush=True)
    return Exit.OK


def _write(path: Path, client: ClientName, name: str, wanted: Mapping[str, Any]) -> str:
    """Put the entry into the client's file, and tell what was done. Raises ``Refused``, ``OSError``."""
    path = path.resolve()  # a link to where somebody keeps their settings stays one
    before = path.read_bytes() if path.exists() else b""
    try:
        text = before.decode()
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8 text — mend it first") from None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    after = (mark + merge(text.removeprefix(mark), CLIENTS[client], name, wanted)).encode()
    if after == before:
        return f"{path} has the entry already"
    done = f"wrote {path}"
    if before:
        backup = files.back_up(path, before, datetime.now(UTC))
        done += f", and kept what was there as {backup.name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    if before and path.read_bytes() != before:
        raise Conflict(f"{path} changed meanwhile — run it again")
    files.replace(path, after, mode=path.stat().st_mode & 0o777 if before else NEW_FILE_MODE)
    return f"{done} — restart {CLIENTS[client].title}"
