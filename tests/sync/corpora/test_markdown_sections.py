"""Markdown in sections."""

from __future__ import annotations

import pytest

from sync.corpora.markdown_sections import Part, parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [Part(0, "", "")]),
        ("intro\n\n# A\n\none\n", [Part(0, "", "intro\n\n"), Part(1, "A", "\none\n")]),
        ("A\n===\none\n\nB\n---\ntwo", [Part(0, "", ""), Part(1, "A", "one\n\n"), Part(2, "B", "two")]),
        ("# A\n```\n## no\n```\n", [Part(0, "", ""), Part(1, "A", "```\n## no\n```\n")]),
        ("# A\n> ## no\n\n- ## no\n", [Part(0, "", ""), Part(1, "A", "> ## no\n\n- ## no\n")]),
        ("# `a` *b*\n", [Part(0, "", ""), Part(1, "a b", "")]),
    ],
)
def test_each_heading_has_its_own_text(text: str, expected: list[Part]) -> None:
    found = [Part(part.level, part.heading, part.text.lstrip("\n")) for part in parts(text, 0)]
    assert found == [Part(part.level, part.heading, part.text.lstrip("\n")) for part in expected]


def test_it_begins_with_the_body() -> None:
    assert list(parts("---\na: b\n---\ntext", 13)) == [Part(0, "", "text")]
