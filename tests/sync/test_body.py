"""A response's body as it arrives."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.body import BodyGarbled, BodyTooLarge, BoundedBody


def collected(data: bytes, *, limit: int = 1_000_000, coding: str = "", chunk: int = 7) -> bytes:
    body = BoundedBody(limit, coding)
    for start in range(0, len(data), chunk):
        body.add(data[start : start + chunk])
    return body.finish()


def test_a_plain_body_is_put_together() -> None:
    assert collected(b"some text, longer than a chunk") == b"some text, longer than a chunk"


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", " GZIP "])
def test_a_compressed_body_is_inflated(coding: str) -> None:
    assert collected(gzip.compress(b"text" * 1000), coding=coding) == b"text" * 1000


def test_several_gzip_members_are_one_body() -> None:
    assert collected(gzip.compress(b"one ") + gzip.compress(b"two"), coding="gzip") == b"one two"


def test_a_body_of_exactly_the_limit_is_whole() -> None:
    assert collected(b"x" * 50, limit=50) == b"x" * 50
    assert collected(gzip.compress(b"x" * 50), limit=50, coding="gzip") == b"x" * 50


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_one_byte_more_is_too_large(coding: str) -> None:
    data = b"x" * 51
    with pytest.raises(BodyTooLarge):
        collected(gzip.compress(data) if coding else data, limit=50, coding=coding)


def test_a_small_body_that_inflates_without_end_is_stopped() -> None:
    with pytest.raises(BodyTooLarge):
        collected(gzip.compress(bytes(50_000_000)), limit=1000, coding="gzip", chunk=65536)


def test_compressed_bytes_that_inflate_to_nothing_are_bounded_too() -> None:
    nothing = gzip.compress(b"")
    with pytest.raises(BodyTooLarge):
        collected(nothing * (200_000 // len(nothing)), limit=1000, coding="gzip", chunk=65536)


def test_gzip_that_ends_early_is_not_taken_for_whole() -> None:
    with pytest.raises(BodyGarbled, match="ends early"):
        collected(gzip.compress(b"text" * 1000)[:-3], coding="gzip")


def test_damaged_gzip_is_refused() -> None:
    with pytest.raises(BodyGarbled, match="damaged"):
        collected(b"<html>no gzip</html>", coding="gzip")


def test_an_empty_body_may_say_that_it_is_compressed() -> None:
    assert collected(b"", coding="gzip") == b""


def test_a_coding_that_was_not_asked_for_is_refused() -> None:
    with pytest.raises(BodyGarbled, match="not asked for"):
        BoundedBody(10, "br")


@given(data=st.binary(max_size=300), chunk=st.integers(1, 50), cut=st.integers(0, 40))
def test_any_bytes_are_a_body_or_refused(data: bytes, chunk: int, cut: int) -> None:
    packed = gzip.compress(data)
    for coding, sent in (("gzip", data), ("gzip", packed[: len(packed) - cut]), ("", data)):
        try:
            got = collected(sent, limit=200, coding=coding, chunk=chunk)
        except (BodyGarbled, BodyTooLarge):
            continue
        assert got == (data if sent else b"")
