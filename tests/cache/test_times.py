"""Times as they are shown."""

from __future__ import annotations

import pytest

from cache.times import timestamp


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "1970-01-01T00:00:00Z"),
        (1_700_000_000.9, "2023-11-14T22:13:20Z"),
        (-1.0, "1969-12-31T23:59:59Z"),
        (-62_135_596_800.0, "0001-01-01T00:00:00Z"),
        (253_402_300_799.0, "9999-12-31T23:59:59Z"),
    ],
)
def test_are_rfc_3339(seconds: float, shown: str) -> None:
    assert timestamp(seconds) == shown


@pytest.mark.parametrize(
    "seconds", [None, 253_402_300_800.0, 999_999_999_999.0, -1e12, 1e20, 1e300, float("inf"), float("nan")]
)
def test_that_no_calendar_has_are_not_shown(seconds: float | None) -> None:
    assert timestamp(seconds) is None
