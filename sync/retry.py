"""Whether and when to send a request again. Pure: the time and the dice are passed in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

ATTEMPTS = 3
TRANSIENT = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
OVERLOAD = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
FIRST_BACKOFF = 0.25  # seconds
LONGEST_BACKOFF = 8.0  # seconds
LONGEST_ASKED = 60.0  # seconds: who asks for more is told so, not waited for

_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds a response asks to wait (RFC 9110, section 10.2.3), ``None`` where it does not or the value is
    neither of the two forms. A date is compared with the response's own ``Date`` where there is one, so that a clock
    that is off does no harm, else with ``now`` (seconds since the UTC epoch)."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if _SECONDS.fullmatch(value):
        return float(value)
    until = http_date(value)
    if until is None:
        return None
    sent = http_date(headers.get("date", ""))
    return max(0.0, until - (now if sent is None else sent))


def backoff(attempt: int, dice: float) -> float:
    """Seconds between the attempt numbered ``attempt`` (from 1) and the next: doubled each time, and spread by
    ``dice`` (0 to 1) over the upper half so that those who failed together do not come back together."""
    full: float = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (attempt - 1))
    return full * (1 + dice) / 2


def wait(attempt: int, *, asked: float | None, remaining: float, dice: float) -> float | None:
    """Seconds before the next attempt, ``None`` if there is to be none.

    ``asked`` is what the response asked for, ``remaining`` the caller's time in seconds."""
    if attempt >= ATTEMPTS or (asked is not None and asked > LONGEST_ASKED):
        return None
    pause = max(asked or 0.0, backoff(attempt, dice))
    return pause if pause < remaining else None


def http_date(text: str) -> float | None:
    """A date as headers have it (RFC 9110, section 5.6.7), in seconds since the UTC epoch, ``None`` for all else."""
    try:
        date = parsedate_to_datetime(text)
        seconds = date.timestamp() if date.tzinfo is not None else math.nan
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None
