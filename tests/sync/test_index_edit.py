"""The root index with one page listed: where the line goes, and what stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cache.errors import Conflict, InvalidArgument
from cache.model import MAX_INDEX
from sync.index_edit import edit_index
from sync.wiki_titles import TYPES
from tests.support.index_edits import LINE, NEW, edited
from tests.support.wikis import read


class TestPlace:
    """At the end of what the type's section itself holds."""

    @pytest.mark.parametrize(
        "heading", ["## Concepts", "# concept", "###### CONCEPTS ##", "Concepts\n---", "## *Concept*"]
    )
    def test_is_in_the_section_of_the_type(self, heading: str) -> None:
        index = f"# Wiki\n\n{heading}\n\n- [A](concepts/a.md)\n\n# Raw\n"
        assert edited(index) == index.replace("a.md)\n", f"a.md)\n- {LINE}\n")

    @pytest.mark.parametrize("type_", TYPES)
    def test_is_found_for_every_type(self, type_: str) -> None:
        index = "".join(f"## {name.capitalize()}\n\n" for name in TYPES)
        assert f"## {type_.capitalize()}\n\n- [New page]({type_}/new.md)" in edited(
            index, replace(NEW, path=f"{type_}/new.md", type=type_)
        )

    def test_is_in_front_of_subsections(self) -> None:
        index = "## Concepts\n\n- [A](concepts/a.md)\n\n### More\n\n- [B](concepts/b.md)\n"
        assert edited(index) == index.replace("a.md)\n", f"a.md)\n- {LINE}\n")

    def test_is_in_front_of_further_text(self) -> None:
        index = "## Concepts\n\n- [A](concepts/a.md)\n  more\n\n  ```\n  - code\n  ```\n\nSee [B](concepts/b.md).\n"
        assert edited(index) == index.replace("  ```\n\nSee", f"  ```\n- {LINE}\n\nSee")

    def test_is_the_section_that_lists_something(self) -> None:
        index = "## Concepts\n\n## Concept\n\n- [A](concepts/a.md)\n\n## Concepts\n\n- [B](concepts/b.md)\n"
        assert edited(index) == index.replace("a.md)\n", f"a.md)\n- {LINE}\n")

    def test_is_the_last_section_where_none_lists_anything(self) -> None:
        assert edited("# Concepts\n\n## Concepts\n") == f"# Concepts\n\n## Concepts\n\n- {LINE}\n"

    @pytest.mark.parametrize(
        ("index", "new"),
        [
            ("## Concepts\n## Raw\n", f"## Concepts\n\n- {LINE}\n\n## Raw\n"),
            ("## Concepts\n\n\n\n## Raw\n", f"## Concepts\n\n- {LINE}\n\n\n\n## Raw\n"),
            ("## Concepts\nSome text.\n## Raw\n", f"## Concepts\nSome text.\n\n- {LINE}\n\n## Raw\n"),
            ("## Concepts", f"## Concepts\n\n- {LINE}\n"),
            ("## Raw\n- [X](x.md)\n\n## Concepts\n", f"## Raw\n- [X](x.md)\n\n## Concepts\n- {LINE}\n"),
            ("## Concepts\n<!-- none -->\n\n## Raw\n", f"## Concepts\n<!-- none -->\n\n- {LINE}\n\n## Raw\n"),
            ("## Concepts\n\n> - [A](concepts/a.md)\n", f"## Concepts\n\n> - [A](concepts/a.md)\n\n- {LINE}\n"),
            ("## Concepts\n\n  # Raw\n", f"## Concepts\n\n-   {LINE}\n\n  # Raw\n"),
        ],
    )
    def test_in_a_section_without_a_list_is_a_new_one_at_its_end(self, index: str, new: str) -> None:
        assert edited(index) == new

    @pytest.mark.parametrize(
        "index",
        [
            "```\n## Concepts\n\n- [A](concepts/a.md)\n```\n",
            "<!--\n## Concepts\n\n- [A](concepts/a.md)\n-->\n",
            "> ## Concepts\n>\n> - [A](concepts/a.md)\n",
            "---\nx: |\n  ## Concepts\n---\n# Wiki\n",
            "- ## Concepts\n",
        ],
    )
    def test_is_never_where_only_something_looks_like_a_section(self, index: str) -> None:
        assert edited(index) == f"{index}\n## Concepts\n\n- {LINE}\n"

    @pytest.mark.parametrize("open_", ["```\n- [A](concepts/a.md)\n", "<!-- \n\n## Raw\n", "~~~", "<script>\n"])
    def test_is_in_front_of_what_never_ends(self, open_: str) -> None:
        index = f"## Concepts\n\nText.\n\n{open_}"
        assert edited(index) == f"## Concepts\n\nText.\n\n- {LINE}\n\n{open_}"
        index = f"# Wiki\n\n{open_}"
        assert edited(index) == f"# Wiki\n\n## Concepts\n\n- {LINE}\n\n{open_}"


