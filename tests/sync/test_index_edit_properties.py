"""Whatever an index holds, an edit lists one page as it should and keeps all else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from cache.errors import Conflict, InvalidArgument
from cache.model import Page
from sync import front_matter
from sync.index_edit import edit_index
from sync.index_style import Entry
from sync.inline import one_line
from sync.page_edit import compose_page
from sync.wiki_index import IndexMalformed, decode_index
from sync.wiki_links import read_links, trim
from sync.wiki_paths import Miss, WikiTree
from sync.wiki_titles import TYPES, canonical_type, repeats_path
from tests.support.wikis import read, tree_of

KNOWN = (
    "concepts/a.md", "concepts/b c.md", "concepts/字.md", "entities/a.md", "raw/x(1).md", "guides/deploy.md",
    "parts/index.md", "parts/engine.md", "top.md",
)  # fmt: skip

WORDS = st.lists(
    st.sampled_from(
        [*"aZé字1 \\`*_[]()<>&~!|#-+:;'\"^$@{}=.—", "&amp;", "<br>", "[[concepts/a]]", "[a](top.md)", "`x`"]
    ),
    max_size=12,
).map("".join)
TITLES = WORDS.map(lambda words: one_line(words, "title", 300)).filter(bool)
DESCRIPTIONS = st.just("") | WORDS.map(lambda words: one_line(words, "description", 500)).map(
    lambda words: words if trim(words) else ""
)
SLUGS = st.sampled_from(["new", "new page", "c#", "50%", "a (b)", "新", "x_y", "deep/er/new", "[x]", "deploy", "it's"])


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    type_ = draw(st.sampled_from(TYPES))
    path = draw(SLUGS.map(lambda slug: f"{type_}/{slug}.md") | st.sampled_from(KNOWN[:-3]))
    folder = canonical_type(path.partition("/")[0])
    title = draw(TITLES)
    titled = draw(st.booleans()) or repeats_path(title, path.removesuffix(".md"))
    return Entry(path, folder if folder in TYPES else "other", title, draw(DESCRIPTIONS), titled)


@st.composite
def links(draw: st.DrawFn) -> str:
    path = draw(st.sampled_from([*KNOWN, "gone.md"]))
    slug = path.removesuffix(".md")
    return draw(
        st.sampled_from(
            [
                f"[Title]({path.replace(' ', '%20')})",
                f"[*Em* `code` [x]](<{path}>)",
                f"[T](./{slug.replace(' ', '%20')})",
                f"[T](<.wiki/{path}>)",
                f"**[T](<{path}>)**",
                f"[[{slug}]]",
                f"[[{slug}|A title]]",
                f"[[{slug.rpartition('/')[2]}]]",
                f"`[[{slug}]]`",
                f"[T](<{path}> 'tip')",
                "[RFC](https://example.test)",
                "plain",
            ]
        )
    )


@st.composite
def items(draw: st.DrawFn) -> str:
    marker = draw(st.sampled_from(["- ", "* ", "+ ", "-   ", " - ", "-\t", "{}. ", "{}) ", "- [ ] ", "- [x] "]))
    separator = draw(st.sampled_from([" — ", " - ", ": ", " – ", " → ", " ", "—"]))
    gap = draw(st.sampled_from(["", "", "\n"]))
    step = draw(st.sampled_from([0, 1]))
    lines = []
    for number in range(draw(st.integers(1, 4))):
        words = draw(st.sampled_from(["", f"{separator}what it is", f"{separator}see [[top]] | too"]))
        more = draw(
            st.sampled_from(["", "", "", "\n  more", "\n  - nested", "\n  - [N](top.md)", "\n\n  ```\n  x\n  ```"])
        )
        lines.append(marker.format(1 + number * step) + draw(links()) + words + more)
    return f"\n{gap}".join(lines) + "\n"


@st.composite
def tables(draw: st.DrawFn) -> str:
    head = draw(
        st.sampled_from(["| Page | What |\n|---|---|", "Page | What\n--|:-:", "|a|b|c|\n|-|-|-|", "| Page |\n|---|"])
    )
    rows = [head]
    for _ in range(draw(st.integers(0, 3))):
        link = draw(links() | st.sampled_from(["concepts/a.md", "`top`"])).replace("|", "\\|")
        rows.append(draw(st.sampled_from([f"| {link} | what |", f"{link} | what", f"|x|{link}|y|", f"| {link} |"])))
    return "\n".join(rows) + "\n"


HEADINGS = st.builds(
    lambda level, name, style: {
        "atx": f"{'#' * level} {name}\n", "closed": f"{'#' * level} {name} {'#' * level}\n",
        "setext": f"{name}\n{'=-'[level % 2] * 7}\n", "indented": f"  {'#' * level} {name}\n",
    }[style],
    st.integers(1, 4),
    st.sampled_from([*TYPES, "Concepts", "ENTITIES", "Source", "Package", "**Raw**", "Wiki", "Other", "Überblick"]),
    st.sampled_from(["atx", "atx", "atx", "closed", "setext", "indented"]),
)  # fmt: skip
OTHERS = st.sampled_from(
    [
        "Prose.\n", "See [A](concepts/a.md) first.\n", "```\n## Concepts\n- [A](concepts/a.md)\n```\n", "~~~\nopen\n",
        "<!--\n## Raw\n-->\n", "<!-- open\n", "<div>\n", "> - [A](concepts/a.md)\n", "***\n", "    code\n", "- plain\n",
        "[ref]: top.md\n", "[ref]\n", "\t\n", "text with trailing  \n", "---\nx: y\n---\n", "| a | b |\n", "\\\n",
    ]
)  # fmt: skip
FRONTS = st.sampled_from(
    ["", "", "", "---\ntitle: Index\n---\n", "---\na: b\n...\n\n", "---\nnever: closed\n", "---\n---"]
)
INDEXES = st.builds(
    lambda bom, front, parts, glue, end, cut: (
        bom + (front + glue.join(parts)).rstrip("\n" if cut else "").replace("\n", end)
    ),
    st.sampled_from(["", "", "\ufeff"]),
    FRONTS,
    st.lists(HEADINGS | HEADINGS | items() | items() | tables() | OTHERS, max_size=9),
    st.sampled_from(["\n", "\n", "", "\n\n\n"]),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
    st.booleans(),
)
TOKENS = (
    *"[ ] ( ) [[ ]] | ! ` ``` ~~~ * _ < > <!-- --> # - + 1. : / .. . % & \\ a é 字".split(),
    *(
        " ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "[a](concepts/a.md)",
        "[[top]]",
        "|-|-|\n",
        "---\n",
        "## Concepts\n",
        "\ufeff",
    ),
)
GARBAGE = st.lists(st.sampled_from(TOKENS), max_size=60).map("".join) | st.text(max_size=100)


@dataclass(frozen=True)
class Outcome:
    """An edit that was made: the index before and after, with the pages as the reader sees them then."""

    entry: Entry
    old: bytes
    new: bytes
    before: dict[str, Page]
    after: dict[str, Page]


def pages(index: bytes, entry: Entry) -> dict[str, Page]:
    """The pages by path; the entry's says its own title if it is said to."""
    body = compose_page(entry.title, "# Another title" if not entry.titled else "text", None, "x").data.decode()
    files = dict.fromkeys(KNOWN, "") | {"index.md": decode_index(index), entry.path: body}
    return {f"{page.slug}.md": page for page in read(files, bodies=True).pages}


