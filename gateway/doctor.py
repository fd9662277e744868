"""What may keep the gateway from working on this machine, and how to mend each thing. Checks, without the terminal."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cache.errors import KnowledgeError
from cache.interface import RunSummary, Store
from cache.model import Project
from gateway import DISTRIBUTION, client_config
from gateway.client_config import CLIENTS, Machine, Refused
from gateway.config import Loaded
from sync.forge.base import Forge

Version = tuple[int, int, int]

OLDEST_PYTHON: Version = (3, 11, 0)
TOKENS = "/user/settings/applications"  # the page of a forge where its users make tokens


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and the ``remedy`` where there is something to do."""

    state: State
    text: str
    remedy: str = ""


def version(what: str, found: Version, oldest: Version) -> Finding:
    """Whether ``what`` is new enough."""
    text = f"{what} {'.'.join(map(str, found))}"
    if found < oldest:
        return Finding(State.FAIL, f"{text} is too old", f"it takes {'.'.join(map(str, oldest))} or newer")
    return Finding(State.OK, text)


def packages(origins: Mapping[str, Path | None], home: Path | None) -> Finding:
    """Whether our packages, whose names are generic, are ours: all of them lie in ``home``, our distribution's."""
    remedy = "install it by itself: uv tool install, or pipx install"
    if home is None:
        return Finding(State.FAIL, f"{DISTRIBUTION} is not installed", remedy)
    for name, origin in origins.items():
        if origin is None or origin.resolve().parent.parent != home.resolve():
            return Finding(State.FAIL, f"the package {name} is another one: {origin or 'missing'}", remedy)
    return Finding(State.OK, f"the packages {', '.join(origins)} are those of {DISTRIBUTION}")


def configuration(loaded: Loaded | None) -> Iterator[Finding]:
    """Where it is, who may change it, and whether it names a forge."""
    if loaded is None:
        yield Finding(State.FAIL, "no auth.toml", "gateway init")
        return
    yield Finding(State.OK, f"configuration: {loaded.path or 'the environment'}")
    if loaded.path is not None:
        yield from private_file(loaded.path, secret=loaded.private)
    if not loaded.settings.fleet:
        yield Finding(State.FAIL, "no forge is configured", "add [forge] to it, or gateway init --force")


