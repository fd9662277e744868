"""Names of branches: git takes each, and no two pages have the same."""

from __future__ import annotations

import pytest
from dulwich.refs import Ref, check_ref_format
from hypothesis import given
from hypothesis import strategies as st

from sync.proposal_branch import MAX_NAME, branch_name

HOSTILE = st.text(
    st.sampled_from([*"ab./@{%~^:?*[\\ -lockLOCK2DE", "字", "\x7f", "\ud800", "é"]), min_size=1, max_size=30
)
SLUGS = HOSTILE.filter(lambda slug: all(slug.split("/")))


@pytest.mark.parametrize(
    ("slug", "branch"),
    [
        ("concepts/cache-keys", "knowledge/concepts/cache-keys"),
        ("concepts/build/cache-keys", "knowledge/concepts/build/cache-keys"),
        ("concepts/字 a", "knowledge/concepts/字%20a"),
        ("concepts/a..b", "knowledge/concepts/a.%2Eb"),
        ("concepts/a@{b", "knowledge/concepts/a%40{b"),
        ("concepts/poetry.lock", "knowledge/concepts/poetry%2Elock"),
        ("concepts/v1.2", "knowledge/concepts/v1.2"),
        (".hidden/a.", "knowledge/%2Ehidden/a%2E"),
        ("concepts/~^:?*[\\", "knowledge/concepts/%7E%5E%3A%3F%2A%5B%5C"),
        ("concepts/50%25", "knowledge/concepts/50%2525"),
    ],
)
def test_a_page_is_proposed_on_a_branch_of_its_name(slug: str, branch: str) -> None:
    assert branch_name(slug) == branch


def test_a_second_branch_of_a_page_has_a_name_that_no_page_has() -> None:
    assert branch_name("concepts/a", 2) == "knowledge-2/concepts/a"


@given(SLUGS | SLUGS.map(lambda slug: slug * 40), st.integers(1, 9))
def test_git_and_forges_take_each_name(slug: str, number: int) -> None:
    name = branch_name(slug, number)
    assert check_ref_format(Ref(f"refs/heads/{name}".encode()))
    assert len(name) <= MAX_NAME
    assert max(len(part.encode()) for part in name.split("/")) + len(".lock") <= 255


@given(SLUGS, SLUGS)
def test_no_two_pages_share_one(slug: str, other: str) -> None:
    assert (branch_name(slug) == branch_name(other)) == (slug == other)


@pytest.mark.parametrize("slug", ["concepts/" + "a" * 300, "concepts/" + "字" * 80, "concepts/" + "a/" * 60 + "b"])
def test_one_that_is_too_long_is_cut_and_still_its_own(slug: str) -> None:
    assert branch_name(slug) != branch_name(slug + "x")
    assert branch_name(slug).startswith(f"knowledge/{slug[:20]}")
