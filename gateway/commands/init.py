"""``gateway init``: write the configuration, and try it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import anyio
import typer

from cache.errors import Conflict, Denied, InvalidArgument
from gateway import files, places, toml_text
from gateway.app import open_forges
from gateway.commands.options import VerboseOption, example, log_to_stderr, new_verb
from gateway.exits import Exit
from gateway.settings import Settings

MODE: Final = 0o600  # it may come to hold a token

verb = new_verb()


@verb.command(epilog=example("gateway init", "gateway init --root ~/src --shared me/wiki"))
def init(
    root: Annotated[
        list[str] | None,
        typer.Option("--root", metavar="DIR", help="A folder with repositories; repeat it.", show_default=False),
    ] = None,
    shared: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="Whose wiki belongs to everybody.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace one that is there.", show_default=False)] = False,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Where to write it.", show_default=False)
    ] = None,
    verbose: VerboseOption = False,
) -> Exit:
    """Write the configuration, by questions or by these flags, and try it."""
    log_to_stderr(verbose=verbose)
    path = places.config_to_write(config)
    before = _present(path, force=force)
    roots = root or [_asked("A folder with your repositories", "~/src")]
    if shared is None and not root:
        shared = _asked("The project whose wiki belongs to everybody (owner/name, or nothing)", "")
    _write(path, before, _text([_root(each) for each in roots], shared or ""))
    settings = places.require(path).settings
    found = anyio.run(_count, settings)
    print(f"wrote {path}: {found} git repositories found")
    print(
        "next: gateway sync, then gateway client-config claude-code --write"
        if found
        else "put some there, then: gateway sync"
    )
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


def _asked(question: str, default: str) -> str:
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody to ask: name a folder with repositories by --root")
    return str(typer.prompt(question, default=default, show_default=bool(default)))


def _root(text: str) -> str:
    """A folder as the configuration names it: from the home folder, or absolute."""
    path = Path(os.path.expanduser(text))  # noqa: PTH111 Path's own raises where there is no home
    if not path.is_dir():
        raise InvalidArgument(f"{text} is no folder")
    return text if text.startswith("~") else str(path.absolute())


def _text(roots: Sequence[str], shared: str) -> str:
    lines = [
        "# The knowledge gateway's configuration. auth.example.toml of its source shows every key with its default.",
        "[forge]",
        'kind = "local"',
        f"roots = {toml_text.array(roots)}",
    ]
    if shared:
        lines += ["", "[wiki]", f"shared = {toml_text.string(shared)}"]
    return "\n".join(lines) + "\n"


def _write(path: Path, before: bytes | None, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            files.back_up(path, before, datetime.now(UTC))
        files.replace(path, text.encode(), mode=MODE)
    except OSError as error:
        raise Denied(
            f"cannot write {path}: {error.strerror} — see its permissions, or name another by --config"
        ) from None


async def _count(settings: Settings) -> int:
    found = 0
    async with open_forges(settings) as forges:
        for forge in forges.values():
            async for page in forge.listing():
                found += len(page.projects)
    return found