def private_file(path: Path, *, secret: bool) -> Iterator[Finding]:
    """What others may do with a file that decides what is run, or that holds a ``secret``."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # whoever reads it says why it cannot be read
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield Finding(State.WARN, f"others may change {path}", f"chmod 600 {path}")
    elif secret and mode & (stat.S_IRGRP | stat.S_IROTH):
        yield Finding(State.WARN, f"others may read {path}, which holds a token", f"chmod 600 {path}")


def roots(paths: Sequence[Path]) -> Iterator[Finding]:
    """Those that cannot be read."""
    for path in paths:
        if not path.exists():
            yield Finding(State.FAIL, f"{path} does not exist", "correct roots in auth.toml")
        elif not path.is_dir():
            yield Finding(State.FAIL, f"{path} is no folder", "correct roots in auth.toml")
        elif not os.access(path, os.R_OK | os.X_OK):
            yield Finding(State.FAIL, f"{path} cannot be read", "change its permissions, or roots in auth.toml")


async def forge(name: str, forge: Forge) -> Finding:
    """What it lists."""
    found = 0
    hidden: list[str] = []
    try:
        async for page in forge.listing():
            found += len(page.projects)
            hidden += page.hidden
    except KnowledgeError as error:
        return Finding(State.FAIL, f"forge {name}: {error.message}", "see that it can be reached and read")
    if hidden:
        where = ", ".join(hidden[:3]) + (", …" if len(hidden) > 3 else "")
        return Finding(State.WARN, f"forge {name}: {found} repositories; cannot look into {where}", "see permissions")
    if not found:
        return Finding(State.WARN, f"forge {name}: no git repository found", "correct roots in auth.toml")
    return Finding(State.OK, f"forge {name}: {found} repositories")


def cache_place(file: Path) -> Iterator[Finding]:
    """Whether the cache ``file`` is there, and can be written."""
    there = os.access(file, os.F_OK)
    folder = next(parent for parent in file.parents if os.access(parent, os.F_OK))
    if not (os.access(folder, os.W_OK | os.X_OK) and (not there or os.access(file, os.W_OK))):
        remedy = f"have {folder} let this user write, or set [cache] file"
        if there:
            yield Finding(State.WARN, "the cache cannot be written, so no sync brings anything new", remedy)
        else:
            yield Finding(State.FAIL, f"there is no cache yet, and none can be made in {folder}", remedy)
    elif not there:
        yield Finding(State.WARN, "there is no cache yet", "gateway sync")


def cache(store: Store, *, now: float, stale_after: float) -> Iterator[Finding]:
    """Whether it is whole, and how old. ``now`` in seconds since the UTC epoch, ``stale_after`` in seconds."""
    if problems := store.check():
        yield Finding(State.FAIL, f"the cache is damaged: {problems[0]}", "gateway cache clear, then gateway sync")
        return
    info = store.info()
    yield Finding(State.OK, f"cache: {info.path}, {info.projects} projects, {info.pages} pages")
    yield last_sync(info.runs, now=now, stale_after=stale_after)


def last_sync(runs: Sequence[RunSummary], *, now: float, stale_after: float) -> Finding:
    """How long ago the last sync ended, and what it could not read. ``runs`` are the newest first."""
    last: dict[str, RunSummary] = {}
    for run in runs:
        if run.finished_at is not None:
            last.setdefault(run.forge, run)
    if not last:
        return Finding(State.WARN, "no sync has been completed yet", "gateway sync")
    age = now - max(run.finished_at or 0.0 for run in last.values())
    lacks = [_lack(run) for run in last.values() if not run.complete]
    text = f"last {'' if lacks else 'complete '}sync: {_ago(age)}{''.join(f', {lack}' for lack in lacks)}"
    if age > stale_after:
        return Finding(State.WARN, text, "gateway sync, or gateway sync --watch 5m")
    if not lacks:
        return Finding(State.OK, text)
    failed = any(run.failed for run in last.values())
    return Finding(State.WARN, text, "gateway projects tells which, and why" if failed else "gateway sync tells why")


def _lack(run: RunSummary) -> str:
    if run.failed:
        return f"{run.failed} of {run.listed} repositories failed"
    return f"forge {run.forge} could not be listed"


def _ago(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} seconds ago"


def shared_wiki(word: str, found: Project | KnowledgeError | None) -> Finding:
    """Whether ``word``, [wiki] shared, means a project with a wiki."""
    if not word:
        return Finding(State.NOTE, "no shared wiki: knowledge.search has nowhere to look", "set [wiki] shared")
    if isinstance(found, Project) and found.has_wiki:
        return Finding(State.OK, f"shared wiki: {found.name}, {found.pages} pages")
    reason = "it has no wiki" if not isinstance(found, KnowledgeError) else found.message
    return Finding(State.FAIL, f"shared wiki {word}: {reason}", "correct [wiki] shared, then gateway sync")


@dataclass(frozen=True, slots=True)
class Here:
    """This installation's ``program``, the configuration in use, and the one that is read where none is named."""

    program: Path
    config: Path | None
    default: Path


def clients(machine: Machine, here: Here) -> Iterator[Finding]:
    """Which clients on this machine start the gateway, and whether they start this one."""
    started = False
    for name, client in CLIENTS.items():
        path = machine.client_file(name)
        try:
            text = path.read_text(encoding="utf-8-sig")
            servers = client_config.servers(text, client)
        except (OSError, UnicodeDecodeError):
            continue  # not installed, or not for us to see
        except Refused as refusal:
            yield Finding(State.WARN, f"{client.title}: {path}: {refusal}", "mend the file")
            continue
        for server, entry in servers.items():
            if client_config.is_ours(entry):
                started = True
                remedy = f"gateway client-config {name} --write" + (
                    "" if server == "knowledge" else f" --name {server}"
                )
                yield _client(f"{client.title}: {server}", entry, here, remedy)
    if not started:
        yield Finding(State.NOTE, "no MCP client starts the gateway yet", "gateway client-config claude-code --write")


def _client(what: str, entry: Mapping[str, Any], here: Here, remedy: str) -> Finding:
    command = Path(entry["command"])
    if not os.access(command, os.X_OK):
        return Finding(State.FAIL, f"{what} starts {command}, which is not there", remedy)
    if _folder(command) != _folder(here.program):
        return Finding(State.WARN, f"{what} starts another installation, {command}", remedy)
    args = entry["args"]
    read = Path(args[args.index("--config") + 1]) if "--config" in args[:-1] else here.default
    if here.config is not None and read != here.config:
        return Finding(State.WARN, f"{what} reads another configuration, {read}", remedy)
    return Finding(State.OK, f"{what} starts this gateway")


def _folder(command: Path) -> Path:
    """Where a program is installed: a tool's installer links to it, an environment's Python links elsewhere."""
    return (command.resolve() if command.stem == "gateway" else command.absolute()).parent


WHERE_PAGES_ARE = Finding(State.NOTE, "pages are read from .wiki/ in each repository, not from a forge's Wiki tab")
