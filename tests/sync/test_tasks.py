"""A task's title, what makes two the same, and the marker by which an issue is known again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyromark import Options, events_with_range

from cache.errors import InvalidArgument, TooLarge
from cache.model import SAME_TASK
from sync.forge.writing import Issue
from sync.tasks import (
    LATE,
    MAX_BODY,
    MAX_LABELS,
    MAX_TITLE,
    Task,
    checked_body,
    checked_labels,
    checked_title,
    find_marker,
    marker_of,
    may_send,
    resolve_labels,
    title_of,
    with_marker,
)

NOW = 1_800_000_000.0
TASK = Task("Fix yarn", "Use corepack.\n")
MARKER = marker_of(TASK)


def issue(body: str, number: int = 1, at: float = NOW) -> Issue:
    return Issue(number, f"https://git.example.test/acme/web/issues/{number}", "Fix yarn", body, at)


def filed(task: Task, number: int = 1, at: float = NOW) -> Issue:
    return issue(with_marker(task.body, marker_of(task)), number, at)


class TestBody:
    @pytest.mark.parametrize("body", ["x", " x\r\n", "é" * (MAX_BODY // 2)])
    def test_it_is_taken_as_it_is(self, body: str) -> None:
        assert checked_body(body) == body

    @pytest.mark.parametrize("body", ["", " \n\t", "\u2003"])
    def test_without_a_word_it_is_empty(self, body: str) -> None:
        with pytest.raises(InvalidArgument, match="body is empty — say what is to be done") as caught:
            checked_body(body)
        assert caught.value.argument == "body"

    @pytest.mark.parametrize("body", ["x" * (MAX_BODY + 1), "é" * (MAX_BODY // 2 + 1)], ids=len)
    def test_it_is_bounded_in_bytes(self, body: str) -> None:
        with pytest.raises(TooLarge) as caught:
            checked_body(body)
        assert caught.value.line == "too_large: body is larger than 1048576 bytes"

    @pytest.mark.parametrize("body", ["a\0b", "a\ud800b"])
    def test_what_no_file_holds_is_refused(self, body: str) -> None:
        with pytest.raises(InvalidArgument, match="body must be text"):
            checked_body(body)


class TestLabels:
    def test_each_counts_once_without_white_space(self) -> None:
        assert checked_labels([" bug", "good first issue", "bug "]) == ("bug", "good first issue")

    @pytest.mark.parametrize("label", ["", " ", "a\nb", "a\x1b[2J", "a\ud800"])
    def test_what_is_no_name_is_refused(self, label: str) -> None:
        with pytest.raises(InvalidArgument, match="labels: each must be the name of a label") as caught:
            checked_labels(["bug", label])
        assert caught.value.argument == "labels"

    def test_there_may_be_many_but_not_any_number(self) -> None:
        many = [str(number) for number in range(MAX_LABELS)]
        assert len(checked_labels(many)) == MAX_LABELS
        with pytest.raises(InvalidArgument, match="labels: at most 50, not 51"):
            checked_labels([*many, "x"])

    def test_they_are_known_by_name(self) -> None:
        assert resolve_labels(["bug", "org wide"], {"bug": 1, "idea": 2, "org wide": 3}) == {"bug": 1, "org wide": 3}

    def test_case_matters_only_between_two_that_differ_by_it(self) -> None:
        known = {"Bug": 1, "Idea": 2, "idea": 3}
        assert resolve_labels(["BUG", "idea"], known) == {"Bug": 1, "idea": 3}
        with pytest.raises(InvalidArgument, match="no label is called IDEA — there are: Bug, Idea, idea"):
            resolve_labels(["IDEA"], known)

    def test_where_there_are_none_they_are_to_be_left_out(self) -> None:
        with pytest.raises(InvalidArgument, match="no label is called bug — there are none, so leave labels out"):
            resolve_labels(["bug"], {})

    def test_not_all_of_very_many_are_told(self) -> None:
        with pytest.raises(InvalidArgument, match=r"there are: 000, 001, .*, 049 and 450 more") as caught:
            resolve_labels(["bug"], {f"{number:03}": number for number in range(500)})
        assert caught.value.argument == "labels"

    def test_other_peoples_names_are_printable(self) -> None:
        with pytest.raises(InvalidArgument) as caught:
            resolve_labels(["bug"], {"\x1b[2J": 1, "x" * 1000: 2})
        assert caught.value.message.isprintable()
        assert len(caught.value.message) < 300


class TestTitleFromBody:
    @pytest.mark.parametrize(
        ("body", "title"),
        [
            ("Fix yarn\n\nIt fails on Windows.", "Fix yarn"),
            ("# Fix yarn\n\nIt fails.", "Fix yarn"),
            ("\n\n## Fix `yarn` *now*\n", "Fix yarn now"),
            ("Fix yarn\n========\n", "Fix yarn"),
            ("Fix yarn\non Windows\n", "Fix yarn"),
            ("- [ ] Fix yarn\n- [ ] and npm\n", "Fix yarn"),
            ("> Fix yarn\n", "Fix yarn"),
            ("| Fix | yarn |\n|---|---|\n| a | b |\n", "Fix yarn"),
            ("See [the page](https://git.example.test/x) first", "See the page first"),
            ("---\n\nFix yarn", "Fix yarn"),
            ("---\ntitle: Other\n---\nFix yarn", "Fix yarn"),
            ("<!-- template -->\n\nFix yarn", "Fix yarn"),
            ("![a picture](x.png)\n\nFix yarn", "Fix yarn"),
            ("…\n\nFix   yarn\u00a0 now", "Fix yarn now"),
            ("```python\nfix(yarn)\n```\n", "fix(yarn)"),
            ("    fix(yarn)\n", "fix(yarn)"),
            ("\ufeffFix yarn\r\nnow\r\n", "Fix yarn"),
            ("Починить сборку", "Починить сборку"),
            ("构建失败", "构建失败"),
            ("Fix\x00 \x1b[31myarn\u2028now", "Fix [31myarn now"),
            ("Fix \ud800 yarn", "Fix \ufffd yarn"),
        ],
    )
    def test_it_is_the_first_heading_or_line(self, body: str, title: str) -> None:
        assert title_of(body) == title

    @pytest.mark.parametrize("body", ["", " \n\t\n", "---\n", "…", "```\n```\n", "<!-- -->\n"])
    def test_a_body_without_a_word_has_none(self, body: str) -> None:
        with pytest.raises(InvalidArgument, match="give a title"):
            title_of(body)

    def test_a_long_one_is_cut_after_a_word(self) -> None:
        title = title_of("word, " * 100)
        assert title == "word, " * 41 + "word…"
        assert len(title) <= MAX_TITLE

    def test_one_of_the_longest_length_is_not_cut(self) -> None:
        assert title_of("x" * MAX_TITLE) == "x" * MAX_TITLE

    def test_a_very_long_word_is_cut_inside(self) -> None:
        assert title_of("x" * 300) == "x" * 254 + "…"

    @pytest.mark.parametrize("character", ["e\u0301", "👩\u200d👩\u200d👧", "✔\ufe0f", "\u0915\u093f"])
    def test_but_between_two_characters(self, character: str) -> None:
        for shift in range(len(character)):
            cut = title_of("x" * shift + character * 255).removesuffix("…")
            assert len(cut[shift:]) % len(character) == 0
            assert len(cut) > MAX_TITLE - 2 - len(character)

    @given(st.text())
    def test_any_title_that_is_made_may_be_given(self, body: str) -> None:
        try:
            title = title_of(body)
        except InvalidArgument:
            return
        assert checked_title(title) == title


class TestGivenTitle:
    def test_white_space_around_it_goes(self) -> None:
        assert checked_title("  Fix  yarn\n") == "Fix  yarn"

    @pytest.mark.parametrize(
        ("title", "why"),
        [
            ("", "empty"),
            (" \t", "empty"),
            ("a\nb", "one line"),
            ("a\x07b", "control characters"),
            ("a\x85b", "one line"),
            ("a\u2028b", "one line"),
            ("x" * 256, "at most 255 characters, not 256"),
        ],
    )
    def test_what_is_no_title_is_refused(self, title: str, why: str) -> None:
        with pytest.raises(InvalidArgument, match=why) as refusal:
            checked_title(title)
        assert refusal.value.argument == "title"


class TestSameText:
    @pytest.mark.parametrize(
        "other",
        [
            replace(TASK, labels=("bug",)),
            replace(TASK, body="Use corepack."),
            replace(TASK, body="\nUse corepack.\r\n"),
            replace(TASK, title=" Fix  yarn "),
        ],
    )
    def test_labels_and_white_space_make_no_difference(self, other: Task) -> None:
        assert other.digest == TASK.digest

    @pytest.mark.parametrize(
        "other",
        [
            replace(TASK, title="Fix npm"),
            replace(TASK, body="Use Corepack.\n"),
            Task("Fix yarnUse", "corepack."),
            Task("Fix", "yarn\nUse corepack."),
        ],
    )
    def test_words_do(self, other: Task) -> None:
        assert other.digest != TASK.digest

    def test_text_without_utf_8_has_a_digest_too(self) -> None:
        assert len(Task("x", "\ud800").digest) == 64

    def test_gateways_of_other_times_make_the_same_marker(self) -> None:
        """It is looked for in issues that others have filed: a change of it is a change of the contract."""
        assert MARKER == "e823528987ac5eb17d12d21acd1b0e4b"


# Beginnings and ends of everything that may be open at the end of a text.
WORDS = (
    "``` ~~~ ```` ~~~~~~~ ```py <!-- --> <!--> <!---> <? ?> <!DOCTYPE > <![CDATA[ ]]> <pre> </pre> <script> </SCRIPT>"
    " <style <textarea> <textarea </textarea> <div> </div> <a <details> > >> - 1. * [ ] | --- === # $$ [a]: [^1]: \\ `"
    " `` <b> &lt; {{ }} ::: : *** [x](< word"
)
OTHERS = ("", "    ", "  ", "\t", "\r", "\ud800", '"', "<!-- gateway task 0123456789abcdef0123456789abcdef -->")
PIECES = st.sampled_from([*WORDS.split(), *OTHERS])
LINES = st.lists(st.lists(PIECES, max_size=3).map(" ".join), max_size=8)


def last_block(text: str) -> tuple[str, int, int]:
    """The name of the last top-level block, and how many of its bytes lie before and behind the last line."""
    depth, found = 0, ("", 0, 0)
    for event, span in events_with_range(text, options=Options.ENABLE_TABLES | Options.ENABLE_TASKLISTS):
        if isinstance(event, dict) and "Start" in event:
            if depth == 0:
                tag = event["Start"]
                found = (tag if isinstance(tag, str) else next(iter(tag)), span["start"], span["end"])
            depth += 1
        elif isinstance(event, dict) and "End" in event:
            depth -= 1
    return found


class TestMarker:
    def test_it_ends_the_body(self) -> None:
        assert with_marker("Use corepack.\n", MARKER) == f"Use corepack.\n\n<!-- gateway task {MARKER} -->\n"

    @pytest.mark.parametrize(
        ("body", "closed"),
        [
            ("```sh\nyarn", "\n```"),
            ("~~~~\n```\nyarn\n```\n~~~", "\n~~~~"),
            ("  `````\nyarn\n```\n", "\n`````"),
            ("`````\n``` x\n``````` x\nyarn", "\n`````"),
            ("Text\n\n<!-- the rest\n\nis hidden", "\n-->"),
            ("<pre>\n\nyarn", "\n</textarea></style></script></pre>"),
            ("<SCRIPT type='x'>\n\n", "\n</textarea></style></script></pre>"),
            ("<?php\n\nyarn", "\n?>"),
            ("<![CDATA[\n\nyarn", "\n]]>"),
            ("- item\n  ```\n  yarn", ""),
            ("> ```\n> yarn", ""),
            ("```\nyarn\n```", ""),
            ("```\r\nyarn\r\n```\r\n", ""),
            ("text ``` and <!-- more", ""),
            ("<div>\n```", ""),
            ("    ```\n", ""),
            ("<!-- a -->", ""),
            ("| a |\n|---|\n| ``` |", ""),
        ],
    )
    def test_what_is_open_is_closed_before_it(self, body: str, closed: str) -> None:
        text = body.rstrip().replace("\r\n", "\n")
        assert with_marker(body, MARKER).removeprefix(text) == f"{closed}\n\n<!-- gateway task {MARKER} -->\n"

    def test_a_fence_that_is_closed_with_a_tab_behind_it_is_closed(self) -> None:
        assert with_marker("```\nyarn\n``` \t\nmore", MARKER).startswith("```\nyarn\n```\nmore\n\n<!--")

    @given(LINES)
    @settings(max_examples=300)
    @example(["```", "`` `"])
    def test_nobody_sees_it_whatever_the_body_is(self, lines: list[str]) -> None:
        body = with_marker("\n".join(lines), MARKER).replace("\ud800", "?")
        name, start, end = last_block(body)
        assert (name, body.encode()[start:end].decode()) == ("HtmlBlock", f"<!-- gateway task {MARKER} -->\n")

    def test_of_many_fences_the_one_that_is_open_is_closed(self) -> None:
        body = "`````\n" + "".join("`" * number + " x\n" for number in range(1, 300))
        assert with_marker(body, MARKER).removeprefix(body.rstrip()).startswith("\n`````\n\n<!--")


class TestFinding:
    def test_an_issue_with_it_is_found(self) -> None:
        assert find_marker([filed(TASK), issue("Something else", 2)], MARKER, now=NOW) == (filed(TASK),)

    def test_two_at_once_are_both_told_the_first_one_first(self) -> None:
        found = find_marker([filed(TASK, 8), filed(TASK, 7)], MARKER, now=NOW)
        assert [each.number for each in found] == [7, 8]

    def test_what_the_forge_makes_of_line_ends_does_not_matter(self) -> None:
        body = with_marker("Use corepack.\n", MARKER).replace("\n", "\r\n").strip()
        assert find_marker([issue(body)], MARKER, now=NOW)

    def test_words_that_somebody_adds_do_not_hide_it(self) -> None:
        assert find_marker([issue(filed(TASK).body + "\nMore.\n")], MARKER, now=NOW)

    def test_a_body_that_quotes_it_is_not_taken_for_it(self) -> None:
        other = Task("About markers", filed(TASK).body)
        assert find_marker([filed(other)], MARKER, now=NOW) == ()
        assert find_marker([filed(other)], marker_of(other), now=NOW) == (filed(other),)

    def test_a_day_later_it_is_another_task(self) -> None:
        assert find_marker([filed(TASK, at=NOW - SAME_TASK)], MARKER, now=NOW) == ()
        assert find_marker([filed(TASK, at=NOW - SAME_TASK + 1)], MARKER, now=NOW)

    def test_a_forge_whose_clock_is_ahead_does_not_hide_it(self) -> None:
        assert find_marker([filed(TASK, at=NOW + 300)], MARKER, now=NOW)


@pytest.mark.parametrize(
    ("sent_at", "may"), [(None, True), (NOW, False), (NOW - LATE + 1, False), (NOW - LATE, True), (NOW + 60, True)]
)
def test_nothing_is_sent_while_a_request_may_be_on_its_way(sent_at: float | None, may: bool) -> None:
    assert may_send(sent_at, NOW) is may
