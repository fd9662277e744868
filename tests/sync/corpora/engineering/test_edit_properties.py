"""Any edit of any text: it is refused, or it changes what it should and keeps every other byte."""

from __future__ import annotations

from contextlib import suppress
from os.path import commonprefix

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.errors import AmbiguousHeading, KnowledgeError
from sync.closing import is_closed
from sync.corpora.engineering.document import Heading, headings
from sync.corpora.engineering.edit import Mode, compose, file_into, update
from sync.corpora.engineering.lines import LINE_END, content_lines
from sync.corpora.engineering.sections import checked, find
from tests.support import markdown_pieces as pieces

modes: st.SearchStrategy[Mode] = st.sampled_from(["append", "replace"])


def edited(text: str, heading: str, content: str, mode: Mode) -> tuple[str, Heading | None] | None:
    """What becomes of ``text`` and which section of it was meant; ``None`` if the edit is refused."""
    try:
        made = update(text, heading, content, mode)
    except KnowledgeError:
        return None
    section = find(text, headings(text), checked(heading, "heading"))
    assert made.created == (section is None)
    return made.text, section


def shape(text: str, found: tuple[Heading, ...]) -> list[tuple[int, str]]:
    """Headings as they are written: content may define a link that is written in one."""
    return [(each.level, text[each.start : each.body].strip()) for each in found]


@settings(max_examples=120)
@given(pieces.texts(), pieces.headings, pieces.contents, modes)
def test_all_other_bytes_stay(text: str, heading: str, content: str, mode: Mode) -> None:
    done = edited(text, heading, content, mode)
    if done is None:
        return
    made, section = done
    if section is None or mode == "append":
        kept = len(commonprefix((text, made))) + len(commonprefix((text[::-1], made[::-1])))  # noqa: RUF071
        assert kept >= len(text)
    else:
        assert made.startswith(text[: section.body])
        assert made.endswith(text[section.end :])


@settings(max_examples=120)
@given(pieces.texts(), pieces.headings, pieces.contents, modes)
def test_the_sections_are_those_before_and_what_content_brings(
    text: str, heading: str, content: str, mode: Mode
) -> None:
    done = edited(text, heading, content, mode)
    if done is None:
        return
    made, section = done
    before, after = headings(text), headings(made)
    at = len(before) if section is None else before.index(section) + 1
    new = len(after) - len(before)
    assert shape(made, after[:at]) == shape(text, before[:at])
    assert shape(made, after[at + new :]) == shape(text, before[at:])
    assert [len(each.above) for each in after[at + new :]] == [len(each.above) for each in before[at:]]
    level = 1 if section is None else section.level
    assert all(each.level > level for each in after[at : at + new])


@settings(max_examples=120)
@given(pieces.texts(), pieces.headings, pieces.contents, modes)
def test_content_stands_in_the_section_with_its_line_ends(text: str, heading: str, content: str, mode: Mode) -> None:
    done = edited(text, heading, content, mode)
    if done is None:
        return
    made, section = done
    lines = LINE_END.split(made)
    wanted = content_lines(content)
    places = [at for at in range(len(lines)) if lines[at : at + len(wanted)] == wanted]
    assert places
    found = find(made, headings(made), checked(heading, "heading"))
    assert found is not None
    if section is not None and mode == "replace":
        assert content_lines(made[found.body :])[: len(wanted)] == wanted
    if set(LINE_END.findall(text)) == {"\r\n"}:
        assert set(LINE_END.findall(made)) == {"\r\n"}


@settings(max_examples=80)
@given(pieces.texts(), pieces.headings, pieces.contents)
def test_to_replace_twice_is_to_replace_once(text: str, heading: str, content: str) -> None:
    done = edited(text, heading, content, "replace")
    if done is None or done[1] is None:
        return
    assert update(done[0], heading, content, "replace").text == done[0]


@settings(max_examples=80)
@given(pieces.texts(), pieces.headings, pieces.contents)
def test_to_file_twice_is_to_file_once(text: str, heading: str, content: str) -> None:
    try:
        once = file_into(text, heading, content)
    except KnowledgeError:
        return
    with suppress(AmbiguousHeading):  # content may bring a heading of that name
        assert file_into(once, heading, content) == once


@settings(max_examples=80)
@given(st.one_of(pieces.headings, st.text(min_size=1, max_size=10)), pieces.contents)
def test_a_new_document_can_be_edited(title: str, content: str) -> None:
    try:
        text = compose(title, content)
    except KnowledgeError:
        return
    assert is_closed(text, 0)
    assert update(text, "Something new", "x", "append").text == f"{text}\n## Something new\n\nx\n"


@pytest.mark.parametrize("heading", ["", " ", "a\nb", "# x", "## ", "\u0007"])
def test_what_is_no_heading_is_refused(heading: str) -> None:
    with pytest.raises(KnowledgeError):
        update("# T\n", heading, "x", "append")
