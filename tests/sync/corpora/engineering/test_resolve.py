"""Which document a caller means: path before name before title, and nothing where several fit."""

from __future__ import annotations

import pytest

from cache.errors import Ambiguous, InvalidPath, NotFound
from sync.corpora.engineering.resolve import resolve

TITLES = {
    "knowledge/api/auth.md": "API auth",
    "knowledge/frontend/auth.md": "Web auth",
    "knowledge/api/APIM.md": "Gateway",
    "knowledge/general/cafe\u0301.md": "Coffee",
    "knowledge/top.md": "CI/CD",
    "knowledge/a/top.md": "Other",
    "knowledge/b/Straße.md": "Strasse",
    "inbox/knowledge-inbox.md": "Knowledge inbox",
}


def found(reference: str, titles: dict[str, str] | None = None) -> str:
    return resolve(reference, titles or TITLES, lambda _: None)


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("knowledge/api/auth.md", "knowledge/api/auth.md"),
        ("knowledge/api/auth", "knowledge/api/auth.md"),
        ("api/auth", "knowledge/api/auth.md"),
        ("api/auth.md", "knowledge/api/auth.md"),
        ("API/AUTH.MD", "knowledge/api/auth.md"),
        ("api/apim", "knowledge/api/APIM.md"),
        ("apim", "knowledge/api/APIM.md"),
        ("gateway", "knowledge/api/APIM.md"),
        ("caf\u00e9", "knowledge/general/cafe\u0301.md"),
        ("CAFE\u0301.md", "knowledge/general/cafe\u0301.md"),
        ("top", "knowledge/top.md"),
        ("ci/cd", "knowledge/top.md"),
        ("STRASSE", "knowledge/b/Straße.md"),
        ("inbox/knowledge-inbox.md", "inbox/knowledge-inbox.md"),
    ],
)
def test_each_way_to_name_it_leads_there(reference: str, path: str) -> None:
    assert found(reference) == path


def test_a_name_that_fits_several_names_them_all() -> None:
    with pytest.raises(Ambiguous) as refused:
        found("Auth")
    assert refused.value.candidates == ("knowledge/api/auth.md", "knowledge/frontend/auth.md")


def test_paths_that_differ_in_case_alone_are_told_apart_by_it() -> None:
    titles = {"knowledge/a/X.md": "1", "knowledge/a/x.md": "2"}
    assert found("a/X", titles) == "knowledge/a/X.md"
    with pytest.raises(Ambiguous):
        found("A/x", titles)


def test_a_title_that_several_have_is_ambiguous() -> None:
    with pytest.raises(Ambiguous):
        found("same", {"knowledge/a/x.md": "Same", "knowledge/a/y.md": "same"})


def test_of_many_candidates_some_are_named() -> None:
    with pytest.raises(Ambiguous) as refused:
        found("x", {f"knowledge/a{number}/x.md": "" for number in range(40)})
    assert refused.value.candidates[-1] == "and 20 more"


@pytest.mark.parametrize("reference", ["nope", "knowledge-inbox", "Knowledge inbox", "inbox", "api"])
def test_a_miss_says_what_was_asked_for(reference: str) -> None:
    with pytest.raises(NotFound) as refused:
        found(reference)
    assert refused.value.reason == f"no knowledge document found matching '{reference}'"


def test_a_slip_is_answered_with_what_may_be_meant() -> None:
    with pytest.raises(NotFound) as refused:
        found("api/authn")
    assert "api/auth" in refused.value.suggestions


def test_what_is_in_the_way_of_an_exact_path_is_told_and_no_name_is_tried() -> None:
    with pytest.raises(InvalidPath, match="topicOrPath: it is a link"):
        resolve("auth", TITLES, lambda path: "it is a link" if path == "knowledge/auth.md" else None)
