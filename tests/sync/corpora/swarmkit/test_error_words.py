"""What a code itself tells."""

from __future__ import annotations

import pytest

from sync.corpora.swarmkit.error_reference import listed
from sync.corpora.swarmkit.error_words import words


@pytest.mark.parametrize(
    ("code", "description"),
    [
        ("agent.duplicate-id", "More than one agent has the same id."),
        ("role-registry.duplicate-id", "More than one role registry has the same id."),
        ("agent.unknown-skill", "The agent refers to something that the workspace does not have (skill)."),
        ("agent.depends-on-cycle", "depends on of the agent leads back to where it began."),
        ("schema.required-field", "A field that the schema requires is missing."),
        ("schema.never-heard-of", "A value breaks a rule of its JSON Schema."),
        ("thing.never-heard-of", "Something is wrong with the thing: never heard of."),
    ],
)
def test_the_parts_of_a_code_say_what_it_means(code: str, description: str) -> None:
    assert words(code).description == description


@pytest.mark.parametrize("code", [*listed(), "x", "x.", ".x", ""])
def test_there_are_always_words_and_none_is_left_open(code: str) -> None:
    for text in words(code):
        assert text
        assert "{" not in text
