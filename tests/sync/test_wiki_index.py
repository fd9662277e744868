"""Which pages a wiki has, and in which order: the tree is the truth, the index lists."""

from __future__ import annotations

import pytest

from cache.model import PageFacts, TreeEntry
from sync.wiki_index import MAX_LEVELS, IndexMalformed, decode_index, find_index, read_wiki
from tests.support.wikis import listed, only, read, sha_of, tree_of

A, B, C = "concepts/a.md", "entities/b.md", "guides/deep/c.md"


class TestLinksAreFound:
    """Wherever people put them."""

    @pytest.mark.parametrize(
        "index",
        [
            "- [A](concepts/a.md)\n- [B](entities/b.md)\n",
            "* [A](concepts/a.md)\n* [B](entities/b.md)\n",
            "+ [A](./concepts/a.md)\n+ [B](./entities/b.md)\n",
            "1. [A](concepts/a.md)\n2. [B](entities/b.md)\n",
            "1) **[A](concepts/a.md)**\n2) *[B](entities/b.md)*\n",
            "- [x] [A](concepts/a.md)\n- [ ] [B](entities/b.md)\n",
            "- ~~[A](concepts/a.md)~~\n- [**B**](entities/b.md)\n",
            "| Page | What |\n|---|---|\n| [A](concepts/a.md) | one |\n| [B](entities/b.md) | two |\n",
            "Page | What\n---|---\n[A](concepts/a.md) | one\n**[B](entities/b.md)** | two\n",
            "Start with [A](concepts/a.md), then read [B](entities/b.md).\n",
            "See **[A](concepts/a.md)**\nand _[B](entities/b.md)_.\n",
            "> [A](concepts/a.md)\n>\n> - [B](entities/b.md)\n",
            "# [A](concepts/a.md)\n\n### [B](entities/b.md)\n",
            "- Area\n  - [A](concepts/a.md)\n    1. [B](entities/b.md)\n",
            "[A][1] and [b]\n\n[1]: concepts/a.md\n[B]: <entities/b.md> 'title'\n",
            "- [[concepts/a]]\n- [[entities/b|The B]]\n",
            "- [[.wiki/concepts/a]]\n- [[.wiki/entities/b.md|B]]\n",
            "- [A](.wiki/concepts/a.md)\n- [B](../.wiki/entities/b.md)\n",
            "- [A](concepts/a)\n- [B](entities/b)\n",
            "- [A](concepts/a.md#part)\n- [B](entities/b.md?plain=1#L3)\n",
            "- [[concepts/a#Part]]\n- [[entities/b#^block|B]]\n",
            "- [A](concepts%2Fa.md)\n- [B](./entities//b.md)\n",
            "- [A](Concepts/A.md)\n- [B](ENTITIES/b.MD)\n",
            "- [![logo](a.png)](concepts/a.md)\n- [`B`](entities/b.md)\n",
            "- [[A]](concepts/a.md)\n- [[B]](entities/b.md) — two\n",
            "<details>\n\n- [A](concepts/a.md)\n\n</details>\n\n[B](entities/b.md)\n",
            "- `[[concepts/a]]` and `[[b]]`\n",
            "| Page | What |\n|---|---|\n| concepts/a.md | one |\n| `entities/b` | two |\n",
            "| Page | What |\n|---|---|\n| [[concepts/a|A]] | one |\n| [[entities/b\\|B]] | two |\n",
        ],
    )
    def test_in_any_construct(self, index: str) -> None:
        assert listed(index, A, B, C) == ["concepts/a", "entities/b"]

    @pytest.mark.parametrize("level", range(1, 7))
    def test_at_any_heading_level(self, level: int) -> None:
        index = f"# Wiki\n\n{'#' * level} Concepts\n\n- [Keys](keys.md)\n"
        assert only(index, "keys.md").section == "Concepts"

    def test_with_spaces_in_the_path(self) -> None:
        index = "- [One](<concepts/a b.md>)\n- [Two](concepts/c%20d.md)\n- [[concepts/e f]]\n"
        assert listed(index, "concepts/a b.md", "concepts/c d.md", "concepts/e f.md") == [
            "concepts/a b",
            "concepts/c d",
            "concepts/e f",
        ]

    def test_with_characters_that_urls_give_a_meaning(self) -> None:
        index = "- [C#](c#.md)\n- [Why](why?.md)\n- [Rate](100%25.md)\n- [Half](50%.md)\n"
        assert listed(index, "c#.md", "why?.md", "100%.md", "50%.md") == ["c#", "why?", "100%", "50%"]

    def test_in_a_table_without_path_extension_only_in_its_first_cell(self) -> None:
        index = "| Page | State |\n|---|---|\n| **keys** | draft |\n"
        assert listed(index, "keys.md", "draft.md", "page.md") == ["keys"]

    def test_whatever_the_line_ends_and_the_beginning(self) -> None:
        plain = "# Wiki\n\n## Concepts\n\n- [A](concepts/a.md)\n  more\n\n| x |\n|---|\n| [B](entities/b.md) |\n"
        front_matter = "---\ntitle: Index\nlinks: [[concepts/no]]\n---\n"
        blank = "\n" * 90
        for index in (
            plain.replace("\n", "\r\n"),
            "\ufeff" + plain,
            front_matter + plain,
            ("\ufeff" + front_matter + plain).replace("\n", "\r\n"),
            blank + plain,
            front_matter + blank + plain,
        ):
            assert listed(index, A, B) == ["concepts/a", "entities/b"]

    def test_between_rules_that_only_look_like_front_matter(self) -> None:
        assert listed("---\n\n# Wiki\n\n- [A](concepts/a.md)\n\n---\n\n[B](entities/b.md)\n", A, B) == [
            "concepts/a",
            "entities/b",
        ]


