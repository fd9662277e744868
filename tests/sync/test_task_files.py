"""A task as a file below ``.tasks/``."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from cache.model import SAME_TASK
from sync import front_matter
from sync.task_files import MAX_SLUG, MAX_SLUG_BYTES, filed_at, holds, paths, slug_of, text_of
from sync.tasks import Task, checked_title

NOW = datetime(2026, 3, 1, 23, 59, 58, 700_000, UTC).timestamp()
TASK = Task("Fix yarn", "Use corepack.\n", ("bug", "good first issue"))
TITLES = st.text(min_size=1, max_size=60).filter(str.strip)


class TestPath:
    def test_it_is_the_day_and_the_title(self) -> None:
        assert next(paths("Fix yarn on Windows!", NOW)) == ".tasks/2026-03-01-fix-yarn-on-windows.md"

    def test_a_second_one_has_a_number(self) -> None:
        stem = ".tasks/2026-03-01-fix-yarn"
        assert list(islice(paths("Fix yarn", NOW), 3)) == [f"{stem}.md", f"{stem}-2.md", f"{stem}-3.md"]

    @pytest.mark.parametrize(
        ("title", "slug"),
        [
            ("Fix: the `cache` (again)", "fix-the-cache-again"),
            ("  --Fix__yarn--  ", "fix-yarn"),
            ("../../etc/passwd", "etc-passwd"),
            (".git", "git"),
            ("ÜBER Ⅷ ﬁx ①", "über-viii-fix-1"),
            ("e\u0301clair", "éclair"),
            ("Починить сборку", "починить-сборку"),
            ("构建失败。重试", "构建失败-重试"),
            ("हिन्दी में", "हिन्दी-में"),
            ("\u0301 x", "x"),
            ("İstanbul", "i\u0307stanbul"),
            ("!!!", "task"),
            ("🔥", "task"),
            ("\ud800", "task"),
            ("x" * 255, "x" * MAX_SLUG),
            ("word " * 50, "-".join(["word"] * 12)),
            ("構" * 255, "構" * 60),
            ("\U00020000" * 255, "\U00020000" * 45),
        ],
    )
    def test_a_slug_has_letters_digits_and_dashes_of_any_script(self, title: str, slug: str) -> None:
        assert slug_of(title) == slug

    @given(TITLES)
    def test_it_is_always_the_name_of_a_plain_file(self, title: str) -> None:
        slug = slug_of(title)
        assert 0 < len(slug) <= MAX_SLUG
        assert len(slug.encode()) <= MAX_SLUG_BYTES
        assert all(char == "-" or char.isalnum() or unicodedata.category(char)[0] == "M" for char in slug)
        assert not slug.startswith("-")
        assert not slug.endswith("-")


class TestText:
    def test_it_is_front_matter_and_the_body(self) -> None:
        assert text_of(TASK, NOW) == (
            '---\ntitle: "Fix yarn"\ncreated: 2026-03-01T23:59:58Z\nlabels: ["bug", "good first issue"]\nstatus: open\n'
            "---\n\nUse corepack.\n"
        )

    def test_without_labels_the_list_is_empty(self) -> None:
        assert yaml.safe_load(front_matter.split(text_of(replace(TASK, labels=()), NOW))[0])["labels"] == []

    @given(TITLES, st.lists(st.text(max_size=20), max_size=3))
    @example('`tick`: "it\'s" #1 \\ \u0085\u2028\ufeff\U0001f525 ---', ["null", "- x", "{a: b}", "", "\x7f\x00\n"])
    @example("2026-01-01", ["1.5", "yes", "~"])
    def test_yaml_reads_back_what_was_written(self, title: str, labels: list[str]) -> None:
        text = text_of(Task(title, "Body.", tuple(labels)), NOW)
        assert yaml.safe_load(front_matter.split(text)[0]) == {
            "title": title,
            "created": datetime(2026, 3, 1, 23, 59, 58, tzinfo=UTC),
            "labels": labels,
            "status": "open",
        }

    @pytest.mark.parametrize(
        "body", ["---\ntitle: Other\n---\nText", "---\n...\n", "\ufeffText", "  indented\n", "x\r\ny\r\n"]
    )
    def test_a_body_stays_as_it_is(self, body: str) -> None:
        text = text_of(replace(TASK, body=body), NOW)
        assert text[front_matter.split(text)[1] :] == f"\n{body.rstrip()}\n"

    def test_its_title_is_the_one_that_a_wiki_would_read(self) -> None:
        assert front_matter.fields(front_matter.split(text_of(TASK, NOW))[0])["title"] == "Fix yarn"


class TestSame:
    def test_a_file_holds_the_task_that_it_was_written_for(self) -> None:
        assert holds(text_of(TASK, NOW), TASK)

    @given(TITLES, st.text())
    def test_whatever_it_says(self, title: str, body: str) -> None:
        task = Task(title, body)
        assert holds(text_of(task, NOW), task)

    def test_even_with_other_labels_on_another_day_and_done(self) -> None:
        text = text_of(replace(TASK, labels=()), NOW - 86400).replace("status: open", "status: done")
        assert holds(text, TASK)

    def test_even_with_the_line_ends_of_another_system(self) -> None:
        assert holds(text_of(TASK, NOW).replace("\n", "\r\n"), TASK)

    @pytest.mark.parametrize("other", [replace(TASK, title="Fix npm"), replace(TASK, body="Use volta.")])
    def test_another_text_is_another_task(self, other: Task) -> None:
        assert not holds(text_of(TASK, NOW), other)

    @pytest.mark.parametrize("text", ["", "Fix yarn\n", "---\ntitle: Fix yarn\n---\n\nUse corepack.\n", "\ud800"])
    def test_a_file_of_somebody_else_is_none_of_ours(self, text: str) -> None:
        assert not holds(text, TASK)


class TestFiledAt:
    @pytest.mark.parametrize("age", [0, 1, SAME_TASK - 2])
    def test_it_is_the_second_in_which_it_was_filed(self, age: float) -> None:
        assert filed_at(text_of(TASK, NOW), TASK, NOW + age) == int(NOW)

    @pytest.mark.parametrize("age", [SAME_TASK, -SAME_TASK - 1])
    def test_what_was_filed_long_ago_may_be_filed_again(self, age: float) -> None:
        assert filed_at(text_of(TASK, NOW), TASK, NOW + age) is None

    @pytest.mark.parametrize("created", ["created: 2026-02-31T00:00:00Z\n", "created: yesterday\n", ""])
    def test_without_a_time_the_day_in_its_name_has_to_do(self, created: str) -> None:
        text = text_of(TASK, NOW).replace("created: 2026-03-01T23:59:58Z\n", created)
        assert filed_at(text, TASK, NOW) == NOW

    def test_another_task_was_never_filed_as_this_one(self) -> None:
        assert filed_at(text_of(replace(TASK, body="Use npm.\n"), NOW), TASK, NOW) is None


def test_a_title_that_is_allowed_can_be_written() -> None:
    assert checked_title("`--- a: b`") in text_of(Task("`--- a: b`", "x"), NOW)
