"""Any answer at all is data or one of our errors, and nothing else."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import KnowledgeError
from sync.exchange import Response
from sync.forge.gitea import outcomes, protocol, refusals, settling
from sync.forge.gitea.failures import new_name
from sync.forge.gitea.site import Site
from sync.forge.writing import Change, Edit
from tests.fake_gitea.recordings import load

SITE = Site.of("https://git.example.test")
EDIT = Edit("m", (Change(".wiki/concepts/retry.md", b"# Retry\n", None),), new_branch="knowledge/retry")
Reader = Callable[[Response], object]
READERS: dict[str, Reader] = {
    "repo_page": lambda response: protocol.repo_page(response, SITE, "main"),
    "repo": lambda response: protocol.repo(response, SITE, "main"),
    "tree_page": lambda response: protocol.tree_page(response, SITE),
    "file_contents": lambda response: protocol.file_contents(response, SITE, [".wiki/link.md", "b"], 100),
    "raw": lambda response: protocol.raw(response, SITE, "a"),
    "new_name": lambda response: new_name(response, SITE),
    "standing": lambda response: outcomes.standing(response, SITE),
    "branch": lambda response: outcomes.branch(response, SITE),
    "last_change": lambda response: outcomes.last_change(response, SITE),
    "written": lambda response: outcomes.written(response, SITE, EDIT),
    "opened": lambda response: outcomes.opened(response, SITE),
    "filed": lambda response: outcomes.filed(response, SITE),
    "pull": lambda response: outcomes.pull(response, SITE),
    "pulls": lambda response: outcomes.pulls(response, SITE),
    "labels": lambda response: outcomes.labels(response, SITE),
    "issues": lambda response: outcomes.issues(response, SITE),
    "is_carried_out": lambda response: settling.is_carried_out(response, SITE),
    "of_commit": lambda response: refusals.of_commit(response, SITE, "acme/web", EDIT),
    "of_issue": lambda response: refusals.of_issue(response, SITE, "acme/web"),
}
RECORDED = {
    "repo_page": [load("repo").json],
    "repo": load("repo").json,
    "tree_page": load("tree-root").json,
    "file_contents": load("file-contents-symlink").json,
    "standing": load("repo").json,
    "branch": load("branch").json,
    "last_change": load("commits-of-path").json,
    "written": load("contents-new-branch-on-protected").json,
    "opened": load("pull-create").json,
    "filed": load("issue-create").json,
    "pull": load("pull-by-base-head").json,
    "pulls": load("pulls-list").json,
    "labels": load("labels-list").json,
    "issues": load("issue-list-since").json,
}

texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from(["file", "base64", "a" * 40]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
headers = st.dictionaries(
    st.sampled_from(["link", "x-total-count", "location", "etag", "content-type", "x-gitea-object-type"]),
    texts | st.sampled_from(['<https://git.example.test/?page=2>; rel="last"', "/api/v1/repos/a/b", "symlink"]),
)
statuses = st.sampled_from([200, 201, 204, 301, 304, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503]) | st.integers(
    100, 999
)


@pytest.mark.parametrize("reader", READERS)
@given(
    status=statuses, headers=headers, body=st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode())
)
def test_any_status_headers_and_body(reader: str, status: int, headers: dict[str, str], body: bytes) -> None:
    with suppress(KnowledgeError):
        READERS[reader](Response(status, headers, body))


@pytest.mark.parametrize("reader", RECORDED)
@given(data=st.data())
def test_a_real_answer_with_any_one_value_replaced(reader: str, data: st.DataObject) -> None:
    answer = json.loads(json.dumps(RECORDED[reader]))
    place = answer
    while isinstance(place, list | dict) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], list | dict) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(values)
            break
        place = place[key]
    with suppress(KnowledgeError):
        READERS[reader](Response(200, {}, json.dumps(answer).encode()))