class TestMissingSections:
    @pytest.mark.parametrize(
        ("index", "heading"),
        [
            ("# Wiki\n", "\n## Concepts\n\n"),
            ("Text", "\n\n## Concepts\n\n"),
            ("# Wiki\n\n### Entities\n\ntext\n", "\n### Concepts\n\n"),
            ("## Raw\ntext\n", "\n## Concepts\n"),
            ("## raw\n\ntext\n", "\n## concepts\n\n"),
            ("# RAW\n\ntext\n", "\n# CONCEPTS\n\n"),
            ("Raw\n---\n\ntext\n", "\nConcepts\n--------\n\n"),
            ("Raw\n===\n\ntext\n", "\nConcepts\n========\n\n"),
            ("# One\n\n# Two\n", "\n# Concepts\n\n"),
            ("## One\n\n## Two\n", "\n## Concepts\n\n"),
        ],
    )
    def test_are_added_at_the_end_with_a_heading_like_others(self, index: str, heading: str) -> None:
        assert edited(index) == f"{index}{heading}- {LINE}\n"

    def test_end_no_front_matter_by_their_underline(self) -> None:
        index = "---\nnever: closed\n\nEntities\n--------\n"
        new = edited(index, replace(NEW, path="raw/new.md", type="raw"))
        assert new == f"{index}\n## Raw\n\n- [New page](raw/new.md) — what it says\n"

    def test_of_another_type_are_other(self) -> None:
        entry = replace(NEW, path="guides/deploy.md", type="other")
        assert edited("# Wiki\n", entry) == "# Wiki\n\n## Other\n\n- [New page](guides/deploy.md) — what it says\n"


class TestMissingIndex:
    @pytest.mark.parametrize("index", [None, ""])
    def test_is_made_with_the_five_sections(self, index: str | None) -> None:
        assert (
            edited(index)
            == f"# Wiki\n\n## Entities\n\n## Concepts\n\n- {LINE}\n\n## Packages\n\n## Sources\n\n## Raw\n"
        )

    def test_has_a_sixth_for_what_is_none_of_them(self) -> None:
        new = edited(None, replace(NEW, path="guides/deploy.md", type="other"))
        assert new.endswith("## Raw\n\n## Other\n\n- [New page](guides/deploy.md) — what it says\n")

    @pytest.mark.parametrize(
        "index", ["\ufeff", "\n\n", "---\ntitle: x\n---\n", "---\ntitle: x\n---", "\ufeff---\n---\n \n"]
    )
    def test_is_made_of_a_blank_one(self, index: str) -> None:
        new = edited(index)
        assert "## Entities\n\n## Concepts\n\n- [New page]" in new
        assert new.startswith(index.rstrip("\n "))
        assert edited(new) == new


