"""How many requests a host is sent at once."""

from hypothesis import given
from hypothesis import strategies as st

from sync.limiter import AdaptiveLimit


def test_all_slots_are_open_at_first() -> None:
    assert AdaptiveLimit.of(8).slots == 8


def test_an_overload_halves_the_limit() -> None:
    assert AdaptiveLimit.of(8).overloaded(sent_at=0.0, now=1.0).slots == 4


def test_requests_that_were_under_way_together_count_as_one_overload() -> None:
    limit = AdaptiveLimit.of(8)
    for now in (1.0, 1.1, 1.2, 1.3):
        limit = limit.overloaded(sent_at=0.5, now=now)
    assert limit.slots == 4


def test_an_overload_after_the_decrease_halves_again() -> None:
    limit = AdaptiveLimit.of(8).overloaded(sent_at=0.0, now=1.0).overloaded(sent_at=1.5, now=2.0)
    assert limit.slots == 2


def test_one_request_is_always_let_through() -> None:
    limit = AdaptiveLimit.of(2)
    for now in range(10):
        limit = limit.overloaded(sent_at=float(now), now=float(now))
    assert limit.slots == 1


def test_answers_raise_the_limit_slowly() -> None:
    limit = AdaptiveLimit.of(8).overloaded(sent_at=0.0, now=1.0)
    for _ in range(9):
        limit = limit.answered()
    assert limit.slots == 4
    for _ in range(2):
        limit = limit.answered()
    assert limit.slots == 5


@given(most=st.integers(1, 64), overloads=st.lists(st.booleans()))
def test_the_limit_stays_between_one_and_the_most(most: int, overloads: list[bool]) -> None:
    limit = AdaptiveLimit.of(most)
    for now, overload in enumerate(overloads):
        limit = limit.overloaded(sent_at=float(now), now=float(now)) if overload else limit.answered()
        assert 1 <= limit.slots <= most