class TestWhatIsNoPage:
    @pytest.mark.parametrize(
        "index",
        [
            "[self](#concepts) [self](index.md) [self](./) [[index]] [self](index.md#x) []()\n",
            "[outside](../README.md) [outside](../../x.md) [[../outside]] [x](concepts/../../concepts/a.md)\n",
            "[absolute](/concepts/a.md) [[/concepts/a]] [x](//host/a.md)\n",
            "[external](https://example.test/concepts/a.md) <https://example.test/a.md> [[https://example.test/a]]\n",
            "[mail](mailto:a@example.test) <a@example.test>\n",
            "`[[concepts/gone]]` and `[[gone]]`\n",
            "`[A](concepts/a.md)` and `concepts/a.md` and concepts/a.md\n",
            "<!-- [A](concepts/a.md)\n\n- [[concepts/a]] -->\n",
            "text <!-- [A](concepts/a.md) --> text\n",
            "```\n[A](concepts/a.md)\n```\n\n~~~md\n[[concepts/a]]\n~~~\n",
            "- x\n\n      [A](concepts/a.md)\n",
            "text\n\n    [A](concepts/a.md)\n",
            "```\n[A](concepts/a.md)\n",
            "![A](concepts/a.md) ![[concepts/a]]\n",
            "| a | b |\n|---|---|\n| gone.md | concepts/gone |\n",
            "\\[A](concepts/a.md) [A] (concepts/a.md)\n",
            "[table](assets/data.csv) [folder](assets/) [[assets/data.csv]]\n",
        ],
    )
    def test_is_neither_listed_nor_counted(self, index: str) -> None:
        reading = read({"index.md": index, "concepts/a.md": "", "assets/data.csv": ""})
        assert [page.listed for page in reading.pages] == [False]
        assert (reading.dead, reading.ambiguous) == (0, 0)

    def test_a_symbolic_link_is_none_and_is_not_followed(self) -> None:
        files = {"index.md": "[A](concepts/a.md) [Real](real.md)", "concepts/a.md": "../real.md", "real.md": ""}
        reading = read(files, links=["concepts/a.md"])
        assert [page.slug for page in reading.pages] == ["real"]

    def test_an_index_that_is_a_symbolic_link_is_none(self) -> None:
        reading = read({"index.md": "real.md", "real.md": ""}, links=["index.md"])
        assert [(page.slug, page.listed) for page in reading.pages] == [("real", False)]

    def test_a_submodule_and_other_files_are_none(self) -> None:
        tree = [TreeEntry("sub.md", 0o160000, "1" * 40, 0), TreeEntry("a.txt", 0o100644, "2" * 40, 1)]
        assert read_wiki(tree, {}, {}).pages == ()

    def test_a_file_that_is_all_extension_is_none(self) -> None:
        assert read({".md": "", "concepts/.md": "", ".hidden.md": ""}).pages[0].slug == ".hidden"