class TestBytes:
    """Every byte that is there stays."""

    def test_line_ends_are_those_around(self) -> None:
        index = "# Wiki\r\n\r\n## Concepts\r\n\r\n- [A](concepts/a.md)\r\n\r\n## Raw\r\n"
        assert edited(index) == index.replace("a.md)\r\n", f"a.md)\r\n- {LINE}\r\n")
        assert edited("# Wiki\r\n\r\ntext") == f"# Wiki\r\n\r\ntext\r\n\r\n## Concepts\r\n\r\n- {LINE}\r\n"

    def test_a_mixture_is_followed_where_the_line_goes(self) -> None:
        index = "# Wiki\n\n## Concepts\r\n\r\n- [A](concepts/a.md)\r\n\n## Raw\n"
        assert edited(index) == index.replace("a.md)\r\n", f"a.md)\r\n- {LINE}\r\n")

    def test_a_last_line_that_does_not_end_is_ended(self) -> None:
        assert edited("## Concepts\n\n- [A](concepts/a.md)") == f"## Concepts\n\n- [A](concepts/a.md)\n- {LINE}\n"

    def test_byte_order_mark_front_matter_and_white_space_stay(self) -> None:
        index = "\ufeff---\ntitle: 'x'  # y\n...\n\n\n##  Concepts \t\n\n-  [A](concepts/a.md)  \n \t\n\n## Raw\n\n \n"
        assert edited(index) == index.replace("a.md)  \n", f"a.md)  \n-  {LINE}\n")


class TestListedPages:
    """A page that is listed is never listed twice; its line says what it should where that can be done exactly."""

    @pytest.mark.parametrize(
        ("line", "new"),
        [
            ("- [Old](concepts/a.md) — old words", "- [New page](concepts/a.md) — what it says"),
            ("- [Old](concepts/a.md)", "- [New page](concepts/a.md) — what it says"),
            ("- [Old](concepts/a.md): [RFC](https://example.test)  ", "- [New page](concepts/a.md): what it says  "),
            ("1. [x] _[*O*](<./concepts/a> 'tip')_ - x", "1. [x] _[New page](<./concepts/a> 'tip')_ - what it says"),
            ("- Group\n  * [[concepts/a|Old]]: x", "- Group\n  * [[concepts/a|New page]]: what it says"),
            ("- [[concepts/a]]", "- [[concepts/a]] — what it says"),
            ("- `[[concepts/a|Old]]` → x", "- `[[concepts/a|New page]]` → what it says"),
            ("|P|y|\n|-|-|\n| [O](concepts/a.md) | x |", "|P|y|\n|-|-|\n| [New page](concepts/a.md) | what it says |"),
            ("|What|P|\n|-|-|\n|x|[[concepts/a\\|O]]|", "|What|P|\n|-|-|\n|what it says|[[concepts/a\\|New page]]|"),
            ("|P|x|\n|-|-|\n|[Old](concepts/a.md)||", "|P|x|\n|-|-|\n|[New page](concepts/a.md)| what it says |"),
        ],
    )  # fmt: skip
    def test_are_called_and_described_anew(self, line: str, new: str) -> None:
        index = f"# Wiki\n\n## Raw\n\n- [B](concepts/b.md)\n\n{line}\n\nText.\n"
        entry = replace(NEW, path="concepts/a.md")
        assert edited(index, entry) == index.replace(line, new)
        assert edited(edited(index, entry), entry) == edited(index, entry)

    def test_show_their_title_where_they_do_not_say_it(self) -> None:
        entry = replace(NEW, path="concepts/a.md", titled=False, description="")
        assert edited("- [[concepts/a]]\n", entry) == "- [[concepts/a|New page]]\n"
        assert edited("- [concepts/a.md](concepts/a.md)\n", entry) == "- [New page](concepts/a.md)\n"

    @pytest.mark.parametrize(
        "line",
        [
            "- [New page](concepts/a.md): what it says",
            "- What: [New page](concepts/a.md) — it says",
            "- [[concepts/a]] -\n  what\n  it says",
            "See [New page](concepts/a.md).\n\n| [x](concepts/b.md) |\n|-|\n",
        ],
    )
    def test_stay_where_they_say_it_already(self, line: str) -> None:
        described = replace(
            NEW, path="concepts/a.md", description="What — it says" if "What:" in line else "what it says"
        )
        entry = replace(described, description="") if line.startswith("See") else described
        assert edited(line, entry) == line

    @pytest.mark.parametrize(
        ("line", "new"),
        [
            ("- [Old](concepts/a.md) — x\n  more\n", "- [New page](concepts/a.md) — x\n  more\n"),
            (
                "- [Old](concepts/a.md), [B](concepts/b.md) — x\n",
                "- [New page](concepts/a.md), [B](concepts/b.md) — x\n",
            ),
            ("- [Old](concepts/a.md) in words\n", "- [New page](concepts/a.md) in words\n"),
            ("|P|\n|-|\n|[Old](concepts/a.md) x|\n", "|P|\n|-|\n|[New page](concepts/a.md) x|\n"),
        ],
    )
    def test_keep_a_description_that_cannot_be_told_from_other_text(self, line: str, new: str) -> None:
        assert edited(line, replace(NEW, path="concepts/a.md")) == new

    @pytest.mark.parametrize(
        "index",
        [
            "Begin with [the overview](concepts/a.md), then read on.\n",
            "- about [it](concepts/a.md): x\n",
            "[Old](concepts/a.md)\n\nx\n",
            "> - [Old](concepts/a.md) — x\n",
            "- [Old][1] — x\n\n[1]: concepts/a.md\n",
            "### [Old](concepts/a.md)\n\nx\n",
        ],
    )
    def test_in_prose_stay_as_their_author_called_them(self, index: str) -> None:
        assert edited(index, replace(NEW, path="concepts/a.md")) == index

    def test_keep_their_description_where_none_is_given(self) -> None:
        entry = replace(NEW, path="concepts/a.md", description="")
        assert edited("- [Old](concepts/a.md) — x\n", entry) == "- [New page](concepts/a.md) — x\n"

    def test_need_no_new_line_where_a_link_waits_for_them(self) -> None:
        assert edited("- [Old](concepts/new.md)\n") == f"- {LINE}\n"

    def test_are_not_listed_again_where_a_sub_index_lists_them(self) -> None:
        index = "## Concepts\n\n- [P](parts/)\n"
        assert edited(index, replace(NEW, path="concepts/a.md"), in_sub_index=True) == index


