"""How a new line of an index is written: as those that are there, whatever words it has to hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cache.errors import InvalidArgument
from tests.support.index_edits import LINE, NEW, added, edited
from tests.support.wikis import read


class TestStyle:
    """A new line looks as those that are there."""

    @pytest.mark.parametrize(
        ("line", "new"),
        [
            ("- [A](concepts/a.md) — one", f"- {LINE}"),
            ("* [A](concepts/a.md) — one", f"* {LINE}"),
            ("+   [A](concepts/a.md) — one", f"+   {LINE}"),
            ("-\t[A](concepts/a.md) — one", f"-\t{LINE}"),
            ("  - [A](concepts/a.md) — one", f"  - {LINE}"),
            ("- [A](concepts/a.md)", f"- {LINE}"),
            ("- [A](concepts/a.md) - one", "- [New page](concepts/new.md) - what it says"),
            ("- [A](concepts/a.md): one", "- [New page](concepts/new.md): what it says"),
            ("- [A](concepts/a.md) – one", "- [New page](concepts/new.md) – what it says"),
            ("- [A](concepts/a.md) → one", "- [New page](concepts/new.md) → what it says"),
            ("- [A](concepts/a.md) -- one", "- [New page](concepts/new.md) -- what it says"),
            ("- [A](concepts/a.md)—one", "- [New page](concepts/new.md)—what it says"),
            ("- [A](./concepts/a.md)", "- [New page](./concepts/new.md) — what it says"),
            ("- [A](.wiki/concepts/a.md)", "- [New page](.wiki/concepts/new.md) — what it says"),
            ("- [A](concepts/a)", "- [New page](concepts/new) — what it says"),
            ("- [A](<./concepts/a>)", "- [New page](./concepts/new) — what it says"),
            ("- [A](concepts/a.md#part 'tip')", f"- {LINE}"),
            ("- **[A](concepts/a.md)**: one", "- **[New page](concepts/new.md)**: what it says"),
            ("- _[A](concepts/a.md)_ one", "- _[New page](concepts/new.md)_ — what it says"),
            ("- [[concepts/a]]", "- [[concepts/new]] — what it says"),
            ("- [[concepts/a|A]] - one", "- [[concepts/new|New page]] - what it says"),
            ("- [[concepts/a.md|A]]", "- [[concepts/new.md|New page]] — what it says"),
            ("- [[./concepts/a|A]]", "- [[./concepts/new|New page]] — what it says"),
            ("- [[a]]: one", "- [[concepts/new|New page]]: what it says"),
            ("- `[[concepts/a|A]]`: one", "- `[[concepts/new|New page]]`: what it says"),
            ("- [ ] [A](concepts/a.md)", f"- [ ] {LINE}"),
            ("- [x] [A](concepts/a.md)", f"- [ ] {LINE}"),
            ("1. [A](concepts/a.md)", f"2. {LINE}"),
            ("9) [A](concepts/a.md)", f"10) {LINE}"),
            ("999999999. [A](concepts/a.md)", f"999999999. {LINE}"),
            ("1. [A](concepts/a.md)\n2. [B](concepts/b.md)", f"3. {LINE}"),
            ("1. [A](concepts/a.md)\n1. [B](concepts/b.md)", f"1. {LINE}"),
            (
                "- see [RFC](https://example.test) [A](./concepts/a.md)",
                "- [New page](./concepts/new.md) — what it says",
            ),
            ("- How → [A](./concepts/a.md): one", "- [New page](./concepts/new.md) — what it says"),
            ("- [A](./concepts/a.md): one\n- [B](./concepts/b.md)", "- [New page](./concepts/new.md): what it says"),
            ("- [A](concepts/a.md): one\n- no page", "- [New page](concepts/new.md): what it says"),
            ("- [Parts](./parts/)", "- [New page](./concepts/new.md) — what it says"),
            ("- [Parts](parts/index.md): one", "- [New page](concepts/new.md): what it says"),
            ("- Group\n  * [[concepts/a]]: one", "- [[concepts/new]]: what it says"),
            ("- [A](concepts/a.md)\n\n  More of it.\n\n      code", f"- {LINE}"),
            ("- no page", f"- {LINE}"),
        ],
    )
    def test_is_that_of_the_list(self, line: str, new: str) -> None:
        assert added(f"# Wiki\n\n## Concepts\n\n{line}\n\n## Raw\n\n* [[x]]: y\n") == f"{new}\n"

    @pytest.mark.parametrize(
        ("table", "new"),
        [
            ("| P | What |\n|---|---|\n| [A](concepts/a.md) | one |", "| [New page](concepts/new.md) | what it says |"),
            ("|Page|What|\n|-|-|\n|[A](./concepts/a)|one|", "|[New page](./concepts/new)|what it says|"),
            ("Page | What\n---|---\n[A](concepts/a.md) | one", "[New page](concepts/new.md) | what it says"),
            ("  |a|b|\n  |-|-|\n  |[A](concepts/a.md)|x|", "  |[New page](concepts/new.md)|what it says|"),
            ("| What | P |\n|---|---|\n| one | [[concepts/a\\|A]] |", "| what it says | [[concepts/new\\|New page]] |"),
            ("| Page | Who | Notes |\n|-|-|-|\n| [[concepts/a]] | me | |", "| [[concepts/new]] |  | what it says |"),
            ("|x|P|y|\n|-|-|-|\n| | *[A](concepts/a.md)* | |", "|  | *[New page](concepts/new.md)* | what it says |"),
            ("| What | File |\n|---|---|\n| one | concepts/a.md |", "| what it says | [New page](concepts/new.md) |"),
            ("| Page |\n|---|\n| [A](concepts/a.md) - one |", f"| {LINE} |"),
            ("Page | What\n---|---\n[A](concepts/a.md)", "[New page](concepts/new.md) | what it says"),
        ],
    )  # fmt: skip
    def test_is_that_of_the_table(self, table: str, new: str) -> None:
        assert added(f"## Concepts\n\n{table}\n\nText.\n\n## Raw\n") == f"{new}\n"

    def test_is_that_of_the_last_list_or_table_that_lists_something(self) -> None:
        table = "| Page | What |\n|---|---|\n| [A](concepts/a.md) | one |\n"
        assert added(f"## Concepts\n\n* [[concepts/b]]\n\n{table}\n- plain\n").startswith("| [New page]")
        assert added(f"## Concepts\n\n{table}\n* [[concepts/b]]\n\nText.\n") == "* [[concepts/new]] — what it says\n"

    def test_in_a_loose_list_is_loose(self) -> None:
        index = "## Concepts\n\n- [A](concepts/a.md)\n\n- [B](concepts/b.md)\n"
        assert edited(index) == f"{index}\n- {LINE}\n"

    @pytest.mark.parametrize(
        ("other", "new"),
        [
            ("* [[entities/b|B]]: one", "* [[concepts/new|New page]]: what it says"),
            ("3. [B](./entities/b.md)\n\n4. x", "1. [New page](./concepts/new.md) — what it says"),
            ("| a | b |\n|---|---|\n| [[entities/b\\|B]] | one |", "- [[concepts/new|New page]] — what it says"),
            ("Only prose about [B](entities/b.md).", f"- {LINE}"),
        ],
    )
    def test_in_a_section_without_entries_is_that_of_others(self, other: str, new: str) -> None:
        for index in (f"## Entities\n\n{other}\n\n## Concepts\n", f"## Concepts\n\n## Entities\n\n{other}\n"):
            assert added(index).strip("\n") == new

    def test_shows_the_title_where_the_page_does_not(self) -> None:
        index = "## Concepts\n\n- [[concepts/a]]\n"
        assert added(index, replace(NEW, titled=False)) == "- [[concepts/new|New page]] — what it says\n"

    def test_has_no_separator_without_a_description(self) -> None:
        index = "## Concepts\n\n- [A](concepts/a.md): one\n"
        for none in ("", " — ", "..."):
            assert added(index, replace(NEW, description=none)) == "- [New page](concepts/new.md)\n"


class TestWords:
    """Title, description and path, whatever they hold."""

    @pytest.mark.parametrize(
        ("slug", "target"),
        [
            ("a b", "a%20b"),
            ("a (b)", "a%20%28b%29"),
            ("c#", "c%23"),
            ("50%", "50%25"),
            ("a%20b", "a%2520b"),
            ("a&lt;b", "a%26lt%3Bb"),
            ("[x]", "%5Bx%5D"),
            ("über/字", "über/字"),
            ("a_b-c.d~e+f,g=h@i!", "a_b-c.d~e+f,g=h@i!"),
        ],
    )
    def test_a_path_is_written_so_that_it_is_found(self, slug: str, target: str) -> None:
        entry = replace(NEW, path=f"concepts/{slug}.md")
        assert f"](concepts/{target}.md)" in added("## Concepts\n\n- [A](concepts/a.md)\n", entry)
        assert f"](./concepts/{target})" in added("## Concepts\n\n- [A](./concepts/a)\n", entry)

    @pytest.mark.parametrize("slug", ["c#", "50%", "[x]", "a|b"])
    def test_a_path_that_no_wikilink_holds_is_a_link(self, slug: str) -> None:
        entry = replace(NEW, path=f"concepts/{slug}.md")
        new = edited("## Concepts\n\n- [[concepts/a]]\n", entry)
        page = read({"index.md": new, entry.path: "# New page\n", "concepts/a.md": ""}, bodies=True).pages[1]
        assert (page.slug, page.title, page.listed) == (f"concepts/{slug}", "New page", True)

    def test_markup_is_escaped(self) -> None:
        entry = replace(NEW, title="[x] *y*", description="a | b, `c` <d>")
        assert added("## Concepts\n\n- [A](concepts/a.md)\n", entry) == (
            "- [\\[x\\] \\*y\\*](concepts/new.md) — a | b, \\`c\\` \\<d>\n"
        )
        assert added("## Concepts\n\n|a|b|\n|-|-|\n|[A](concepts/a.md)|x|\n", entry) == (
            "|[\\[x\\] \\*y\\*](concepts/new.md)|a \\| b, \\`c\\` \\<d>|\n"
        )

    def test_a_title_that_no_wikilink_holds_is_a_links(self) -> None:
        entry = replace(NEW, title="[x]", titled=False)
        assert added("## Concepts\n\n- [[concepts/a|A]]: x\n", entry) == "- [\\[x\\]](concepts/new.md): what it says\n"

    @pytest.mark.parametrize("index", ["## Concepts\n", "## Concepts\n\n|a|b|\n|-|-|\n|[A](concepts/a.md)|x|\n"])
    def test_the_longest_words_are_written_whole(self, index: str) -> None:
        entry = replace(NEW, title="t" * 300, description="d" * 500)
        new = edited(index, entry)
        assert "t" * 300 in new
        assert "d" * 500 in new
        assert edited(new, entry) == new

    def test_a_title_that_repeats_the_path_must_be_the_pages_own(self) -> None:
        assert added("## Concepts\n", replace(NEW, title="new")).startswith("\n- [new](concepts/new.md) — what")
        with pytest.raises(InvalidArgument, match="title merely repeats the slug") as caught:
            edited("## Concepts\n", replace(NEW, title="new", titled=False))
        assert caught.value.argument == "title"
