"""Which page a caller means to write: slug and type."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cache.errors import InvalidArgument
from cache.model import TreeEntry
from gateway.pages import clean_slug
from sync.files.names import MAX_NAME
from sync.slugs import MAX_SLUG, Target, find_target
from sync.wiki_titles import TYPES, canonical_type, folder_type
from tests.support.wikis import read, tree_of

FILES = dict.fromkeys(
    ["index.md", "concepts/keys.md", "concepts/build/cache.md", "guides/deploy.md", "yarn.md", "concepts/yarn.md"], ""
)
TREE = tree_of(FILES)


def target(slug: str, type_: str | None = None, *paths: str) -> tuple[str, str | None, bool]:
    found = find_target(slug, type_, tree_of(FILES | dict.fromkeys(paths, "")))
    return found.slug, found.type, found.exists


def refusal(slug: str, type_: str | None = None, tree: list[TreeEntry] | None = None) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        find_target(slug, type_, TREE if tree is None else tree)
    return caught.value


class TestNewPages:
    @pytest.mark.parametrize("type_", ["concepts", "concept", " Concept ", "CONCEPTS"])
    def test_go_into_the_folder_of_their_type(self, type_: str) -> None:
        assert target("ttl", type_) == ("concepts/ttl", "concepts", False)
        assert target("build/ttl", type_) == ("concepts/build/ttl", "concepts", False)

    @pytest.mark.parametrize("type_", [None, "package", "packages"])
    @pytest.mark.parametrize("slug", ["packages/left-pad", "package/left-pad", "wiki/packages/left-pad"])
    def test_keep_a_folder_that_names_their_type(self, slug: str, type_: str | None) -> None:
        assert target(slug, type_) == (slug, "packages", False)

    @pytest.mark.parametrize("slug", ["raw", "a/raw/b", "wiki/ttl", "concepts"])
    def test_may_be_called_like_a_type(self, slug: str) -> None:
        assert target(slug, "sources") == (f"sources/{slug}", "sources", False)

    @pytest.mark.parametrize("slug", ["ttl", "guides/ttl", "concepts", "wiki/ttl"])
    def test_need_a_type(self, slug: str) -> None:
        error = refusal(slug)
        assert error.argument == "type"
        assert "entities, concepts, packages, sources, raw" in error.message

    def test_without_a_type_that_exist_with_one_are_named(self) -> None:
        assert "concepts/keys" in refusal("keys").message

    @pytest.mark.parametrize("type_", ["", "other", "guides", "concepts/", "\ud800"])
    def test_have_one_of_five_types(self, type_: str) -> None:
        error = refusal("ttl", type_)
        assert error.argument == "type"
        assert "entities, concepts, packages, sources, raw" in error.message
        error.message.encode()

    def test_have_no_two_types(self) -> None:
        error = refusal("raw/ttl", "concepts")
        assert error.argument == "type"
        assert error.message.startswith("type concepts contradicts raw/ttl, which is among the raw")


class TestExistingPages:
    @pytest.mark.parametrize("type_", [None, "concept"])
    def test_are_named_in_full(self, type_: str | None) -> None:
        assert target("concepts/build/cache", type_) == ("concepts/build/cache", "concepts", True)

    def test_are_found_by_type_and_the_rest(self) -> None:
        assert target("keys", "concept") == ("concepts/keys", "concepts", True)

    def test_may_lie_outside_of_the_types(self) -> None:
        assert target("guides/deploy") == ("guides/deploy", None, True)
        assert target("guides/deploy", "source") == ("guides/deploy", "sources", True)

    def test_have_no_other_type_than_their_folder(self) -> None:
        assert refusal("concepts/keys", "raw").argument == "type"

    def test_are_told_apart_where_slug_and_type_fit_two(self) -> None:
        assert target("yarn") == ("yarn", None, True)
        assert target("concepts/yarn", "concepts") == ("concepts/yarn", "concepts", True)
        assert "yarn and concepts/yarn both exist" in refusal("yarn", "concepts").message

    @pytest.mark.parametrize("slug", ["what is this?", " lead", "a.md", "-x", "con", "U\u0308", "a:b", "concepts/a  b"])
    def test_keep_a_name_that_no_new_one_could_have(self, slug: str) -> None:
        assert target(slug, None, f"{slug}.md") == (slug, folder_type(slug), True)

    def test_know_their_path(self) -> None:
        assert Target("concepts/a", "concepts", exists=False).path == "concepts/a.md"


class TestRefusals:
    @pytest.mark.parametrize(
        ("slug", "reason"),
        [
            ("", "empty"),
            ("/", "empty"),
            ("/concepts/x", "begins below .wiki/"),
            (".wiki/concepts/x", "begins below .wiki/"),
            ("concepts/x.md", "leave .md out"),
            ("concepts/x.MD", "leave .md out"),
            ("concepts/", "has no name"),
            ("concepts//x", "has no name"),
            ("concepts/./x", ". begins with a dot"),
            ("concepts/../x", ".. begins with a dot"),
            ("../x", ".. begins with a dot"),
            ("concepts/.x", ".x begins with a dot"),
            (".git/x", ".git begins with a dot"),
            ("concepts\\x", "holds \\"),
            ("concepts/x\0", "holds U+0000"),
            ("concepts/x\ny", "holds U+000A"),
            ("concepts/x\x9b", "holds U+009B"),
            ("concepts/\ud800", "holds U+D800"),
            ("concepts/\u202ex", "holds U+202E RIGHT-TO-LEFT OVERRIDE"),
            ("concepts/a\u00a0b", "holds U+00A0 NO-BREAK SPACE"),
            ("concepts/why?", "holds ?"),
            ("c:x", "holds :"),
            ("concepts/x ", "ends with a space"),
            ("concepts/ x", "begins or ends with a space"),
            ("concepts /x", "ends with a space"),
            ("concepts/x.", "ends with a dot"),
            ("concepts/con", "con is a reserved name"),
            ("concepts/Aux.txt", "Aux.txt is a reserved name"),
            ("concepts/nul .x", "nul .x is a reserved name"),
            ("com¹/x", "com¹ is a reserved name"),
            ("concepts/git~1", "git~1 is a reserved name"),
            ("concepts/u\u0308ber", "composed"),
            ("concepts/" + "字" * 85, "longer than 255 bytes"),
            ("字" * 85 + "/x", "longer than 255 bytes"),
            ("x" * (MAX_SLUG + 1), "more than 1000 characters"),
            ("x/" * 497 + "x", "with its type it has more than 1000 characters"),
        ],
    )
    def test_say_what_is_wrong_and_keep_to_what_can_be_printed(self, slug: str, reason: str) -> None:
        error = refusal(slug, "concepts" if not slug.startswith("concepts/") else None)
        assert error.argument == "slug"
        assert error.message.startswith("slug: ")
        assert reason in error.message
        assert error.message.isprintable()

    def test_are_for_an_existing_name_that_is_no_text(self) -> None:
        assert "holds U+DCFF" in refusal("raw/\udcff", None, tree_of({"raw/\udcff.md": ""})).message

    @pytest.mark.parametrize("name", ["index", "_index", "README", "Index", "readme"])
    @pytest.mark.parametrize("folder", ["", "concepts/", "concepts/build/"])
    def test_are_for_indexes_new_and_existing(self, folder: str, name: str) -> None:
        tree = tree_of({f"{folder}{name}.md": ""})
        assert "the name of an index" in refusal(f"{folder}{name}", "concepts").message
        assert "the name of an index" in refusal(f"{folder}{name}", None, tree).message

    @pytest.mark.parametrize("slug", ["concepts/Keys", "concepts/KEYS", "concepts/build/Cache", "concept/keys"])
    def test_name_the_page_that_is_called_alike(self, slug: str) -> None:
        existing = {"concepts/build/Cache": "concepts/build/cache"}.get(slug, "concepts/keys")
        assert f"slug: {existing} exists — change that page" in refusal(slug).message

    def test_count_composed_and_decomposed_letters_as_the_same(self) -> None:
        tree = tree_of({"concepts/u\u0308ber.md": ""})
        assert "slug: concepts/u\u0308ber exists" in refusal("concepts/\u00fcber", None, tree).message

    @pytest.mark.parametrize("slug", ["Concepts/x", "CONCEPTS/build/x"])
    def test_name_the_folder_that_is_called_alike(self, slug: str) -> None:
        assert "the wiki spells the folder concepts/ — spell it so" in refusal(slug).message

    def test_do_not_mind_a_folder_that_is_spelled_in_two_ways(self) -> None:
        assert target("Concepts/x", None, "Concepts/y.md") == ("Concepts/x", "concepts", False)
        assert target("concepts/x", None, "Concepts/y.md") == ("concepts/x", "concepts", False)

    def test_are_for_a_file_where_a_folder_is_needed_and_the_reverse(self) -> None:
        assert "concepts/a is in the way" in refusal("concepts/a/b", None, tree_of({"concepts/a": ""})).message
        assert "concepts/a.md/b is in the way" in refusal("concepts/a", None, tree_of({"concepts/a.md/b": ""})).message

    @pytest.mark.parametrize("mode", [0o120000, 0o160000])
    def test_are_for_what_is_no_regular_file(self, mode: int) -> None:
        tree = [TreeEntry("concepts/a.md", mode, "0" * 40, 1)]
        assert "concepts/a.md is no regular file" in refusal("concepts/a", None, tree).message

    def test_let_a_page_stand_beside_the_folder_of_its_name(self) -> None:
        assert target("concepts/build") == ("concepts/build", "concepts", False)

    def test_leave_room_for_the_longest_names(self) -> None:
        name = "x" * (MAX_NAME - 3)
        assert target(name, "raw") == (f"raw/{name}", "raw", False)


ANY_SLUG = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)
LIKELY_SLUG = st.lists(
    st.sampled_from("a B é ü 字 . / - _ ~ # % ( ) [ ] & ' , + = ; ! @ ^ ` { } concepts/ raw/ wiki/ .md con".split(" ")),
    max_size=12,
).map("".join)


@given(ANY_SLUG | LIKELY_SLUG, st.none() | st.sampled_from(TYPES))
@settings(deadline=None, max_examples=500)
@example("concepts/c#", None)
@example("100%", "concepts")
@example("a [b] (c)", "concepts")
def test_whatever_is_accepted_is_read_back_under_that_very_name(slug: str, type_: str | None) -> None:
    with suppress(InvalidArgument):
        found = find_target(slug, type_, TREE)
        (page,) = read({found.path: "# A\n"}).pages
        assert page.slug == found.slug == clean_slug(found.slug)
        assert page.type == found.type
        assert found.slug in {slug, f"{type_}/{slug}"}
        found.path.encode()
        if type_ is not None:
            assert canonical_type(type_) == found.type


@given(ANY_SLUG, ANY_SLUG, st.lists(ANY_SLUG, max_size=3))
@settings(deadline=None)
def test_no_words_and_no_tree_bring_another_error(slug: str, type_: str, paths: list[str]) -> None:
    with suppress(InvalidArgument):
        find_target(slug, type_, [TreeEntry(path, 0o100644, "0" * 40, 0) for path in paths])
