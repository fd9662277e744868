"""``gateway init``: try a configuration, by questions or by flags, and write it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, TypeVar

import anyio
import typer

from cache.errors import Conflict, Denied, InvalidArgument, KnowledgeError, Unavailable
from gateway import files, places, render, trial
from gateway.commands.doctor import lines_of
from gateway.commands.options import VerboseOption, example, log_to_stderr, new_verb
from gateway.config import preview
from gateway.doctor import TOKENS, State
from gateway.exits import Exit
from gateway.initial import Local, Server, text
from gateway.settings import Settings

MODE: Final = 0o600  # it may hold a token
TOKEN_VARIABLE: Final = "GATEWAY_FORGE__TOKEN"  # noqa: S105 its name
MOST_TOKEN: Final = 4096  # characters
STDIN: Final = "-"
TRIES: Final = 3  # at one question

T = TypeVar("T")
F = TypeVar("F", Server, Local)

verb = new_verb()


@verb.command(
    epilog=example(
        "gateway init", "gateway init --root ~/src", "gateway init --url git.example.com --token-file ~/token"
    )
)
def init(  # noqa: PLR0913, PLR0917 one for each option
    url: Annotated[str, typer.Option(metavar="URL", help="A Gitea or Forgejo server.", show_default=False)] = "",
    root: Annotated[
        list[str] | None,
        typer.Option("--root", metavar="DIR", help="Or a folder with repositories; repeat it.", show_default=False),
    ] = None,
    token_file: Annotated[
        str, typer.Option(metavar="FILE", help="Holds the token; - reads it from stdin.", show_default=False)
    ] = "",
    token_command: Annotated[str, typer.Option(metavar="CMD", help="Prints the token.", show_default=False)] = "",
    user: Annotated[str, typer.Option(metavar="NAME", help="Only what this one owns.", show_default=False)] = "",
    ca_file: Annotated[str, typer.Option(metavar="FILE", help="Trust these too (PEM).", show_default=False)] = "",
    shared: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="Whose wiki belongs to everybody.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace one that is there.", show_default=False)] = False,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Where to write it.", show_default=False)
    ] = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Try a configuration, by questions or by these flags, and write it."""
    log_to_stderr(verbose=verbose)
    if root and (url or token_file or token_command or user or ca_file):
        raise typer.BadParameter("--root is for repositories on this machine, the others are for a server")
    if token_file and token_command:
        raise typer.BadParameter("name --token-file or --token-command, not both")
    path = places.config_to_write(config)
    before = _present(path, force=force)
    typed = _read_token() if token_file == STDIN else ""
    wanted = Server(url, user, typed, "" if typed else _file(token_file), token_command, _file(ca_file))
    forge = _tried(path, Local([_folder(each) for each in root])) if root else _server(path, wanted)
    asks = not root and not (url and _names_token(wanted))
    word = _shared_wiki(path, forge, shared, asks=asks)
    _write(path, before, text(forge, word))
    print(f"wrote {path}")
    print("next: gateway sync, then gateway client-config claude-code --write")
    return Exit.OK


def _present(path: Path, *, force: bool) -> bytes | None:
    """What is there now. Raises ``Conflict`` unless it may be replaced."""
    try:
        before = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Denied(f"cannot read {path}: {error.strerror}") from None
    if not force:
        raise Conflict(f"{path} is there already — edit it, or replace it with --force")
    return before


