"""What is asked of a forge, beside the forge's own description of what may be asked."""

import inspect
import json
import re
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.forge.gitea import calls
from sync.forge.gitea.calls import Call
from sync.forge.writing import Change, Edit
from tests.fake_gitea.describe import description
from tests.fake_gitea.recordings import load

NAME = "acme/node-utils"
SHA = "483b4d3534adc1bfa38ef8b1308bf3cd9aeb0084"
ODD = "Über Größe 50% #1?.md"


EVERY_CALL = [
    calls.version(),
    calls.api_settings(),
    calls.current_user(),
    calls.one_repo(),
    calls.no_commit(),
    calls.no_issue(),
    calls.user_repos(2),
    calls.repos_of_user("alice", 1),
    calls.repos_of_org("acme", 1),
    calls.repo(NAME),
    calls.tree(NAME, "feature/a b"),
    calls.tree(NAME, SHA, page=2, recursive=True),
    calls.raw(NAME, f".wiki/sources/{ODD}", ref=None, limit=10),
    calls.raw(NAME, ".wiki/a.md", ref=SHA, limit=10, known=SHA),
    calls.file_contents(NAME, [f".wiki/{ODD}", "STATUS.md"], ref=SHA),
    calls.file_contents(NAME, ["STATUS.md"], ref=None, by_get=True),
    calls.branch(NAME, "knowledge/a b"),
    calls.history(NAME, f".wiki/{ODD}", branch=None),
    calls.history(NAME, ".wiki/a.md", branch="knowledge/a b"),
    calls.commit(NAME, Edit("m", (Change("a.md", b"x", SHA),), "main", "knowledge/a")),
    calls.pull(NAME, "feature/a b", "knowledge/50%"),
    calls.open_pulls(NAME, "main", 2),
    calls.propose(NAME, base="main", head="knowledge/a", title="t", body="b"),
    calls.labels_of_repo(NAME, 1),
    calls.labels_of_org("acme", 1),
    calls.file_issue(NAME, title="t", body="b", labels=[1]),
    calls.issues(NAME, "2026-11-30T00:00:00Z", 1),
]


def described(method: str, path: str) -> Any:
    """The description of the operation that answers ``method`` on ``path`` (below the API's root)."""
    for template, operations in description()["paths"].items():
        pattern = re.sub(r"\{(filepath|branch)\}", ".+", template)
        pattern = re.sub(r"\{\w+\}", "[^/]+", pattern)
        if re.fullmatch(pattern, path) and method.lower() in operations:
            return operations[method.lower()]
    raise AssertionError(f"no such operation: {method} {path}")


@pytest.mark.parametrize("call", EVERY_CALL, ids=lambda call: call.target)
def test_no_call_is_made_that_the_forge_does_not_describe(call: Call) -> None:
    path, _, query = call.target.removeprefix(description()["basePath"]).partition("?")
    parameters = described(call.method, path)["parameters"] if query or call.body else []
    allowed = {parameter["name"] for parameter in parameters if parameter["in"] == "query"}
    assert {name for name, _ in parse_qsl(query)} <= allowed
    assert bool(call.body) == any(parameter["in"] == "body" for parameter in parameters)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (calls.repo(NAME), "repo"),
        (calls.repo("acme/Web.App_2"), "repo-dotted-name"),
        (calls.raw(NAME, ".wiki/index.md", ref="main", limit=1), "raw-index"),
        (calls.raw(NAME, ".wiki/sources/Über Größe 50% #1.md", ref="main", limit=1), "raw-unicode-path"),
        (
            calls.file_contents(NAME, [".tasks/STATUS.md", ".wiki/index.md", "STATUS.md"], ref="main"),
            "file-contents-batch",
        ),
        (calls.user_repos(2), "user-repos-page-2"),
        (calls.branch(NAME, "main"), "branch"),
        (calls.pull("alice/proj-005", "main", "knowledge/retry"), "pull-by-base-head"),
        (
            calls.propose(
                "alice/proj-005", base="main", head="knowledge/retry", title="Knowledge: retry", body="One page."
            ),
            "pull-create",
        ),
        (calls.file_issue("alice/proj-000", title="Labelled", body="b", labels=[1]), "issue-create-with-label"),
        (
            calls.commit(
                "alice/proj-005",
                Edit(
                    "wiki: retry",
                    (Change(".wiki/concepts/retry.md", b"# Retry\n", None),),
                    branch="main",
                    new_branch="knowledge/retry",
                ),
            ),
            "contents-new-branch-on-protected",
        ),
    ],
)
def test_a_call_goes_out_as_it_was_recorded(call: Call, name: str) -> None:
    recorded = load(name)
    assert (call.method, call.target) == (recorded.method, recorded.target)
    assert (json.loads(call.body) if call.body else None) == recorded.sent


