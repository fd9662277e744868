"""Front matter as people write it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.corpora.swarmkit.front_matter import fields, said_in_body, split, text_of


class TestSplit:
    @pytest.mark.parametrize(
        ("text", "yaml", "body"),
        [
            ("---\ntitle: A\n---\nbody", "title: A\n", "body"),
            ("---\n`a`: b\ntitle: A\n---\nbody", "`a`: b\ntitle: A\n", "body"),
            ("# A\n\n| x |\n|---|\n\n---\n\nend", "", None),
            ("---\n\nJust a rule. Note: this.\n\n---\n\nend", "", None),
            ("---\nno key here\n---\nend", "", None),
            ("---\n`never closed`: x\n", "", None),
            ("", "", None),
        ],
    )
    def test_it_is_what_stands_between_two_rules_if_that_has_keys(self, text: str, yaml: str, body: str | None) -> None:
        found, offset = split(text)
        assert (found, text[offset:]) == (yaml, text if body is None else body)


class TestFields:
    def test_yaml_is_read_as_text_lists_and_mappings(self) -> None:
        assert fields("a: 1\nb: [x, 2026-01-01]\nc: {d: true}\n") == {
            "a": "1",
            "b": ["x", "2026-01-01"],
            "c": {"d": "true"},
        }

    @pytest.mark.parametrize(
        ("yaml", "expected"),
        [
            ("title: A: the b\nstatus: done\n", {"title": "A: the b", "status": "done"}),
            ("description: `x` first\n", {"description": "`x` first"}),
            ("title: 'A': b\n", {"title": "'A': b"}),
            ('title: "A"\ntags: [a, b\n', {"title": "A", "tags": "[a, b"}),
            ("x: `y`\ntags:\n  - a\n  - 'b'\n", {"x": "`y`", "tags": ["a", "b"]}),
            ("x: `y`\nd: >\n  one\n  two\n", {"x": "`y`", "d": "one two"}),
        ],
    )
    def test_what_is_no_yaml_is_read_line_by_line(self, yaml: str, expected: dict[str, object]) -> None:
        assert fields(yaml) == expected

    def test_aliases_cannot_make_it_large(self) -> None:
        bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
            for before, name in zip("abcdef", "bcdefg", strict=True)
        )
        assert len(json.dumps(fields(bomb))) < 2_000

    def test_keys_are_text(self) -> None:
        assert fields("? [a]\n: b\ntitle: x\n") == {"title": "x"}

    @given(st.text())
    def test_nothing_raises_and_json_can_show_all(self, text: str) -> None:
        json.dumps(fields(text))
        split(f"---\n{text}\n---\n")


def test_a_field_is_one_line_whatever_the_case_of_its_key() -> None:
    assert text_of({"Title": "a\n  b"}, "title") == "a b"
    assert text_of({"title": ["a"]}, "title") == ""


@pytest.mark.parametrize(
    "line", ["**Status:** agreed", "Status: agreed", "> *status*: agreed", "- **Status**: agreed", "__Status:__ agreed"]
)
def test_a_line_near_the_top_of_a_body_may_say_the_status(line: str) -> None:
    assert said_in_body(f"# A\n\n{line}\n\ntext\n\n## B\n\nStatus: other\n") == {"status": "agreed"}
    assert said_in_body("# A\n\n## B\n\nStatus: other\n") == {}
