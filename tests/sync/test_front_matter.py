"""The tags that front matter gives, in the forms in which people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.front_matter import tags


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("tags: [api, Rate limits, v1.2]\n", ("api", "Rate limits", "v1.2")),
        ("tags:\n  - api\n  - 'b, c'\n", ("api", "b, c")),
        ("tags:\n- api\n- b\ntitle: x\n", ("api", "b")),
        ("title: x\r\ntags:\r\n- api\r\n- b\r\n", ("api", "b")),
        ("tags: api, b\n", ("api", "b")),
        ("tags: api\n", ("api",)),
        ("Tags: ['#api', \"b\"] # why\n", ("api", "b")),
        ("tags: [a, a, '', ~, null]\n", ("a",)),
        ("tags: [a, [b], {c: d}]\n", ("a",)),
        ("tags: {a: b}\n", ()),
        ("tags:\n", ()),
        ("tags: [a\ntitle: x\n", ("a",)),
        ("tags:\n- a: [\n- `b`\n", ("a:", "`b`")),
        ("tags: [a]\ntags: [b]\n", ("b",)),
        ("mytags: [a]\nx:\n  tags: [b]\n", ()),
        ("", ()),
    ],
)
def test_they_are_read_as_they_are_meant(yaml: str, expected: tuple[str, ...]) -> None:
    assert tags(yaml) == expected


@given(st.text(alphabet="tags: [],-#'\"{}&*!|>\n\r\tab", max_size=60))
def test_whatever_stands_there_is_read(rest: str) -> None:
    assert all(tag == " ".join(tag.split()) for tag in tags(f"tags:{rest}"))