class TestDeadLinks:
    def test_are_counted_and_never_served(self) -> None:
        reading = read({"index.md": "- [A](gone.md)\n- [[gone]]\n- [B](gone/)\n- [X](x.csv)\n", "a.md": ""})
        assert [page.slug for page in reading.pages] == ["a"]
        assert reading.dead == 4

    def test_of_a_sub_index_count_too(self) -> None:
        assert read({"index.md": "[P](parts/)", "parts/index.md": "[A](gone.md)"}).dead == 1


class TestTheTreeIsTheTruth:
    def test_pages_that_no_index_lists_are_pages_all_the_same(self) -> None:
        reading = read({"index.md": "- [B](b.md)\n", "b.md": "", "z/c.md": "", "a.md": ""})
        assert [(page.slug, page.listed) for page in reading.pages] == [("b", True), ("a", False), ("z/c", False)]

    def test_the_index_gives_the_order_and_the_rest_follows_by_path(self) -> None:
        reading = read({"index.md": "[C](c.md) [A](a.md)", "a.md": "", "b.md": "", "c.md": "", "Z.md": ""})
        assert [page.slug for page in reading.pages] == ["c", "a", "Z", "b"]
        assert [page.position for page in reading.pages] == [0, 1, 2, 3]

    def test_the_first_occurrence_wins(self) -> None:
        page = only("## One\n- [First](keys.md) — first\n\n## Two\n- [Second](keys.md) — second\n", "keys.md")
        assert (page.title, page.section, page.description) == ("First", "One", "first")

    def test_a_later_occurrence_gives_a_description_where_the_first_has_none(self) -> None:
        page = only("- [First](keys.md)\n\n| Page | What |\n|---|---|\n| [Second](keys.md) | words |\n", "keys.md")
        assert (page.title, page.description) == ("First", "words")

    def test_without_an_index_the_tree_alone_counts(self) -> None:
        reading = read({"b.md": "", "concepts/a.md": ""})
        assert [(page.slug, page.type, page.listed) for page in reading.pages] == [
            ("b", "other", False),
            ("concepts/a", "concepts", False),
        ]

    def test_an_index_that_cannot_be_read_leaves_the_tree(self) -> None:
        reading = read_wiki(tree_of({"index.md": "", "a.md": ""}), {"index.md": None}, {})
        assert ([page.slug for page in reading.pages], reading.wanted) == (["a"], ())

    def test_an_entry_keeps_its_blob_size_and_uncommitted_mark(self) -> None:
        (page,) = read_wiki([TreeEntry("a.md", 0o100755, "5" * 40, 7, uncommitted=True)], {}, {}).pages
        assert (page.sha, page.size, page.uncommitted) == ("5" * 40, 7, True)


class TestTheIndexIsFound:
    @pytest.mark.parametrize(
        ("paths", "index"),
        [
            (["index.md", "README.md", "_index.md"], "index.md"),
            (["INDEX.md", "README.md"], "INDEX.md"),
            (["Index.md", "INDEX.md", "index.md"], "index.md"),
            (["README.md", "_index.md"], "_index.md"),
            (["readme.md", "concepts/index.md"], "readme.md"),
            (["home.md", "concepts/index.md"], None),
            ([], None),
        ],
    )
    def test_without_case_then_by_its_other_names(self, paths: list[str], index: str | None) -> None:
        assert find_index(paths) == index

    @pytest.mark.parametrize("name", ["index.md", "INDEX.md", "index.MD", "_index.md", "README.md"])
    def test_and_is_itself_no_page(self, name: str) -> None:
        reading = read({name: "[A](a.md)", "a.md": ""})
        assert [(page.slug, page.listed) for page in reading.pages] == [("a", True)]

    def test_and_beside_it_a_readme_is_a_page(self) -> None:
        assert [page.slug for page in read({"index.md": "", "README.md": ""}).pages] == ["README"]

    def test_and_wanted_until_it_is_given(self) -> None:
        assert read_wiki(tree_of({"INDEX.md": ""}), {}, {}).wanted == ("INDEX.md",)


