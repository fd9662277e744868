"""One file of a checkout: what it says of itself, and its sections."""

from __future__ import annotations

import json

import pytest

from sync.corpora.swarmkit.layout import Kind
from sync.corpora.swarmkit.reading import Note, read

PATH = "design/details/a-note.md"


def note(text: str) -> Note:
    found = read(PATH, Kind.NOTE, text.encode()).note
    assert found is not None
    return found


class TestNotes:
    @pytest.mark.parametrize(
        ("text", "title"),
        [
            ("---\ntitle: Front\n---\n# Head\n", "Front"),
            ("---\nTitle: 'Front'\n---\n", "Front"),
            ("---\nstatus: x\n---\n# Head of `it`\n", "Head of it"),
            ("---\ntitle: A: b\ntags: [x\n---\n# Head\n", "A: b"),
            ("text only\n", "a-note"),
            ("```\n# no\n```\n", "a-note"),
        ],
    )
    def test_the_title_is_the_front_matters_or_the_first_heading_or_the_name(self, text: str, title: str) -> None:
        assert note(text).title == title

    @pytest.mark.parametrize(
        "tags",
        [
            "tags:\n  - one\n  - Two Words",
            "tags: [one, Two Words]",
            "tags: one, Two Words",
            "Tags: 'one, Two Words'",
            "tags: ['#one', \"Two Words\"]",
            "tags: [one, Two Words\nx: `y`",
        ],
    )
    def test_tags_are_read_in_every_spelling(self, tags: str) -> None:
        assert note(f"---\n{tags}\n---\n").tags == ("one", "Two Words")

    def test_a_body_may_say_tags_and_status(self) -> None:
        found = note("# A\n\n**Status:** agreed\n**Tags:** one, Two Words\n")
        assert (found.status, found.tags) == ("agreed", ("one", "Two Words"))

    def test_without_anything_there_is_still_a_note(self) -> None:
        assert note("") == Note("a-note", "a-note", "", (), "", PATH)

    def test_bytes_that_are_no_text_hide_nothing(self) -> None:
        content = read(PATH, Kind.NOTE, b"# A\n\xff word\n")
        assert content.sections[0].text.strip() == "\N{REPLACEMENT CHARACTER} word"


class TestMarkdown:
    def test_it_is_found_by_sections_with_its_title_in_the_first(self) -> None:
        sections = read("README.md", Kind.MARKDOWN, b"---\ntags: [t]\n---\n\n# A\none\n## B\ntwo\n").sections
        assert [(one.title, one.heading, one.text.strip(), one.tags, one.first) for one in sections] == [
            ("A", "A", "one", ("t",), True),
            ("A", "B", "two", ("t",), False),
        ]

    def test_what_stands_before_the_first_heading_is_a_section(self) -> None:
        sections = read("llms.txt", Kind.MARKDOWN, b"intro\n# A\n").sections
        assert [(one.heading, one.text.strip()) for one in sections] == [("", "intro"), ("A", "")]

    def test_an_empty_one_is_found_by_its_name(self) -> None:
        (section,) = read("docs/notes/x.md", Kind.MARKDOWN, b"").sections
        assert (section.title, section.first) == ("x", True)


class TestSchemas:
    PATH = "packages/schema/schemas/protocol/credential.schema.json"

    def test_each_property_and_definition_is_a_section_and_so_is_each_other_key(self) -> None:
        schema = {
            "$id": "urn:x",
            "title": "Credential",
            "required": ["a"],
            "properties": {"a": {"type": "string"}},
            "$defs": {"b": {"enum": ["c"]}},
        }
        sections = read(self.PATH, Kind.SCHEMA, json.dumps(schema).encode()).sections
        assert [(one.heading, one.first) for one in sections] == [
            ("protocol/credential", True),
            ("required", False),
            ("properties.a", False),
            ("$defs.b", False),
        ]
        assert {one.title for one in sections} == {"Credential"}
        assert '"enum"' in sections[-1].text

    @pytest.mark.parametrize("data", [b"{", b"[1]", b"\xff", b"[" * 100_000])
    def test_one_that_is_none_is_found_by_its_name(self, data: bytes) -> None:
        (section,) = read(self.PATH, Kind.SCHEMA, data).sections
        assert section.heading == "protocol/credential"


class TestSkills:
    PATH = "reference/skills/a.yaml"

    def test_what_is_told_of_one(self) -> None:
        data = (
            b"metadata: {id: a-b, name: A, description: 'Does\n  it.'}\ncategory: capability\n"
            b"implementation: {type: mcp_tool, server: s, tool: t}\n"
        )
        skill = read(self.PATH, Kind.SKILL, data).skill
        assert skill is not None
        assert (skill.id, skill.name, skill.description, skill.category, skill.server, skill.tool, skill.error) == (
            "a-b", "A", "Does it.", "capability", "s", "t", None,
        )  # fmt: skip

    def test_one_may_have_neither_server_nor_tool(self) -> None:
        skill = read(self.PATH, Kind.SKILL, b"metadata: {id: a}\nimplementation: {type: llm_prompt, prompt: p}\n").skill
        assert skill is not None
        assert (skill.server, skill.tool, skill.error) == ("", "", None)

    @pytest.mark.parametrize(
        ("data", "error"),
        [
            (b"a: b: c\n", "not valid YAML (line 1)"),
            (b"a: 1\nb: c: d\n", "not valid YAML (line 2)"),
            (b"\xff\xfe", "not UTF-8 text"),
            (b"- a\n", "no mapping of keys to values"),
            (b"", "no mapping of keys to values"),
        ],
    )
    def test_a_bad_one_says_why(self, data: bytes, error: str) -> None:
        content = read(self.PATH, Kind.SKILL, data)
        assert content.skill is not None
        assert (content.skill.id, content.skill.path, content.skill.error) == ("a", self.PATH, error)
        assert content.sections


def test_other_yaml_is_found_by_the_name_in_it() -> None:
    (section,) = read("examples/x/topology.yaml", Kind.YAML, b"metadata:\n  name: hello\n").sections
    assert (section.title, section.heading) == ("hello", "")
