"""What an index says about a page: title, type, section, description."""

from __future__ import annotations

import pytest

from cache.model import Page, PageFacts
from sync.wiki_index import canonical_type, describe
from tests.support.wikis import only, read

KEYS = "concepts/keys.md"


class TestTitle:
    def test_is_the_links_text(self) -> None:
        assert only("[How caches are keyed](concepts/keys.md)", KEYS, "# Heading").title == "How caches are keyed"

    def test_is_plain_and_on_one_line(self) -> None:
        assert only("[The *cache*\n`keys`  &amp; more](concepts/keys.md)").title == "The cache keys & more"

    def test_is_a_wikilinks_own_text(self) -> None:
        assert only("[[concepts/keys|How *caches* are keyed]]").title == "How caches are keyed"

    def test_is_a_capitalised_word_or_phrase_even_if_the_file_is_named_after_it(self) -> None:
        assert only("[Keys](concepts/keys.md)", body="# Other").title == "Keys"
        assert only("[[Cache keys]]", "concepts/cache-keys.md", "# Other").title == "Cache keys"

    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ("concepts/keys.md", KEYS),
            ("concepts/keys", KEYS),
            ("./concepts/keys.md", KEYS),
            ("Concepts/Keys.md", KEYS),
            ("keys.md", KEYS),
            ("keys", KEYS),
            ("build/keys", "concepts/build/keys.md"),
            ("cache keys", "concepts/cache-keys.md"),
            ("Cache_Keys", "concepts/cache-keys.md"),
            ("CACHE-KEYS.md", "concepts/cache-keys.md"),
            ("`concepts/keys.md`", KEYS),
            ("parts/", "parts/index.md"),
            ("parts", "parts/README.md"),
        ],
    )
    def test_that_merely_repeats_the_path_or_file_name_gives_way(self, text: str, path: str) -> None:
        assert only(f"[{text}]({path})", path, "# The heading").title == "The heading"

    @pytest.mark.parametrize(
        "link", ["[[keys]]", "[[concepts/keys]]", "[[concepts/keys#Eviction]]", "[](concepts/keys.md)"]
    )
    def test_of_a_wikilink_without_words_of_its_own_gives_way(self, link: str) -> None:
        assert only(link, body="# The heading").title == "The heading"

    def test_front_matter_outranks_the_heading(self) -> None:
        assert only("[[keys]]", body="---\ntitle: From YAML\n---\n# The heading").title == "From YAML"

    def test_without_anything_else_it_is_the_slugs_last_part(self) -> None:
        assert only("[[keys]]", "concepts/build/keys.md").title == "keys"
        assert only("", "concepts/build/keys.md", "text").title == "keys"

    def test_is_found_again_once_the_body_is_known(self) -> None:
        page = only("[[keys]]")
        assert describe(page, PageFacts(title="Known now")).title == "Known now"
        titled = only("[Cache keys](concepts/keys.md)")
        assert describe(titled, PageFacts(title="Known now")).title == "Cache keys"


class TestType:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("concepts/keys.md", "concepts"),
            ("concept/keys.md", "concepts"),
            ("Entity/keys.md", "entities"),
            ("packages/a/b/keys.md", "packages"),
            ("source/keys.md", "sources"),
            ("raw/keys.md", "raw"),
            ("wiki/concepts/keys.md", "concepts"),
            ("pages/wiki/raw/keys.md", "raw"),
        ],
    )
    def test_is_the_first_folder(self, path: str, expected: str) -> None:
        assert only(f"## Section\n[Keys]({path})", path, "---\ntype: note\n---\n").type == expected

    @pytest.mark.parametrize(
        "path", ["keys.md", "wiki/keys.md", "guides/keys.md", "docs/concepts/keys.md", "concepts.md"]
    )
    def test_is_the_front_matters_where_the_first_folder_names_none(self, path: str) -> None:
        assert only(f"## Section\n[Keys]({path})", path, "---\ntype: Concept\n---\n").type == "concepts"

    @pytest.mark.parametrize(
        ("index", "expected"),
        [
            ("## Concepts\n[K](keys.md)", "concepts"),
            ("## Package\n[K](keys.md)", "packages"),
            ("# Wiki\n## How-To  Guides\n[K](keys.md)", "how-to guides"),
            ("# Concept\n[K](keys.md)", "concepts"),
            ("# One\n[K](keys.md)\n# Two\n", "one"),
        ],
    )
    def test_is_the_section_of_the_index_where_the_page_says_none(self, index: str, expected: str) -> None:
        assert only(index, "keys.md", "# Keys").type == expected

    @pytest.mark.parametrize("index", ["", "[K](keys.md)", "# Wiki index\n\n[K](keys.md)\n"])
    def test_is_other_where_nothing_says_one(self, index: str) -> None:
        assert only(index, "keys.md", "---\ntype:\n---\n# Keys").type == "other"

    def test_is_found_again_once_the_body_is_known(self) -> None:
        page = only("## Section\n[K](keys.md)", "keys.md")
        assert (page.type, describe(page, PageFacts(type="Source")).type) == ("section", "sources")

    @pytest.mark.parametrize(
        ("word", "expected"),
        [("Concept", "concepts"), (" ENTITIES ", "entities"), ("raw", "raw"), ("How  To", "how to"), ("", "")],
    )
    def test_words_are_compared_in_one_form(self, word: str, expected: str) -> None:
        assert canonical_type(word) == expected