class TestSubIndexes:
    @pytest.mark.parametrize("name", ["index.md", "_index.md", "README.md", "Readme.md"])
    @pytest.mark.parametrize("link", ["[Parts](parts/)", "[Parts](parts)", "[Parts](./Parts/)", "[[parts/]]"])
    def test_a_directory_link_leads_to_its_index(self, link: str, name: str) -> None:
        files = {"index.md": link, f"parts/{name}": "- [Engine](engine.md)\n", "parts/engine.md": "", "a.md": ""}
        assert [page.slug for page in read(files).pages if page.listed] == [f"parts/{name[:-3]}", "parts/engine"]

    def test_the_best_name_is_the_folders_index(self) -> None:
        files = {
            "index.md": "[P](p/)",
            "p/README.md": "[A](a.md)",
            "p/index.md": "[B](b.md)",
            "p/a.md": "",
            "p/b.md": "",
        }
        assert [page.slug for page in read(files).pages if page.listed] == ["p/index", "p/b"]

    def test_is_a_page_itself_where_the_link_to_it_stands(self) -> None:
        reading = read({"index.md": "[The parts](p/index.md)\n[A](a.md)", "a.md": "", "p/index.md": "# Parts"})
        assert [(page.slug, page.title) for page in reading.pages] == [("p/index", "The parts"), ("a", "A")]

    def test_links_are_relative_to_its_folder(self) -> None:
        sub = "- [A](a.md)\n- [B](../b.md)\n- [C](.wiki/c.md)\n- [[d]]\n- [[q/e]]\n- [out](../../f.md)\n"
        files = {"index.md": "[P](p/)", "p/index.md": sub} | dict.fromkeys(
            ["p/a.md", "b.md", "c.md", "d.md", "q/e.md"], ""
        )
        reading = read(files)
        assert [page.slug for page in reading.pages] == ["p/index", "p/a", "b", "c", "d", "q/e"]
        assert reading.dead == 0

    def test_what_they_list_follows_level_by_level(self) -> None:
        files = {
            "index.md": "[P](p/) [Q](q/) [A](a.md)",
            "p/index.md": "[Deep](deep/) [One](one.md)",
            "p/deep/index.md": "[Two](two.md)",
            "q/index.md": "[Three](three.md)",
        } | dict.fromkeys(["a.md", "p/one.md", "p/deep/two.md", "q/three.md"], "")
        assert [page.slug for page in read(files).pages] == [
            "p/index", "q/index", "a", "p/deep/index", "p/one", "q/three", "p/deep/two",
        ]  # fmt: skip

    def test_are_wanted_one_level_at_a_time(self) -> None:
        files = {"index.md": "[P](p/)", "p/index.md": "[Q](q/)", "p/q/index.md": ""}
        indexes: dict[str, str | None] = {"index.md": files["index.md"]}
        assert read_wiki(tree_of(files), indexes, {}).wanted == ("p/index.md",)
        indexes["p/index.md"] = files["p/index.md"]
        assert read_wiki(tree_of(files), indexes, {}).wanted == ("p/q/index.md",)

    def test_one_that_cannot_be_read_is_not_wanted_again(self) -> None:
        files = {"index.md": "[P](p/)", "p/index.md": ""}
        indexes = {"index.md": files["index.md"], "p/index.md": None}
        assert read_wiki(tree_of(files), indexes, {}).wanted == ()

    @pytest.mark.parametrize("raw", ["raw", "Raw", "wiki/raw"])
    def test_in_raw_are_listed_but_not_followed(self, raw: str) -> None:
        files = {"index.md": f"[R]({raw}/)", f"{raw}/index.md": "[X](x.md)", f"{raw}/x.md": ""}
        assert [(page.slug, page.listed) for page in read(files).pages] == [(f"{raw}/index", True), (f"{raw}/x", False)]

    def test_cycles_end(self) -> None:
        files = {
            "index.md": "[P](p/) [A](a.md)",
            "p/index.md": "[Root](../index.md) [Self](index.md) [Up](../) [Q](../q/)",
            "q/index.md": "[P](../p/) [A](../a.md)",
            "a.md": "",
        }
        reading = read(files)
        assert [page.slug for page in reading.pages] == ["p/index", "a", "q/index"]
        assert reading.dead == 0

    def test_depth_ends(self) -> None:
        files = {"index.md": "[N](n/)"}
        for depth in range(1, MAX_LEVELS + 3):
            files["n/" * depth + "index.md"] = "[N](n/)"
        reading = read(files)
        assert sum(page.listed for page in reading.pages) == MAX_LEVELS + 1
        assert len(reading.pages) == MAX_LEVELS + 2

    def test_pages_outside_of_its_sections_stand_in_the_section_that_led_to_it(self) -> None:
        files = {
            "index.md": "# Wiki\n## Parts\n- [P](p/)\n",
            "p/index.md": "# All parts\n- [A](a.md)\n## Old\n- [B](b.md)\n",
        } | dict.fromkeys(["p/a.md", "p/b.md"], "")
        assert {page.slug: page.section for page in read(files).pages} == {
            "p/index": "Parts",
            "p/a": "Parts",
            "p/b": "Old",
        }


