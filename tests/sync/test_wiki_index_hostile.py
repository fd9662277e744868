"""No input makes the reader raise, loop, or keep others from running."""

from __future__ import annotations

from contextlib import suppress

import anyio
import anyio.to_thread
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.model import MAX_INDEX, TreeEntry
from sync.page import facts, first_prose, headings, section
from sync.wiki_index import MAX_SUB_INDEXES, MAX_TEXT, IndexMalformed, Reading, decode_index, find_index, read_wiki
from sync.wiki_links import MAX_LINKS
from tests.support.wikis import read, tree_of

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=400)
TOKENS = (
    *"[ ] ( ) [[ ]] | ! ` ``` ~~~ * _ < > <!-- --> # - + 1. : / .. . % & \\ a b.md p/ é".split(),
    *(" ", "    ", "\t", "\n", "\n\n", "\r\n", "[a](b.md)", "[[b]]", "|-|-|\n", "---\n", "\ufeff", "\0", "\ud800"),
)
MARKUP = st.lists(st.sampled_from(TOKENS), max_size=120).map("".join)
PATHS = ("index.md", "b.md", "p/index.md", "p/b.md", "p/README.md", "raw/a.md", "x.txt", ".md", "é/\udcff.md")


def read_all(texts: dict[str, str], tree: list[TreeEntry]) -> Reading:
    """Drive the reader to the end, which has to come."""
    indexes: dict[str, str | None] = {}
    for _ in range(len(tree) + 1):
        reading = read_wiki(tree, indexes, {})
        if not reading.wanted:
            return reading
        assert not set(reading.wanted) & indexes.keys()
        indexes |= {path: texts.get(path) for path in reading.wanted}
    raise AssertionError("wanted more files than there are")


class TestNoTextMakesItRaiseOrLoop:
    @given(st.dictionaries(st.sampled_from(PATHS), ANY_TEXT | MARKUP))
    @settings(deadline=None, max_examples=300)
    def test_in_an_index(self, texts: dict[str, str]) -> None:
        tree = tree_of(dict.fromkeys(PATHS, "") | texts)
        pages = read_all(texts, tree).pages
        assert sorted(page.slug for page in pages) == ["b", "p/README", "p/b", "p/index", "raw/a", "é/\udcff"]
        assert [page.position for page in pages] == list(range(len(pages)))

    @given(st.lists(ANY_TEXT, max_size=5), ANY_TEXT)
    @settings(deadline=None)
    def test_in_a_path(self, paths: list[str], target: str) -> None:
        tree = [TreeEntry(path, 0o100644, "0" * 40, 0) for path in dict.fromkeys(["index.md", *paths])]
        index = f"[a](<{target}>) [b]({target}) [[{target}]] `[[{target}]]`\n\n|a|\n|-|\n|{target}|\n"
        reading = read_all(dict.fromkeys(["index.md", *paths], index), tree)
        assert {page.slug for page in reading.pages} <= {path[:-3] for path in paths}
        find_index(paths)

    @given(ANY_TEXT | MARKUP)
    @settings(deadline=None, max_examples=200)
    def test_in_a_page(self, text: str) -> None:
        facts(text)
        first_prose(text)
        for heading in headings(text):
            assert section(text, heading.text) is not None or not heading.text
        section(text, text)

    @given(st.binary(max_size=200))
    def test_in_bytes(self, data: bytes) -> None:
        with suppress(IndexMalformed):
            assert decode_index(data).encode() == data


HOSTILE = {
    "open brackets": "[" * MAX_INDEX,
    "open wikilinks": "[[a|" * (MAX_INDEX // 4),
    "embeds in embeds": '![[---"' * (MAX_INDEX // 22) + "](]]" * (MAX_INDEX // 22),
    "quotes in quotes": ">" * (MAX_INDEX // 2) + "a\n" + "b\n" * (MAX_INDEX // 4),
    "lists in lists": "- " * (MAX_INDEX // 4) + "a\n" + "b\n" * (MAX_INDEX // 4),
    "a wide table": "|a" * (MAX_INDEX // 6) + "|\n" + "|-" * (MAX_INDEX // 6) + "|\n" + "|b" * (MAX_INDEX // 6) + "|\n",
    "one paragraph": "[a](b.md) " * (MAX_INDEX // 10),
    "headings": "# h\n" * (MAX_INDEX // 4),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.anyio
async def test_a_hostile_megabyte_leaves_the_event_loop_running(name: str) -> None:
    turns = 0
    done = anyio.Event()

    async def count() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            await anyio.sleep(0.001)

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        tree = tree_of({"index.md": "", "b.md": ""})
        reading = await anyio.to_thread.run_sync(read_wiki, tree, {"index.md": HOSTILE[name]}, {})
        done.set()
    assert [page.slug for page in reading.pages] == ["b"]
    assert turns > 2


class TestBounds:
    def test_more_links_than_any_index_has_are_not_read(self) -> None:
        count = MAX_LINKS + 10
        files = {"index.md": "".join(f"- [t](p{n}.md)\n" for n in range(count))}
        pages = read(files | dict.fromkeys((f"p{n}.md" for n in range(count)), "")).pages
        assert (len(pages), sum(page.listed for page in pages)) == (count, MAX_LINKS)

    def test_more_sub_indexes_than_any_wiki_has_are_not_read(self) -> None:
        count = MAX_SUB_INDEXES + 5
        files = {"index.md": "".join(f"- [t](p{n}/)\n" for n in range(count))} | {
            f"p{n}/index.md": "" for n in range(count)
        }
        reading = read_wiki(tree_of(files), {"index.md": files["index.md"]}, {})
        assert len(reading.wanted) == MAX_SUB_INDEXES

    def test_more_text_than_any_wikis_indexes_have_is_not_read(self) -> None:
        count = MAX_TEXT // MAX_INDEX + 1
        root = "".join(f"- [t](p{n}/)\n" for n in range(count))
        files = {"index.md": root} | {f"p{n}/index.md": "[x](x.md)\n" + " " * (MAX_INDEX - 10) for n in range(count)}
        pages = read(files | {f"p{n}/x.md": "" for n in range(count)}).pages
        assert sum(page.listed for page in pages) == count + (count - 2)

    def test_folders_may_be_nested_deeply(self) -> None:
        deep = "a/" * 400 + "b.md"
        (page,) = read({"index.md": f"[t]({deep})", deep: ""}).pages
        assert (page.slug, page.listed) == (deep[:-3], True)

    def test_many_pages_of_one_name_are_ambiguous_at_once(self) -> None:
        files = {f"{n}/same.md": "" for n in range(2_000)}
        assert read(files | {"index.md": "[[same]] [[SAME]] " * 1_000}).ambiguous == 2_000