def _server(path: Path, wanted: Server) -> Server | Local:
    """What is ``wanted``, completed by questions and tried. Who names no server has repositories on this machine."""
    ca_file = wanted.ca_file and str(_expanded(wanted.ca_file))
    if wanted.url:
        url = anyio.run(trial.locate, wanted.url, ca_file)
    else:
        where = "Address of your Gitea or Forgejo server (nothing: repositories on this machine)"
        missing = "name a server by --url, or a folder with repositories by --root"
        url = _until_right(
            lambda: _asked(where, missing=missing),
            lambda typed: anyio.run(trial.locate, typed, ca_file) if typed else "",
        )
    if not url:
        return _until_right(
            lambda: _asked("A folder with your repositories", "~/src"),
            lambda typed: _tried(path, Local([_folder(typed)])),
        )
    wanted = replace(wanted, url=url)
    if _names_token(wanted):
        return _tried(path, wanted)
    token = f"Token (made at {url}{TOKENS} with read:user and read:repository; not shown)"
    missing = f"name --token-file or --token-command, or set {TOKEN_VARIABLE}"
    return _until_right(
        lambda: _asked(token, missing=missing, hidden=True), lambda typed: _tried(path, replace(wanted, token=typed))
    )


def _names_token(wanted: Server) -> bool:
    return bool(wanted.token or wanted.token_file or wanted.token_command or os.environ.get(TOKEN_VARIABLE))


def _tried(path: Path, forge: F) -> F:
    """``forge``, if the doctor has nothing against it. Raises ``Unavailable``."""
    found = anyio.run(trial.findings, _settings(path, forge, ""))
    render.show(render.console(), (line for finding in found for line in lines_of(finding)))
    if any(finding.state is State.FAIL for finding in found):
        raise Unavailable("that does not work yet, so nothing is written")
    return forge


def _shared_wiki(path: Path, forge: Server | Local, word: str | None, *, asks: bool) -> str:
    """The shared wiki as it was named, or as somebody answers who is offered likely ones. It is tried, too."""
    if word is None and asks:
        offered = anyio.run(trial.likely_wikis, _settings(path, forge, ""))
        if offered:
            print(f"likely: {', '.join(offered)}")
        question = "The project whose wiki belongs to everybody (owner/name, - for none)"
        word = _asked(question, offered[0] if offered else "").removeprefix("-")
    if word and (wrong := anyio.run(trial.shared_wiki, _settings(path, forge, word))):
        render.show(render.console(), lines_of(wrong))
    return word or ""


def _settings(path: Path, forge: Server | Local, shared: str) -> Settings:
    """What will be read once it is written, the environment's part included."""
    return preview(text(forge, shared), path, os.environ, places.user_places().home).settings


def _until_right(ask: Callable[[], str], check: Callable[[str], T]) -> T:
    """What ``check`` makes of the answer. Who errs is told why, and asked again."""
    for _ in range(TRIES - 1):
        try:
            return check(ask())
        except KnowledgeError as error:
            print(error.message)
    return check(ask())


def _asked(question: str, default: str = "", *, missing: str = "", hidden: bool = False) -> str:
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"nobody to ask: {missing}")
    return str(typer.prompt(question, default=default, show_default=bool(default), hide_input=hidden)).strip()


def _read_token() -> str:
    token = sys.stdin.readline(MOST_TOKEN).strip()
    if not token:
        raise InvalidArgument("there is no token on standard input")
    return token


def _folder(text: str) -> str:
    """A folder as the configuration names it: from the home folder, or absolute."""
    if not _expanded(text).is_dir():
        raise InvalidArgument(f"{text} is no folder — name one that holds repositories")
    return text if text.startswith("~") else str(_expanded(text).absolute())


def _file(text: str) -> str:
    """A file likewise, or empty."""
    if text and not _expanded(text).is_file():
        raise InvalidArgument(f"{text} is no file — see where it lies")
    return text if not text or text.startswith("~") else str(_expanded(text).absolute())


def _expanded(text: str) -> Path:
    return Path(os.path.expanduser(text))  # noqa: PTH111 Path's own raises where there is no home


def _write(path: Path, before: bytes | None, content: str) -> None:
    if before is None and path.exists():
        raise Conflict(f"{path} was written by somebody else meanwhile — replace it with --force")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            files.back_up(path, before, datetime.now(UTC))
        files.replace(path, content.encode(), mode=MODE)
    except OSError as error:
        raise Denied(
            f"cannot write {path}: {error.strerror} — see its permissions, or name another by --config"
        ) from None
