"""The recorded exchanges of a real Gitea."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parents[1] / "recordings" / "gitea"
DESCRIPTION: Final = FOLDER / "swagger.json"


@dataclass(frozen=True)
class Recording:
    """One exchange.

    ``caller`` is whose token was sent (``None``: none was). Of ``sent`` and ``json``, the two bodies in JSON, each is
    ``None`` where there was none. ``raw`` is an answer that is not JSON, ``None`` too where it was too long to keep.
    """

    name: str
    method: str
    target: str
    caller: str | None
    sent_headers: Mapping[str, str]
    sent: Any
    status: int
    headers: Mapping[str, str]
    json: Any
    raw: bytes | None


def recording_names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.json") if file != DESCRIPTION)


@cache
def load(name: str) -> Recording:
    """A recorded request and its answer."""
    data = json.loads((FOLDER / f"{name}.json").read_bytes())
    request, response = data["request"], data["response"]
    raw = response["text"].encode() if "text" in response else None
    if "base64" in response:
        raw = base64.b64decode(response["base64"])
    return Recording(
        name=name,
        method=request["method"],
        target=request["path"],
        caller=request["as"],
        sent_headers=request["headers"],
        sent=request["json"],
        status=response["status"],
        headers=response["headers"],
        json=response.get("json"),
        raw=raw,
    )


def exchanges() -> Iterator[Recording]:
    """Every recording that is a request and its answer (one is a delivery by the forge)."""
    for name in recording_names():
        if "request" in json.loads((FOLDER / f"{name}.json").read_bytes()):
            yield load(name)
