"""The command line: which verbs there are, and the one place where errors become exit codes."""

from __future__ import annotations

import errno
import gc
import importlib
import keyword
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

import typer
import typer.main

from cache.errors import InvalidArgument, KnowledgeError, SyncRunning, cause
from gateway.exits import Exit
from gateway.wording import near, printable

VERBS: Final[Mapping[str, str]] = {
    "demo": "See it work on a small fleet of real repositories",
    "init": "Write the configuration, by questions or by flags",
    "doctor": "Check everything, and say how to mend what is wrong",
    "sync": "Bring the cache up to date",
    "serve": "Answer MCP clients, over stdio or HTTP",
    "knowledge-server": "Answer MCP clients about a SwarmKit checkout",
    "client-config": "Print or write the entry for an MCP client",
    "ask": "Ask the wikis of some projects",
    "get": "Read one page of a project's wiki",
    "search": "Search the shared wiki",
    "projects": "List the projects that are known",
    "ingest": "Write a page into a project's wiki",
    "task": "File a task in a project",
    "inbox": "Show and file what agents captured",
    "import": "Copy a folder of notes into the knowledge base",
    "cache": "Look into the cache file",
}

logger = logging.getLogger(__name__)


class _NoSuchVerb(typer.TyperException):
    exit_code = Exit.USAGE


def main() -> NoReturn:
    """The ``gateway`` command."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Do what ``args`` say and return the exit code. Every error is one line on stderr; ``-v`` adds its traceback."""
    _plug_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # a page may hold what a locale cannot
    try:
        code = _dispatch(args)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException as error:  # every way to end is an exit code
        return _failed(cause(error), f"gateway {args[0]}" if args and args[0] in VERBS else "gateway")
    return code


def _plug_closed_streams() -> None:
    """Open what was closed at the start on nothing: otherwise the next file takes its number, and ``print`` sends to
    stdout, where the protocol or a page is, what is meant for stderr."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _dispatch(args: Sequence[str]) -> int:
    """Import the one verb's module, so that none pays for what another needs: ``sync`` does not load the protocol, nor
    ``serve`` the terminal output."""
    verb, *rest = args or ("--help",)
    if verb in ("--help", "-h"):
        print(overview())
        return Exit.OK
    if verb == "--version":
        from gateway.version import version  # noqa: PLC0415 what it imports is 20 ms that no other verb needs

        print(f"gateway {version()}")
        return Exit.OK
    if verb not in VERBS:
        meant = near(verb, VERBS)
        raise _NoSuchVerb(f"no such verb: {verb}" + (f" (did you mean {meant}?)" if meant else ""))
    gc.disable()  # imports make much and drop little: collecting meanwhile is a fifth of a start
    name = verb.replace("-", "_") + ("_" if keyword.iskeyword(verb) else "")
    module = importlib.import_module(f"gateway.commands.{name}")
    gc.freeze()
    gc.enable()
    command = typer.main.get_command(module.verb)
    with command.make_context(f"gateway {verb}", rest) as context:
        return int(command.invoke(context))


def overview() -> str:
    """``gateway --help``."""
    width = max(map(len, VERBS))
    verbs = [f"  {verb:{width}}  {does}" for verb, does in VERBS.items()]
    return "\n".join(
        [
            "Usage: gateway VERB [OPTIONS]        gateway VERB --help",
            "",
            "  Lets coding agents ask the wikis of many repositories, over MCP.",
            "",
            "Verbs:",
            *verbs,
            "",
            "Options:",
            "  --version  Print the version",
            "",
            "Example:",
            "  gateway demo",
        ]
    )


def _failed(error: BaseException, command: str) -> int:
    """Tell what went wrong, on one line, and return the exit code that says so."""
    match error:
        case typer.Exit(exit_code=code):
            return int(code)
        case SystemExit(code=code):
            return code if isinstance(code, int) else Exit.FAILED
        case KeyboardInterrupt() | typer.Abort():
            return Exit.INTERRUPTED
        case BrokenPipeError():
            _silence_stdout()
            return Exit.PIPE
        case typer.TyperException():
            spoken_to = getattr(getattr(error, "ctx", None), "command_path", command)  # cache export, not cache alone
            _complain(f"{error.format_message().replace('Value error, ', '')} — see {spoken_to} --help")
            return int(error.exit_code)
        case KnowledgeError():
            _complain(error.message)
            code = Exit.USAGE if isinstance(error, InvalidArgument) and error.argument else Exit.FAILED
        case SyncRunning():
            _complain("another sync is running on this cache — try again when it is done")
            code = Exit.LEASED
        case OSError(errno=errno.ENOSPC):
            _silence_stdout()
            _complain("no space left on the device — make room, then run it again")
            code = Exit.FAILED
        case _:
            _complain(f"internal error: {type(error).__name__}: {error} — run it again with -v for the details")
            code = Exit.INTERNAL
    logger.debug("where it went wrong:", exc_info=error)
    return code


def _complain(message: str) -> None:
    print("gateway: " + printable(" ".join(message.split())), file=sys.stderr)


def _silence_stdout() -> None:
    """Nothing more gets through; keep the interpreter from complaining about it when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