def edited(index: str, entry: Entry, *paths: str) -> Outcome | None:
    """The edit of an index in a wiki of the known pages and those at ``paths``; ``None`` if it is refused."""
    old = index.encode()
    try:
        before = pages(old, entry)
        new = edit_index(old, entry, tree_of(dict.fromkeys(["index.md", *KNOWN, *paths], "")), "index.md")
    except (Conflict, InvalidArgument, IndexMalformed):
        return None
    return Outcome(entry, old, new, before, pages(new, entry))


def check(outcome: Outcome) -> None:
    page, so_far = outcome.after[outcome.entry.path], outcome.before[outcome.entry.path]
    assert others(outcome.after, page) == others(outcome.before, so_far)
    assert page.listed
    if so_far.listed:
        check_altered(outcome.entry, so_far, page)
    else:
        check_added(outcome.entry, page)
        check_bytes(outcome.old, outcome.new)
    again = edited(outcome.new.decode(), outcome.entry, outcome.entry.path)
    assert again is not None
    assert again.new == outcome.new


def others(pages: dict[str, Page], page: Page) -> list[Page]:
    """All pages but one, in order."""
    return [replace(each, position=0) for each in pages.values() if each != page]


def check_altered(entry: Entry, before: Page, after: Page) -> None:
    assert after.section == before.section
    assert after.title in {before.title, entry.title}
    assert after.description in {before.description, trim(entry.description)}


def check_added(entry: Entry, page: Page) -> None:
    if entry.type in TYPES:
        assert canonical_type(page.section) == entry.type
    assert page.title == entry.title
    assert page.description == trim(entry.description)


def check_bytes(old: bytes, new: bytes) -> None:
    """Nothing was done but to put something in."""
    start = next((at for at, (was, now) in enumerate(zip(old, new, strict=False)) if was != now), len(old))
    end = start + len(new) - len(old)
    assert new[:start] + new[end:] == old
    assert new.decode().startswith(old.decode()[: front_matter.split(old.decode())[1]])
    if b"\n" not in old.replace(b"\r\n", b"") and b"\r\n" in old:
        assert b"\n" not in new.replace(b"\r\n", b"")


def listings(outcome: Outcome) -> int:
    """How many links of the index lead to the page."""

    def resolve(target: str, wiki: bool) -> str | Miss:
        return wiki_tree.resolve(target, "", wiki=wiki)

    wiki_tree = WikiTree(tree_of(dict.fromkeys([*KNOWN, outcome.entry.path], "")))
    return sum(link.page == outcome.entry.path for link in read_links(outcome.new.decode(), resolve))


@given(INDEXES, entries())
@settings(deadline=None, max_examples=150)
def test_an_edit_lists_the_page_and_keeps_all_else(index: str, entry: Entry) -> None:
    outcome = edited(index, entry)
    if outcome is not None:
        check(outcome)
        assert listings(outcome) == 1 or outcome.before[entry.path].listed


@given(GARBAGE, entries())
@settings(deadline=None, max_examples=150)
def test_in_whatever_text(index: str, entry: Entry) -> None:
    outcome = edited(index, entry)
    if outcome is not None:
        check(outcome)


@given(st.binary(max_size=200), entries())
@settings(deadline=None, max_examples=50)
def test_of_whatever_bytes(data: bytes, entry: Entry) -> None:
    with suppress(Conflict, InvalidArgument):
        edit_index(data, entry, [], "index.md")
