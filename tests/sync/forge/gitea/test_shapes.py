"""JSON from somebody else."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.forge.gitea import shapes
from sync.forge.gitea.shapes import Malformed


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000, b'{"a": 1} x', '"ü"'.encode("utf-16")], ids=range(7)
)
def test_what_is_no_json_in_utf_8_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed, match="damaged JSON"):
        shapes.parse(body)


def test_html_is_called_by_its_name() -> None:
    with pytest.raises(Malformed, match="HTML"):
        shapes.parse(b"\n <!doctype html>")


def test_the_last_of_two_equal_keys_counts() -> None:
    assert shapes.parse(b'{"a": 1, "a": 2}') == {"a": 2}


@given(st.binary())
def test_any_bytes_are_json_or_malformed(body: bytes) -> None:
    with suppress(Malformed):
        json.dumps(shapes.parse(body))


@pytest.mark.parametrize("value", [1, [], {}, True, "\ud800"])
def test_a_string_is_checked(value: object) -> None:
    with pytest.raises(Malformed, match="no name"):
        shapes.text({"name": value}, "name", "default")


@pytest.mark.parametrize("value", [-1, 2**63, 1.0, True, "1", []])
def test_a_number_is_checked(value: object) -> None:
    with pytest.raises(Malformed, match="no id"):
        shapes.count({"id": value}, "id", 0)


@pytest.mark.parametrize("value", [0, 1, "true", []])
def test_a_truth_value_is_checked(value: object) -> None:
    with pytest.raises(Malformed, match="no empty"):
        shapes.flag({"empty": value}, "empty")


@pytest.mark.parametrize("value", ["", "abc", "G" * 40, "A" * 40, "a" * 41, None])
def test_an_object_name_is_checked(value: object) -> None:
    with pytest.raises(Malformed, match="no sha"):
        shapes.sha({"sha": value})


@pytest.mark.parametrize("length", [40, 64])
def test_both_kinds_of_object_names_are_taken(length: int) -> None:
    assert shapes.sha({"sha": "a" * length}) == "a" * length


def test_what_may_be_missing_has_a_default() -> None:
    assert shapes.text({}, "name", "x") == "x"
    assert shapes.count({"size": None}, "size", 0) == 0
    assert shapes.flag({}, "empty") is False
    assert shapes.a_list(None) == ()