class TestIndexFile:
    @pytest.mark.parametrize("name", ["INDEX.md", "_index.md", "README.md"])
    def test_may_have_any_name_that_the_reader_takes(self, name: str) -> None:
        index = f"# Wiki\n\n[self]({name})\n\n## Concepts\n"
        new = edited(index, path=name)
        assert new == f"{index}\n- {LINE}\n"
        files = {name: new, "concepts/new.md": ""}
        assert [(page.slug, page.listed) for page in read(files).pages] == [("concepts/new", True)]


class TestRefusals:
    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"a\0b", "NUL bytes"),
            (b"\xff", "not UTF-8"),
            (b"<<<<<<< a\n=======\n>>>>>>> b\n", "conflict markers"),
            (b" " * (MAX_INDEX + 1), "over 1 MiB"),
        ],
    )
    def test_are_for_an_index_that_cannot_be_read(self, data: bytes, reason: str) -> None:
        with pytest.raises(Conflict, match=f"wiki index malformed: {reason} — mend .wiki/README.md, then try again"):
            edit_index(data, NEW, [], "README.md")

    def test_are_for_an_index_that_has_no_room(self) -> None:
        index = f"# Wiki\n\n```\n{'x' * (MAX_INDEX - 40)}\n```\n"
        with pytest.raises(Conflict, match=r"\.wiki/index\.md would be over 1 MiB — move a part of it to a sub-index"):
            edited(index)

    @pytest.mark.parametrize("text", ["# h\n" * 51_000, "[a](concepts/a.md) " * 21_000])
    def test_are_for_an_index_of_which_not_all_is_read(self, text: str) -> None:
        with pytest.raises(Conflict, match=r"\.wiki/index\.md lists more than is read of an index — move a part of it"):
            edited(text)

    def test_are_for_an_index_without_any_place(self) -> None:
        with pytest.raises(
            Conflict, match=r"\.wiki/index\.md has no place where a page can be listed — mend its Markdown"
        ):
            edited("    code\n\n```\nopen\n")

    def test_are_for_a_name_that_would_take_a_link_from_another_page(self) -> None:
        entry = replace(NEW, path="concepts/deploy.md")
        with pytest.raises(InvalidArgument, match="the index calls guides/deploy by the link deploy") as caught:
            edited("- [[deploy]]\n", entry)
        assert caught.value.argument == "slug"
        assert "(concepts/deploy.md)" in edited("- [[guides/deploy]]\n- [Deploy](guides/deploy.md)\n", entry)
