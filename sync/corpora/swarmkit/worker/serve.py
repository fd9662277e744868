"""Requests in, answers out; each is worked on in a short-lived process of its own that has limits and no environment.

The engine is imported once, which takes the better part of a second; what checks a workspace is forked from here.
Where processes cannot be forked, one request is answered, and the worker ends.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from . import engines
from .limits import set_limits

IDLE = 600.0  # seconds without a request after which the worker ends
MAX_ANSWER = 16 * 1024 * 1024  # bytes
_CAN_FORK = hasattr(os, "fork")

Request = Mapping[str, Any]
Answer = dict[str, Any]


def main(arguments: Sequence[str]) -> None:
    """Serve until the input ends, nobody asks for long, or what was imported has changed on disk.

    With an argument the schemas alone are asked, whatever is installed."""
    requests, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.chdir(os.sep)
    engine = engines.load(schemas_only=bool(arguments))
    if engine is None:
        _say(answers, {"engine": "", "sources": ""})
        return
    sys.dont_write_bytecode = True
    gc.collect()
    gc.freeze()
    _say(answers, {"engine": engine.name, "sources": engine.sources})
    for line in iter(lambda: _next(requests), b""):
        if not engine.is_current():
            return  # whoever asked starts another one
        request = json.loads(line)
        if not _CAN_FORK:
            _say(answers, _answer(engine.check, request))
            return
        _say(answers, _in_child(engine.check, request))


def _next(requests: BinaryIO) -> bytes:
    """The next line; nothing at the end, and when nobody asks for long."""
    if _CAN_FORK and not select.select([requests], [], [], IDLE)[0]:
        return b""
    return requests.readline()


def _say(answers: BinaryIO, answer: Answer) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _answer(check: Callable[[Request], Answer], request: Request) -> Answer:
    os.environ.clear()  # so that nothing of it can stand in an answer
    try:
        return {"answer": check(request)}
    except MemoryError:
        return {"failed": "memory"}
    except Exception as error:  # whatever it is, it must not end the worker
        return {"failed": type(error).__name__}


def _in_child(check: Callable[[Request], Answer], request: Request) -> Answer:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.close(reading)
            signal.alarm(int(request["seconds"]) + 1)  # should nobody be left to end this process
            set_limits(request["seconds"], request["memory"])
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(json.dumps(_answer(check, request)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    try:
        return _received(reading, time.monotonic() + request["seconds"])
    finally:
        os.close(reading)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _received(pipe: int, deadline: float) -> Answer:
    """What a child writes up to its end, or how it failed."""
    received = bytearray()
    while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(pipe, 1 << 16)
        if not part:
            return json.loads(received) if received else {"failed": "crash"}
        received += part
        if len(received) > MAX_ANSWER:
            return {"failed": "too_large"}
    return {"failed": "time"}
