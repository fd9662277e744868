"""Names of tools: one form listed, both accepted, none ambiguous."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.tools.registry import Listing, NameForm, Registry, Result, Texts
from tests.support.registries import check_registry
from tests.support.sample_tools import INSTRUCTIONS, sample_registry, tool


async def nothing(_: Mapping[str, Any]) -> Result:
    return Texts(())


def registry(*names: str, form: NameForm = NameForm.DOTTED) -> Registry:
    return Registry(tuple(tool(name, nothing) for name in names), Listing(form))


@pytest.mark.parametrize(("form", "listed"), [(NameForm.DOTTED, "wiki.ask_all"), (NameForm.UNDERSCORE, "wiki_ask_all")])
def test_names_are_listed_in_one_form(form: NameForm, listed: str) -> None:
    assert [name for name, _ in registry("wiki.ask_all", form=form).listed()] == [listed]


@pytest.mark.parametrize("form", NameForm)
@pytest.mark.parametrize("called", ["wiki.ask_all", "wiki_ask_all"])
def test_a_tool_is_found_in_both_forms_whichever_is_listed(form: NameForm, called: str) -> None:
    found = registry("wiki.search", "wiki.ask_all", form=form).find(called)
    assert found is not None
    assert found.name == "wiki.ask_all"


@pytest.mark.parametrize("called", ["wiki.ask.all", "wiki_ask.all", "Wiki.ask_all", "wiki.ask", ""])
def test_nothing_else_is_found(called: str) -> None:
    assert registry("wiki.ask_all").find(called) is None


def test_a_read_only_listing_shows_no_tool_that_writes() -> None:
    tools = (tool("wiki.read", nothing), tool("wiki.write", nothing, read_only=False))
    assert [name for name, _ in Registry(tools, Listing(read_only=True)).listed()] == ["wiki.read"]
    assert [name for name, _ in Registry(tools).listed()] == ["wiki.read", "wiki.write"]


@pytest.mark.parametrize("names", [("wiki.ask_all", "wiki_ask.all"), ("a.b", "a_b"), ("a.b", "a.b")])
def test_names_that_fold_into_one_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="two tools would share a name"):
        registry(*names)


def test_the_sample_registry_is_what_a_registry_should_be() -> None:
    assert check_registry(sample_registry(), instructions=INSTRUCTIONS) == []


class TestTheCheckOfRegistries:
    @pytest.mark.parametrize(
        ("schema", "problem"),
        [
            ({"type": "object"}, "wiki.x: takes unknown arguments"),
            ({"type": "string", "maxLength": 1, "additionalProperties": False}, "wiki.x: input schema: no object"),
            (
                {"type": "object", "additionalProperties": False, "anyOf": []},
                "wiki.x: input schema: [] should be non-empty",
            ),
            (
                {"type": "object", "additionalProperties": False, "oneOf": [{"type": "object"}]},
                "wiki.x: input: oneOf",
            ),
            (
                {"type": "object", "additionalProperties": False, "required": ["a"]},
                "wiki.x: input: requires a, which it does not describe",
            ),
        ],
    )
    def test_names_what_is_wrong_with_a_schema(self, schema: Mapping[str, object], problem: str) -> None:
        assert check_registry(Registry((tool("wiki.x", nothing, input_schema=schema),))) == [problem]

    @pytest.mark.parametrize(
        ("argument", "problem"),
        [
            ({"type": "integer"}, "a: no description"),
            ({"type": ["integer", "null"], "description": "x"}, "input.a: its type is not one plain type"),
            ({"type": "string", "description": "x"}, "input.a: a string without maxLength"),
            (
                {"type": "array", "items": {"type": "integer"}, "description": "x"},
                "input.a: an array without maxItems",
            ),
            (
                {"type": "integer", "maximum": 5, "default": 6, "description": "x"},
                "input.a: a default that it does not allow",
            ),
        ],
    )
    def test_names_what_is_wrong_with_an_argument(self, argument: Mapping[str, object], problem: str) -> None:
        schema = {"type": "object", "properties": {"a": argument}, "additionalProperties": False}
        assert check_registry(Registry((tool("wiki.x", nothing, input_schema=schema),))) == [f"wiki.x: {problem}"]

    def test_names_what_is_wrong_with_a_tool(self) -> None:
        bad = tool("wiki.x", nothing, destructive=True, max_result_chars=500_001)
        assert check_registry(Registry((bad,)), instructions="x" * 2001) == [
            "instructions have more than 2000 characters",
            "wiki.x: read-only and destructive",
            "wiki.x: max_result_chars is not between 1 and 500000",
        ]