class TestWikilinks:
    def test_a_bare_one_finds_its_page_by_unique_base_name(self) -> None:
        assert listed("[[keys]]", "concepts/build/keys.md", "a.md") == ["concepts/build/keys"]

    @pytest.mark.parametrize("name", ["Cache Keys", "cache_keys", "CACHE-KEYS", "cache-keys.md", "cache keys#Part"])
    def test_a_base_name_may_be_spelled_as_a_title(self, name: str) -> None:
        assert listed(f"[[{name}]]", "concepts/cache-keys.md", "a.md") == ["concepts/cache-keys"]

    def test_two_candidates_make_it_ambiguous(self) -> None:
        reading = read({"index.md": "[[keys]] `[[keys]]`", "concepts/keys.md": "", "entities/keys.md": ""})
        assert [page.listed for page in reading.pages] == [False, False]
        assert (reading.ambiguous, reading.dead) == (1, 0)

    def test_the_exact_spelling_decides_between_candidates(self) -> None:
        assert listed("[[Keys]]", "concepts/keys.md", "entities/Keys.md") == ["entities/Keys"]

    def test_a_path_outranks_a_base_name(self) -> None:
        assert listed("[[keys]]", "keys.md", "concepts/keys.md") == ["keys"]

    @pytest.mark.parametrize("name", ["index", "README", "_index", "parts"])
    def test_a_bare_one_never_leads_to_an_index(self, name: str) -> None:
        files = {"index.md": f"[[{name}]]", "parts/README.md": "", "p/index.md": "", "q/_index.md": ""}
        assert not any(page.listed for page in read(files).pages)

    def test_one_with_a_slash_is_a_path_only(self) -> None:
        assert listed("[[other/keys]]", "concepts/keys.md") == []

    def test_a_markdown_link_is_no_base_name(self) -> None:
        assert listed("[Keys](keys) [Keys](keys.md)", "concepts/keys.md") == []


class TestCase:
    def test_a_slip_of_case_is_forgiven_if_one_file_fits(self) -> None:
        assert listed("[A](Concepts/Keys.md)", "concepts/keys.md") == ["concepts/keys"]

    def test_and_counted_as_ambiguous_if_several_do(self) -> None:
        reading = read({"index.md": "[A](KEYS.md)", "keys.md": "", "Keys.md": ""})
        assert ([page.listed for page in reading.pages], reading.ambiguous) == ([False, False], 1)

    def test_composed_and_decomposed_letters_are_the_same(self) -> None:
        assert listed("[Ü](u\u0308ber.md)", "\u00fcber.md") == ["\u00fcber"]


class TestDecoding:
    def test_gives_the_exact_text(self) -> None:
        assert decode_index("\ufeff# Ü\r\n".encode()) == "\ufeff# Ü\r\n"

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"# a\0b", "NUL bytes"),
            (b"# \xff\xfe", "not UTF-8"),
            ("# a".encode("utf-16"), "NUL bytes"),
            (b"\xed\xa0\x80", "not UTF-8"),
            (b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\n", "conflict markers"),
            (b"<<<<<<< ours\r\n||||||| base\r\n=======\r\n>>>>>>> theirs\r\n", "conflict markers"),
            (b"x" * (1024 * 1024 + 1), "over 1 MiB"),
        ],
    )
    def test_names_what_is_wrong(self, data: bytes, reason: str) -> None:
        with pytest.raises(IndexMalformed) as caught:
            decode_index(data)
        assert caught.value.reason == reason

    @pytest.mark.parametrize(
        "text", ["Title\n=======\n", "a <<<<<<< b\n=======\n>>>>>>> c", "<<<<<<< a\n", "x" * 2**20]
    )
    def test_accepts_what_only_resembles_it(self, text: str) -> None:
        assert decode_index(text.encode()) == text


def test_facts_of_bodies_are_found_by_blob() -> None:
    tree = tree_of({"index.md": "", "a.md": "body"})
    (page,) = read_wiki(tree, {"index.md": ""}, {sha_of("body"): PageFacts("A title", "concept", "A heading")}).pages
    assert (page.title, page.type) == ("A title", "concepts")
