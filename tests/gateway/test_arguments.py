"""What a client sends: accepted, made plain, or refused on one line that says what is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import InvalidArgument
from gateway.tools.arguments import Arguments
from tests.support.sample_tools import ECHO_INPUT, NOTHING

ECHO = Arguments(ECHO_INPUT)


def refusal(raw: Mapping[str, Any], accepted: Arguments = ECHO) -> str:
    with pytest.raises(InvalidArgument) as caught:
        accepted.check(raw)
    return caught.value.line


def described(**properties: object) -> Arguments:
    return Arguments({"type": "object", "properties": properties, "additionalProperties": False})


class TestAccepted:
    def test_arguments_that_fit_come_through_unchanged(self) -> None:
        raw = {"query": "yarn", "limit": 20, "projects": ["a/b"], "form": "long", "exact": False}
        assert ECHO.check(raw) == raw

    def test_null_for_an_optional_argument_means_left_out(self) -> None:
        assert ECHO.check({"query": "yarn", "limit": None, "projects": None}) == {"query": "yarn"}

    def test_an_integral_float_is_an_integer(self) -> None:
        limit = ECHO.check({"query": "yarn", "limit": 7.0})["limit"]
        assert (limit, type(limit)) == (7, int)

    def test_integral_floats_in_arrays_and_objects_become_integers_too(self) -> None:
        integer = {"type": "integer"}
        nested = described(
            many={"type": "array", "items": integer}, one={"type": "object", "properties": {"x": integer}}
        )
        assert json.dumps(nested.check({"many": [1.0], "one": {"x": 2.0}})) == '{"many": [1], "one": {"x": 2}}'

    def test_a_number_keeps_its_fraction(self) -> None:
        assert described(share={"type": "number"}).check({"share": 7.0}) == {"share": 7.0}

    def test_the_longest_string_passes_whatever_its_characters_weigh(self) -> None:
        longest = "😀" * 2000
        assert ECHO.check({"query": longest}) == {"query": longest}


class TestRefused:
    @pytest.mark.parametrize(
        ("raw", "line"),
        [
            ({}, "query is required"),
            ({"query": None}, "query is required"),
            ({"query": 7}, "query must be a string, not a number"),
            ({"query": True}, "query must be a string, not a boolean"),
            ({"query": ["a"]}, "query must be a string, not an array"),
            ({"query": {"a": 1}}, "query must be a string, not an object"),
            ({"query": ""}, "query must not be empty"),
            ({"query": "a" * 2001}, "query must have at most 2000 characters"),
            ({"query": "a", "limit": 21}, "limit must be at most 20"),
            ({"query": "a", "limit": 0}, "limit must be at least 1"),
            ({"query": "a", "limit": "7"}, "limit must be an integer, not a string"),
            ({"query": "a", "limit": 7.5}, "limit must be an integer, not a fraction"),
            ({"query": "a", "limit": True}, "limit must be an integer, not a boolean"),
            ({"query": "a", "limit": float("inf")}, "limit must be an integer, not a fraction"),
            ({"query": "a", "limit": 1e300}, "limit must be at most 20"),
            ({"query": "a", "projects": []}, "projects must not be empty"),
            ({"query": "a", "projects": ["a"] * 51}, "projects must have at most 50 items"),
            ({"query": "a", "projects": ["a", 1]}, "projects[1] must be a string, not a number"),
            ({"query": "a", "projects": ["a", None]}, "projects[1] must be a string, not null"),
            ({"query": "a", "projects": ["a", ""]}, "projects[1] must not be empty"),
            ({"query": "a", "projects": "a/b"}, "projects must be an array, not a string"),
            ({"query": "a", "form": "wide"}, "form must be one of: short, long"),
            ({"query": "a", "exact": 1}, "exact must be true or false, not a number"),
            ({"query": "a\0b"}, "query must not contain NUL characters"),
            ({"query": "a\ud800b"}, "query must not contain lone surrogates"),
            ({"query": "a", "projects": ["a/b", "\udfff"]}, "projects must not contain lone surrogates"),
        ],
    )
    def test_each_mistake_is_named_with_what_is_allowed(self, raw: Mapping[str, Any], line: str) -> None:
        assert refusal(raw) == f"invalid_argument: {line}"

    def test_too_many_items_are_not_looked_at(self) -> None:
        assert refusal({"query": "a", "projects": [7] * 51}) == "invalid_argument: projects must have at most 50 items"

    def test_a_number_must_be_finite(self) -> None:
        share = described(share={"type": "number"})
        assert refusal({"share": float("nan")}, share) == "invalid_argument: share must be a finite number"

    def test_the_error_knows_the_argument(self) -> None:
        with pytest.raises(InvalidArgument) as caught:
            ECHO.check({"query": "a", "projects": ["a", 1]})
        assert caught.value.argument == "projects"

    def test_a_text_that_names_no_file_is_an_invalid_path(self) -> None:
        schema = {"type": "string", "minLength": 1, "maxLength": 5}
        accepted = Arguments(
            {"type": "object", "properties": {"path": schema, "word": schema}, "required": ["path"]},
            frozenset({"path"}),
        )
        for path in ("", "a\0b", "a\ud800b", "a" * 6):
            assert refusal({"path": path}, accepted).startswith("invalid_path: path must")
        for raw in ({}, {"path": 7}, {"path": "x", "word": ""}, {"path": "x", "word": "\0"}):
            assert refusal(raw, accepted).startswith("invalid_argument: ")

    def test_what_is_nested_deeper_than_it_can_be_shown_is_refused(self) -> None:
        deep: list[object] = []
        for _ in range(100_000):
            deep = [deep]
        assert refusal({"query": deep}) == "invalid_argument: the arguments are nested too deeply"

    def test_other_bounds_have_words_too(self) -> None:
        odd = described(
            code={"type": "string", "pattern": "^[A-Z]+$"},
            part={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            pair={"type": "array", "minItems": 2},
            box={"type": "object", "properties": {"x": {}}, "required": ["x"], "additionalProperties": False},
        )
        assert refusal({"code": "a"}, odd) == "invalid_argument: code must match ^[A-Z]+$"
        assert refusal({"part": 0}, odd) == "invalid_argument: part must be above 0"
        assert refusal({"part": 1}, odd) == "invalid_argument: part must be below 1"
        assert refusal({"pair": [1]}, odd) == "invalid_argument: pair must have at least 2 items"
        assert refusal({"box": {}}, odd) == "invalid_argument: box must have x"
        assert refusal({"box": {"x": 1, "y": 2}}, odd) == "invalid_argument: box has a key that is not allowed"


class TestUnknown:
    def test_a_near_name_is_suggested(self) -> None:
        assert refusal({"querry": "a"}) == "invalid_argument: unknown argument 'querry' (did you mean 'query'?)"

    def test_without_a_near_name_all_are_told(self) -> None:
        allowed = "query, limit, projects, form, exact"
        assert refusal({"query": "a", "foo": 1}) == f"invalid_argument: unknown argument 'foo' (allowed: {allowed})"

    def test_null_does_not_make_it_known(self) -> None:
        assert refusal({"query": "a", "foo": None}).startswith("invalid_argument: unknown argument 'foo'")

    def test_a_tool_without_arguments_says_so(self) -> None:
        line = refusal({"foo": 1}, Arguments(NOTHING))
        assert line == "invalid_argument: unknown argument 'foo' (this tool takes no arguments)"

    def test_its_name_is_repeated_shortly_and_printably(self) -> None:
        line = refusal({"\x1b[31m\n\ud800" + "x" * 1_000_000: 1})
        assert line.startswith("invalid_argument: unknown argument '\ufffd[31m\ufffd\ufffdxxx")
        assert len(line) < 150


@given(
    st.dictionaries(
        st.sampled_from([*"query limit projects form exact other".split()]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
    )
)
def test_whatever_comes_is_accepted_or_refused_on_one_printable_line(raw: dict[str, Any]) -> None:
    try:
        accepted = ECHO.check(raw)
    except InvalidArgument as error:
        line = error.line
        assert line.isprintable()
        assert len(line) < 200
    else:
        json.dumps(accepted, allow_nan=False, ensure_ascii=False).encode()
        assert None not in accepted.values()
