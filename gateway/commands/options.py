"""What every verb has: its place on the command line, its common options and its log."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from cache.errors import NotUtf8, TooLarge
from gateway.wording import printable_lines

ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Read this auth.toml.", show_default=False)
]
RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="The engineering knowledge base; else [engineering] root.",
        exists=True,
        file_okay=False,
        show_default=False,
    ),
]
QueryArgument = Annotated[str, typer.Argument(help="What to look for, in a few words.", show_default=False)]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Tell more, on stderr.", show_default=False)]


_HELP: Final = {"help_option_names": ["-h", "--help"]}
ONE_QUESTION: Final = {**_HELP, "allow_extra_args": True}  # a verb's context, for :func:`refuse_more_words`


def refuse_more_words(context: typer.Context, remedy: str = "put a question of several words in quotes") -> None:
    """Say what words beyond the question lack. None is taken for more of it: it may be a project without ``-p``."""
    if context.args:
        raise typer.BadParameter(remedy, context)


def read_text(file: Path, limit: int) -> str:
    """The text of a file, or for ``-`` of stdin. Raises ``TooLarge`` above ``limit`` bytes, and ``NotUtf8``."""
    is_stdin = str(file) == "-"
    name = "stdin" if is_stdin else str(file)
    with sys.stdin.buffer if is_stdin else file.open("rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise TooLarge(name, limit)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise NotUtf8(name) from None


def new_verb(help: str | None = None) -> typer.Typer:  # noqa: A002 the library's word
    """What a verb's module adds its command, or its group's commands, to."""
    return typer.Typer(
        help=help,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_HELP,
    )


class _Printable(logging.Formatter):
    """Names and texts of other people stand in messages, and in the errors of tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(super().format(record))


def log_to_stderr(*, verbose: bool) -> None:
    """Send the log to stderr, its only place: stdout belongs to answers and to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Printable("gateway: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for ours in ("gateway", "sync", "cache"):
        logging.getLogger(ours).setLevel(logging.DEBUG if verbose else logging.NOTSET)


def example(*lines: str) -> str:
    """The end of a verb's help. The mark at the start keeps the lines as they are."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)