class TestSection:
    def test_is_the_nearest_heading_above(self) -> None:
        assert only("# Wiki\n## Concepts\n### Caching\n- [K](concepts/keys.md)").section == "Caching"

    def test_ends_with_the_next_heading_of_its_level(self) -> None:
        assert only("## One\n### Deep\n## Two\n[K](concepts/keys.md)").section == "Two"

    def test_of_a_link_in_a_heading_is_the_one_around_it(self) -> None:
        assert only("## Concepts\n### [K](concepts/keys.md)").section == "Concepts"

    def test_is_empty_under_the_title_of_the_whole_index(self) -> None:
        assert only("Wiki\n====\n\n[K](concepts/keys.md)").section == ""

    def test_is_not_taken_from_fences_quotes_or_comments(self) -> None:
        index = "## One\n```\n## Two\n```\n> ## Three\n\n<!--\n## Four\n-->\n[K](concepts/keys.md)"
        assert only(index).section == "One"


def description(index: str) -> str:
    return only(index).description


class TestDescription:
    @pytest.mark.parametrize("separator", [" — ", " - ", ": ", " → ", " – ", " | ", "\n  ", "\n\n  ", "<br>", " "])
    def test_is_what_follows_the_link(self, separator: str) -> None:
        assert description(f"- [K](concepts/keys.md){separator}how caches are keyed") == "how caches are keyed"

    def test_is_the_label_before_the_link(self) -> None:
        assert description("- **Caching**: [K](concepts/keys.md)") == "Caching"

    def test_is_both(self) -> None:
        assert description("1. Caching → `[[keys]]` - how it is keyed.") == "Caching — how it is keyed."

    def test_goes_on_in_the_next_lines(self) -> None:
        assert description("- [K](concepts/keys.md) — how\n  caches\nare keyed\n- other") == "how caches are keyed"

    def test_goes_on_in_paragraphs_and_nested_bullets_of_the_item(self) -> None:
        index = "- [K](concepts/keys.md)\n\n  How caches\n  - are *keyed*\n    - and when\n  - and why\n\n- other\n"
        assert description(index) == "How caches are keyed and when and why"

    def test_ends_where_the_next_entry_begins(self) -> None:
        index = "- [K](concepts/keys.md) — keys\n  - [G](gone.md) — gone\n    - more of gone\n  - more of keys\n"
        assert description(index) == "keys more of keys"

    def test_is_the_rest_of_the_table_row(self) -> None:
        index = "| Question | Page | Notes |\n|---|---|---|\n| How are caches keyed? | [[keys]] | by **hash** |\n"
        assert description(index) == "How are caches keyed? — by hash"

    def test_is_the_rest_of_the_row_of_a_plain_path(self) -> None:
        index = "| What | File | State |\n|:--|--|--:|\n| Keys | concepts/keys.md | done |\n"
        assert description(index) == "Keys — done"

    @pytest.mark.parametrize("gap", ["\n", "\n\n"])
    def test_is_the_paragraph_below_a_heading_or_link_that_stands_alone(self, gap: str) -> None:
        assert (
            description(f"### [K](concepts/keys.md)\n{gap}How caches\nare keyed.\n\nMore.") == "How caches are keyed."
        )
        assert (
            description(f"**[K](concepts/keys.md)**{gap}How caches\nare keyed.\n\nMore.\n") == "How caches are keyed."
        )

    def test_in_prose_is_what_stands_around_the_link(self) -> None:
        text = "Begin with the [overview](gone.md) and\nread about [keys](concepts/keys.md) before the [rest](gone.md)."
        assert description(text) == "read about — before the"

    def test_of_links_in_one_line_is_shared(self) -> None:
        index = "- Keys: [G](gone.md), [K](concepts/keys.md) and [H](gone.md) — how caches are keyed"
        assert description(index) == "Keys — how caches are keyed"

    def test_of_lines_with_a_link_each_is_their_own(self) -> None:
        index = "[G](gone.md) — gone\n[K](concepts/keys.md) — keys\n[H](gone.md) — also gone\n"
        assert description(index) == "keys"

    def test_has_no_text_of_comments_code_blocks_or_images(self) -> None:
        index = "- [K](concepts/keys.md) ![badge](b.svg) <!-- no --> keys\n\n  ```\n  no\n  ```\n"
        assert description(index) == "keys"

    def test_counts_external_links_as_words(self) -> None:
        assert (
            description("- [K](concepts/keys.md) — see [RFC 9110](https://example.test) first") == "see RFC 9110 first"
        )

    def test_is_bounded(self) -> None:
        index = "- " + "before " * 1000 + "[K](concepts/keys.md) " + "after " * 1000
        assert len(description(index)) <= 500
        assert "before — after" in description(index)

    def test_of_a_page_that_is_not_listed_is_empty(self) -> None:
        (page,) = read({"keys.md": "text"}).pages
        assert (page.description, page.section, page.link_title, page.listed) == ("", "", None, False)


def test_a_description_keeps_title_and_type_of_the_same_page() -> None:
    page = Page("concepts/keys", "0" * 40, 1, "", "", description="words", link_title="Keys")
    assert describe(page, PageFacts()) == Page(
        "concepts/keys", "0" * 40, 1, "concepts", "Keys", "words", link_title="Keys"
    )