def test_every_call_is_tried() -> None:
    """Whatever is added to the calls is to be held against the description, too."""
    source = Path(inspect.getfile(test_every_call_is_tried)).read_text(encoding="utf-8")
    listed = source.partition("EVERY_CALL = [")[2].partition("\n]\n")[0]
    functions = inspect.getmembers(calls, inspect.isfunction)
    makers = {name for name, function in functions if name[0] != "_" and get_type_hints(function).get("return") is Call}
    assert {name for name in makers if f"calls.{name}(" not in listed} == set()


def test_what_writes_is_never_sent_again_by_itself() -> None:
    trials = (calls.no_commit(), calls.no_issue())  # which are refused whatever happens
    writing = {"contents", "issues", "pulls"}
    posts = [call for call in EVERY_CALL if call.method == "POST" and call.segments[-1] in writing]
    assert [call for call in posts if call.idempotent] == list(trials)
    assert len(posts) == len(trials) + 3


def test_a_commit_says_of_each_file_what_was_read() -> None:
    edit = Edit("m", (Change("new.md", b"\xff", None), Change("old.md", b"", SHA)))
    assert json.loads(calls.commit(NAME, edit).body) == {
        "message": "m",
        "files": [
            {"operation": "create", "path": "new.md", "content": "/w=="},
            {"operation": "update", "path": "old.md", "content": "", "sha": SHA},
        ],
    }


def test_a_known_blob_is_asked_for_on_condition() -> None:
    assert ("If-None-Match", f'"{SHA}"') in calls.raw(NAME, "a.md", ref=None, limit=1, known=SHA).headers


def test_a_renamed_repository_is_asked_for_the_same() -> None:
    call = calls.file_contents(NAME, ["STATUS.md"], ref=SHA)
    moved = call.of("bob/tools")
    assert moved.target == f"/api/v1/repos/bob/tools/file-contents?ref={SHA}"
    assert (moved.method, moved.body) == (call.method, call.body)


def test_a_call_knows_the_repository_it_is_about() -> None:
    assert calls.raw(NAME, "a.md", ref=None, limit=1).repo == NAME
    assert calls.user_repos(1).repo is None


@pytest.mark.parametrize("dots", [".", ".."])
def test_dots_alone_are_no_way_up(dots: str) -> None:
    assert f"/{dots}" not in calls.tree(NAME, dots).target


paths = st.lists(st.text(min_size=1, max_size=8).filter(lambda part: "/" not in part), min_size=1, max_size=4).map(
    "/".join
)


@given(path=paths, ref=st.none() | st.text(min_size=1, max_size=10))
def test_each_part_of_a_path_is_encoded_once(path: str, ref: str | None) -> None:
    if not calls.is_path(path) or not calls.is_text(ref or ""):
        return
    target = urlsplit("https://git.example.test" + calls.raw(NAME, path, ref=ref, limit=1).target)
    prefix = "/api/v1/repos/acme/node-utils/raw/"
    assert [unquote(part, errors="strict") for part in target.path.removeprefix(prefix).split("/")] == path.split("/")
    assert parse_qsl(target.query, keep_blank_values=True) == ([] if ref is None else [("ref", ref)])
    assert target.fragment == ""
    assert re.fullmatch(r"[A-Za-z0-9%._~/-]+", target.path)


@pytest.mark.parametrize("path", ["a.md", ".wiki/a b.md", "50%25.md", "a\nb.md", "…", "a/...", "con"])
def test_what_git_can_hold_is_a_path(path: str) -> None:
    assert calls.is_path(path)


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\0b", "\ud800"])
def test_what_git_cannot_hold_is_none(path: str) -> None:
    assert not calls.is_path(path)


@pytest.mark.parametrize("name", ["acme/web", "a/b.c", "ACME/Web.App_2", "…/x"])
def test_an_owner_and_a_name_are_a_full_name(name: str) -> None:
    assert calls.is_full_name(name)


@pytest.mark.parametrize("name", ["", "web", "a/b/c", "/b", "a/", "../b", "a/..", "a/b\n", "a/\ud800"])
def test_anything_else_is_none(name: str) -> None:
    assert not calls.is_full_name(name)
