"""Cursors, opaque to whoever is given one."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache import cursor as cursors
from cache.errors import InvalidArgument


@given(st.lists(st.text(st.characters(codec="utf-8")) | st.integers()))
def test_what_is_encoded_is_decoded(place: list[str | int]) -> None:
    assert cursors.decode(cursors.encode(*place)) == place


@given(st.text())
def test_anything_else_decodes_to_something_or_is_refused(cursor: str) -> None:
    with suppress(InvalidArgument):
        cursors.decode(cursor)


@pytest.mark.parametrize("cursor", ["%%%", "é", "WzEs", "====", "WzFd\n", "W" * 5])
def test_a_foreign_one_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="cursor is none of ours — leave it out to start again"):
        cursors.decode(cursor)
