"""Cursors: places in a list, opaque to whoever is given one and gives it back. Pure."""

from __future__ import annotations

import base64
import binascii
import json

from cache.errors import InvalidArgument


def encode(*place: str | int) -> str:
    """``place`` as letters, digits, ``-`` and ``_``."""
    return base64.urlsafe_b64encode(json.dumps(place, ensure_ascii=False).encode()).decode().rstrip("=")


def decode(cursor: str) -> object:
    """What :func:`encode` wrote down, or whatever else somebody encoded so: the caller looks at its shape.

    Raises ``InvalidArgument`` (see :func:`foreign`)."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        decoded: object = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError, binascii.Error):
        raise foreign() from None
    return decoded


def foreign() -> InvalidArgument:
    """The error for a cursor that the list did not give."""
    return InvalidArgument("cursor is none of ours — leave it out to start again", argument="cursor")
