"""A registry for tests of what serves tools: small tools that answer, print, fail, wait and hang."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TextIO

import anyio
import anyio.to_thread

from cache.errors import NotFound
from gateway.tools.registry import Listing, NameForm, Registry, Result, Structured, Texts, Tool

ECHO_INPUT: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Any words", "minLength": 1, "maxLength": 2000},
        "limit": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 20},
        "projects": {
            "type": "array",
            "description": "Names",
            "items": {"type": "string", "minLength": 1, "maxLength": 1000},
            "minItems": 1,
            "maxItems": 50,
        },
        "form": {"type": "string", "description": "One of two", "enum": ["short", "long"]},
        "exact": {"type": "boolean", "description": "Yes or no"},
    },
    "required": ["query"],
    "additionalProperties": False,
}
ECHO_OUTPUT: Mapping[str, object] = {
    "type": "object",
    "properties": {"arguments": {"type": "object", "description": "What came in"}},
    "required": ["arguments"],
    "additionalProperties": False,
}
NOTHING: Mapping[str, object] = {"type": "object", "properties": {}, "additionalProperties": False}

INSTRUCTIONS = "Tools for tests."

Run = Callable[[Mapping[str, Any]], Awaitable[Result]]


def tool(name: str, run: Run, *, input_schema: Mapping[str, object] = NOTHING, **more: Any) -> Tool:
    """A tool of text blocks that takes no arguments, unless told otherwise."""
    return Tool(name, name, f"Does {name}.", input_schema, more.pop("output_schema", None), run, **more)


def announce(line: str, stream: TextIO = sys.stdout) -> None:
    """Tell the test that started this process."""
    stream.write(line + "\n")
    stream.flush()


def sample_registry(form: NameForm = NameForm.DOTTED) -> Registry:
    return Registry(
        (
            tool("sample.echo", _echo, input_schema=ECHO_INPUT, output_schema=ECHO_OUTPUT, core=True),
            tool("sample.text", _text, max_result_chars=100_000),
            tool("sample.missing", _missing),
            tool("sample.broken", _broken),
            tool("sample.noise", _noise),
            tool("sample.wait", _wait),
            tool("sample.hang", _hang),
        ),
        Listing(form),
    )


async def _echo(arguments: Mapping[str, Any]) -> Result:
    return Structured({"arguments": dict(arguments)})


async def _text(_: Mapping[str, Any]) -> Result:
    return Texts(("Grüße, 世界 😀\n", '{"chars":12}'))


async def _missing(_: Mapping[str, Any]) -> Result:
    raise NotFound("no such page: x", suggestions=("y",))


async def _broken(_: Mapping[str, Any]) -> Result:
    raise RuntimeError("secret-value in /secret/path")


async def _noise(_: Mapping[str, Any]) -> Result:
    """Writes to standard output in each way there is, and reads standard input."""
    print("stray print")  # noqa: T201
    os.write(1, b"stray bytes\n")
    await anyio.to_thread.run_sync(lambda: subprocess.run(["sh", "-c", "echo stray child; cat"], check=True))
    return Texts(("done",))


async def _wait(_: Mapping[str, Any]) -> Result:
    """Waits until it is cancelled, and says so on standard error."""
    announce("waiting", sys.stderr)
    try:
        await anyio.sleep_forever()
    finally:
        announce("cancelled", sys.stderr)
    raise AssertionError


async def _hang(_: Mapping[str, Any]) -> Result:
    """Blocks a thread that nothing can interrupt."""
    await anyio.to_thread.run_sync(time.sleep, 3600)
    raise AssertionError
