"""Serves the sample registry by our own stack: ``python -m tests.support.sample_server stdio | http``."""

from __future__ import annotations

import gc
import logging
import sys

gc.disable()

import anyio  # noqa: E402

from cache.errors import KnowledgeError  # noqa: E402
from gateway.server import build_server  # noqa: E402
from gateway.transports import serve_http, serve_stdio  # noqa: E402
from tests.support.sample_tools import INSTRUCTIONS, announce, sample_registry  # noqa: E402


async def main(transport: str) -> None:
    server = build_server(sample_registry(), name="sample", version="1.2.3", instructions=INSTRUCTIONS)
    if transport == "stdio":
        await serve_stdio(server)
    else:
        await serve_http(server, "127.0.0.1", 0, on_ready=announce)


gc.freeze()
gc.enable()
if __name__ == "__main__":
    logging.basicConfig(level=logging.DEBUG if "-v" in sys.argv else logging.WARNING)
    try:
        anyio.run(main, sys.argv[1])
    except KnowledgeError as error:
        sys.exit(error.line)
