"""Whether a host is worth asking."""

import math

import pytest

from sync.circuit import HOLDS, Circuit
from sync.exchange import Trouble, Unreachable

REFUSED = Unreachable("git.example.test", Trouble.CONNECT, "connection refused")


def opened(*, at: float = 10.0, slow: bool = False) -> Circuit:
    circuit = Circuit()
    circuit.failed(REFUSED, sent_at=at, now=at, slow=slow)
    return circuit


def test_a_new_circuit_lets_everything_through() -> None:
    circuit = Circuit()
    assert circuit.hold(0.0) == 0.0
    assert circuit.enter() is None


def test_after_a_failure_nothing_goes_for_a_while() -> None:
    circuit = opened(at=10.0)
    assert circuit.hold(10.0) == HOLDS[0]
    assert circuit.hold(10.0 + HOLDS[0]) == 0.0


def test_an_open_circuit_answers_with_the_failure_that_opened_it() -> None:
    failure = opened().failure()
    assert failure.message == "git.example.test unreachable: connection refused"
    assert failure is not REFUSED


def test_a_closed_circuit_has_no_failure() -> None:
    with pytest.raises(ValueError, match="closed"):
        Circuit().failure()


def test_one_probe_goes_out_and_the_others_wait_for_it() -> None:
    circuit = opened(at=10.0)
    assert circuit.enter() is not None
    assert circuit.hold(100.0) == math.inf


def test_a_probe_that_fails_holds_for_longer() -> None:
    circuit = opened(at=10.0)
    circuit.enter()
    circuit.failed(REFUSED, sent_at=11.0, now=11.0, slow=False)
    assert circuit.hold(11.0) == HOLDS[1]


def test_the_hold_has_an_end_however_long_the_host_is_down() -> None:
    circuit = Circuit()
    for at in range(20):
        circuit.failed(REFUSED, sent_at=float(at), now=float(at), slow=False)
    assert circuit.hold(19.0) == HOLDS[-1]


def test_a_failure_that_took_long_skips_the_short_hold() -> None:
    assert opened(at=10.0, slow=True).hold(10.0) == HOLDS[1]


def test_requests_that_failed_together_count_once() -> None:
    circuit = opened(at=10.0)
    for now in (10.1, 10.2, 10.3):
        circuit.failed(REFUSED, sent_at=9.0, now=now, slow=False)
    assert circuit.hold(10.0) == HOLDS[0]


def test_an_outage_begins_with_its_first_failure() -> None:
    circuit = opened(at=10.0)
    circuit.failed(REFUSED, sent_at=20.0, now=20.0, slow=False)
    assert circuit.down_since == 10.0
    circuit.answered()
    assert circuit.down_since < 0


def test_the_first_answer_clears_every_trace() -> None:
    circuit = opened(at=10.0, slow=True)
    circuit.answered()
    assert circuit.hold(10.0) == 0.0
    circuit.failed(REFUSED, sent_at=11.0, now=11.0, slow=False)
    assert circuit.hold(11.0) == HOLDS[0]


def test_a_probe_that_tells_nothing_makes_room_for_the_next() -> None:
    circuit = opened(at=10.0)
    probe = circuit.enter()
    assert probe is not None
    circuit.leave(probe)
    assert circuit.hold(20.0) == 0.0


def test_a_probe_decided_earlier_does_not_end_the_one_under_way() -> None:
    circuit = opened(at=10.0)
    first = circuit.enter()
    assert first is not None
    circuit.failed(REFUSED, sent_at=11.0, now=11.0, slow=False)
    circuit.enter()
    circuit.leave(first)
    assert circuit.hold(30.0) == math.inf
