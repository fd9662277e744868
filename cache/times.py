"""Times as people and clients read them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp(seconds: float | None) -> str | None:
    """Seconds since the UTC epoch as RFC 3339 with whole seconds (section 5.6); ``None`` for ``None``, and for what no
    calendar knows: a commit may claim any time."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None
