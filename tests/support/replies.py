"""A forge's answers as the client's own plain data: recorded ones, and made-up ones."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sync.exchange import Response
from tests.fake_gitea.recordings import load

BIG_FILE = 13_600_000  # bytes, of the one body that was too long to keep


def replayed(name: str) -> Response:
    """The recorded answer called ``name``."""
    recorded = load(name)
    body = recorded.raw if recorded.json is None else json.dumps(recorded.json).encode()
    return Response(recorded.status, recorded.headers, bytes(BIG_FILE) if body is None else body)


def reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that holds ``value`` as JSON; names of ``headers`` are in lower case."""
    return Response(status, headers or {}, json.dumps(value).encode())
