"""What error codes mean, from the best source that knows them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from cache.errors import NotFound
from cache.search.sections import Section
from sync.corpora.swarmkit.error_reference import Lookup, Reference, Sources, listed
from sync.corpora.swarmkit.layout import is_source
from tests.support.swarmkit_repo import write

NOW = 4_000_000_000.0


def sources(root: Path) -> Sources:
    return Sources(root, "packages", is_source, lambda: NOW)


class TestSources:
    def test_every_code_of_the_packages_is_there_and_none_of_their_tests(self, repo: Path) -> None:
        assert sorted(sources(repo).references()) == [
            "agent.bad-role",
            "agent.depends-on-cycle",
            "agent.unknown-skill",
            "schema.length",
            "schema.other",
            "schema.required-field",
            "workspace.deep-nesting",
        ]

    def test_each_has_a_description_and_a_fix(self, repo: Path) -> None:
        assert all(one.description and one.fix for one in sources(repo).references().values())

    def test_several_places_are_told_together(self, repo: Path) -> None:
        found = sources(repo).references()["agent.unknown-skill"]
        assert found.description == (
            "The agent {agent.id} wants {agent.skill}, which is nowhere. — or: The agent wants a skill without a name."
        )
        assert found.fix == "Have a skill called {agent.skill}, or take it out."
        assert found.sources == (
            "packages/runtime/src/kit/resolver.py:28",
            "packages/runtime/src/kit/resolver.py:35",
        )

    def test_an_exceptions_words_come_from_its_class(self, repo: Path) -> None:
        found = sources(repo).references()
        assert found["workspace.deep-nesting"].description == "The file {path} lies too deep."
        assert found["agent.bad-role"].description == "Nothing was said."

    def test_they_are_read_again_where_they_change(self, tmp_path: Path) -> None:
        file = tmp_path / "packages/a/x.py"
        write(file, 'ResolutionError(code="a.b", message="old")')
        known = sources(tmp_path)
        assert known.references()["a.b"].description == "old"
        write(file, 'ResolutionError(code="a.b", message="newer")')
        assert known.references()["a.b"].description == "newer"
        file.unlink()
        assert known.references() == {}


def reference(code: str, said: str) -> Reference:
    return Reference(code, said, "fix", (f"{said}.py:1",))


def lookup(*groups: Mapping[str, Reference], text: str = "") -> Lookup:
    section = Section("docs/notes/errors.md", "Errors", "", text)
    return Lookup([partial(dict, group) for group in groups], lambda word: [section] if word in text else [])


class TestLookup:
    def test_the_first_source_that_knows_a_code_counts(self) -> None:
        known = lookup({"a.b": reference("a.b", "first")}, {"a.b": reference("a.b", "second")})
        assert known.find("a.b").description == "first"

    def test_a_later_one_is_asked_only_if_needed(self) -> None:
        def never() -> Mapping[str, Reference]:
            raise AssertionError

        known = Lookup([lambda: {"a.b": reference("a.b", "first")}, never], lambda _: [])
        assert known.find("a.b").description == "first"

    @pytest.mark.parametrize("code", ["A.B", " a.b ", "`a.b`", '"a.b"'])
    def test_slips_are_forgiven(self, code: str) -> None:
        assert lookup({"a.b": reference("a.b", "first")}).find(code).code == "a.b"

    def test_documents_that_name_it_are_among_the_sources(self) -> None:
        known = lookup({"a.b": reference("a.b", "first")}, text="see `a.b`")
        assert known.find("a.b").sources == ("first.py:1", "docs/notes/errors.md")

    def test_without_sources_the_list_of_codes_tells_what_their_parts_do(self) -> None:
        found = lookup().find("agent.unknown-skill")
        assert found.description.startswith("The agent refers to something")
        assert found.sources[0].startswith("swarmkit-runtime ")

    def test_a_document_alone_tells_what_stands_beside_the_code(self) -> None:
        found = lookup(text="# x\n| `agent.only-here` | Told by the page |\n").find("agent.only-here")
        assert (found.description, found.sources) == ("Told by the page", ("docs/notes/errors.md",))
        assert found.fix

    @pytest.mark.parametrize("word", ["workspace.yaml", "nothing.known"])
    def test_not_every_word_of_a_document_is_a_code(self, word: str) -> None:
        with pytest.raises(NotFound):
            lookup(text=f"see `{word}`").find(word)

    def test_a_miss_names_near_codes(self) -> None:
        with pytest.raises(NotFound) as caught:
            lookup().find("agent.unknown-skil")
        assert caught.value.suggestions[0] == "agent.unknown-skill"
        assert caught.value.line.startswith("not_found: no such error code: agent.unknown-skil (did you mean ")


def test_the_list_of_codes_holds_codes_and_nothing_else() -> None:
    assert len(listed()) > 55
    assert all(code == code.strip() and "." in code and " " not in code for code in listed())
