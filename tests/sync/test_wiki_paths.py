"""Which files of a wiki are pages, and that looking for one never takes long."""

from __future__ import annotations

import pytest

from tests.support.wikis import listed, read


@pytest.mark.parametrize(
    "path",
    [
        "a\nb.md",
        "a\tb.md",
        "\x1b[31mred.md",
        "del\x7f.md",
        "c1\x9b31m.md",
        "back\\slash.md",
        "\0.md",
        "n" * 1001 + ".md",
    ],
)
def test_a_file_that_no_slug_can_name_is_no_page(path: str) -> None:
    assert [page.slug for page in read({path: "# A\n", "good.md": "# G\n"}).pages] == ["good"]


@pytest.mark.parametrize(
    "path",
    [" lead.md", "trail .md", "a.md.md", "--config=x.md", "$(id).md", "rtl\u202e.md", "c:d.md", "n" * 1000 + ".md"],
)
def test_a_file_with_any_other_name_is_one(path: str) -> None:
    assert [page.slug for page in read({path: "# A\n"}).pages] == [path.removesuffix(".md")]


def test_a_target_of_combining_signs_alone_leads_nowhere_in_time() -> None:
    assert listed("[x](<a" + "\u0301\u0323" * 100_000 + ">)\n[y](b.md)\n", "b.md") == ["b"]
