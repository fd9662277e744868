"""Setting one member in a JSON text that may have comments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.jsonc import Malformed, parse, put

PATH = ("servers", "knowledge")

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["servers", "knowledge", "other", '"', "// no comment", "a,}"])
documents = st.dictionaries(names, values | st.dictionaries(names, values, max_size=3), max_size=4)


def test_a_member_is_added_after_the_last_one() -> None:
    assert put('{\n    "a": 1\n}\n', ["b"], 2) == '{\n    "a": 1,\n    "b": 2\n}\n'


def test_a_value_is_replaced_where_it_stands() -> None:
    assert put('{"a": 1, "b": [2, 3], "c": 4}', ["b"], 5) == '{"a": 1, "b": 5, "c": 4}'


def test_missing_objects_on_the_way_are_made() -> None:
    assert put("{}\n", PATH, 1) == '{\n  "servers": {\n    "knowledge": 1\n  }\n}\n'


def test_the_indent_and_line_ends_are_those_of_the_file() -> None:
    assert put('{\r\n\t"a": 1\r\n}\r\n', ["b"], [2]) == '{\r\n\t"a": 1,\r\n\t"b": [\r\n\t\t2\r\n\t]\r\n}\r\n'


def test_comments_stay() -> None:
    text = '{\n  // first\n  "servers": {\n    "a": {} // after, with a comma\n    /* last */\n  }\n}\n'
    after = put(text, PATH, 1)
    assert after == text.replace('"a": {} //', '"a": {}, //').replace("/* last */", '/* last */\n    "knowledge": 1')


def test_a_trailing_comma_serves_the_new_member() -> None:
    assert put('{\n  "a": 1, // one\n}', ["b"], 2) == '{\n  "a": 1, // one\n  "b": 2\n}'


def test_a_comment_alone_in_an_object_stays() -> None:
    assert put("{ // nothing yet\n}", ["a"], 1) == '{ // nothing yet\n  "a": 1\n}'


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    text = '{"url": "https://example.test/a//b", "glob": "/* x", "list": ["a,]"]}'
    assert json.loads(put(text, ["b"], 2)) == {**json.loads(text), "b": 2}


def test_the_last_of_two_members_of_one_name_counts() -> None:
    assert json.loads(put('{"a": 1, "a": 2}', ["a"], 3)) == {"a": 3}


@pytest.mark.parametrize("text", ['{"servers": []}', '{"servers": null}'])
def test_something_else_in_the_way_is_left_alone(text: str) -> None:
    with pytest.raises(Malformed, match="servers is not an object"):
        put(text, PATH, 1)


@pytest.mark.parametrize("text", ["{", "[]", "nonsense", '{"a": 1,}', "{} // c", '{"a" /* b */: 1}'])
def test_strict_text_has_no_comments(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text, comments=False)


@pytest.mark.parametrize("text", ["{ /* open", "[" * 100_000])
def test_broken_text_is_told(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text, comments=True)


@given(documents, values, st.sampled_from([None, 1, "\t"]))
def test_only_the_named_member_changes(document: dict[str, object], value: object, indent: int | str | None) -> None:
    text = json.dumps(document, indent=indent)
    servers = document.get("servers", {})
    if isinstance(servers, dict):
        assert json.loads(put(text, PATH, value)) == {**document, "servers": {**servers, "knowledge": value}}


@given(documents, values)
def test_comments_everywhere_stay(document: dict[str, object], value: object) -> None:
    text = json.dumps(document, indent=1).replace("\n", " // c, }\n /* d */ ")
    servers = document.get("servers", {})
    if isinstance(servers, dict) and "knowledge" not in servers:
        after = put(text, PATH, value)
        assert parse(after, comments=True) == {**document, "servers": {**servers, "knowledge": value}}
        assert after.count("// c, }") == text.count("// c, }")
