"""Whether and when to send a request again."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.retry import ATTEMPTS, FIRST_BACKOFF, LONGEST_ASKED, LONGEST_BACKOFF, backoff, retry_after, wait

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("17", 17.0),
        (" 17 ", 17.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tuesday, 14-Nov-23 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0),
    ],
)
def test_both_forms_of_retry_after_are_read(value: str, seconds: float) -> None:
    assert retry_after({"retry-after": value}, NOW) == seconds


@pytest.mark.parametrize(
    "value", ["", "soon", "-5", "1.5", "1e3", "٣", "Tue, 99 Nov 2023 22:13:50 GMT", "9" * 40, "Tue, 14 Nov 99999999"]
)
def test_what_is_neither_form_asks_for_nothing(value: str) -> None:
    assert retry_after({"retry-after": value}, NOW) is None


def test_no_header_asks_for_nothing() -> None:
    assert retry_after({}, NOW) is None


def test_a_date_counts_from_the_servers_own_clock() -> None:
    headers = {"retry-after": "Tue, 14 Nov 2023 10:00:30 GMT", "date": "Tue, 14 Nov 2023 10:00:00 GMT"}
    assert retry_after(headers, NOW) == 30.0


@given(st.text())
def test_any_value_is_no_seconds_or_some(value: str) -> None:
    seconds = retry_after({"retry-after": value, "date": value}, NOW)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))


def test_the_backoff_doubles_up_to_its_end() -> None:
    assert [backoff(attempt, 1.0) for attempt in (1, 2, 3)] == [FIRST_BACKOFF, 2 * FIRST_BACKOFF, 4 * FIRST_BACKOFF]
    assert backoff(50, 1.0) == LONGEST_BACKOFF


def test_the_dice_spread_it_over_the_upper_half() -> None:
    assert backoff(1, 0.0) == FIRST_BACKOFF / 2


def test_the_last_attempt_is_the_last() -> None:
    assert wait(ATTEMPTS, asked=None, remaining=math.inf, dice=0.5) is None


def test_what_the_server_asks_for_is_kept() -> None:
    assert wait(1, asked=5.0, remaining=math.inf, dice=0.5) == 5.0


def test_a_server_that_asks_for_nothing_gets_the_backoff_all_the_same() -> None:
    assert wait(1, asked=0.0, remaining=math.inf, dice=1.0) == FIRST_BACKOFF


def test_who_asks_for_too_long_is_not_waited_for() -> None:
    assert wait(1, asked=LONGEST_ASKED + 1, remaining=math.inf, dice=0.5) is None


def test_nothing_is_tried_past_the_callers_deadline() -> None:
    assert wait(1, asked=5.0, remaining=4.0, dice=0.5) is None
