"""The fake forge offers nothing that the real one's own description does not know."""

from __future__ import annotations

import pytest

from tests.fake_gitea import Exchange
from tests.fake_gitea.app import ENDPOINTS
from tests.fake_gitea.describe import operation, parameters, undescribed
from tests.fake_gitea.routing import Endpoint

REPO = "/repos/{owner}/{repo}"


def asked(method: str, route: str, target: str, query: tuple[tuple[str, str], ...] = (), body: bytes = b"") -> Exchange:
    return Exchange(method, route, target, query, {"content-type": "application/json"}, body)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.method} {endpoint.template}")
def test_every_endpoint_is_described_with_its_parameters(endpoint: Endpoint) -> None:
    assert operation(endpoint.method, endpoint.template) is not None
    assert endpoint.query <= parameters(endpoint.method, endpoint.template).keys()


def test_a_described_request_has_no_problems() -> None:
    good = asked("GET", REPO + "/git/trees/{sha}", "/repos/a/b/git/trees/main", (("recursive", "true"), ("page", "2")))
    assert undescribed([good]) == []


@pytest.mark.parametrize(
    ("exchange", "problem"),
    [
        (asked("GET", "", "/nope"), "GET /nope: not described"),
        (
            asked("PATCH", REPO + "/branches", "/repos/a/b/branches"),
            "PATCH /repos/{owner}/{repo}/branches: not described",
        ),
        (asked("GET", "/user/repos", "/user/repos", (("size", "1"),)), "GET /user/repos: no such parameter: size"),
        (asked("GET", "/user/repos", "/user/repos", (("page", "x"),)), "GET /user/repos: parameter page cannot be 'x'"),
        (
            asked("GET", REPO + "/issues", "/repos/a/b/issues", (("state", "new"),)),
            "GET /repos/{owner}/{repo}/issues: parameter state cannot be 'new'",
        ),
        (
            asked("GET", REPO + "/file-contents", "/repos/a/b/file-contents"),
            "GET /repos/{owner}/{repo}/file-contents: the parameter body is missing",
        ),
        (asked("GET", "/user", "/user", body=b"{}"), "GET /user: no body is described"),
    ],
)
def test_an_undescribed_request_is_told(exchange: Exchange, problem: str) -> None:
    assert undescribed([exchange]) == [problem]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"files": [{"operation": "create", "path": "a", "mode": "x"}]}', "body.files[0]: Additional properties"),
        (b'{"files": [{"operation": "make", "path": "a"}]}', "body.files[0].operation: 'make' is not one of"),
        (b'{"message": "m"}', "body: 'files' is a required property"),
        (b"[", "the body is not JSON"),
    ],
)
def test_a_body_that_does_not_fit_its_description_is_told(body: bytes, problem: str) -> None:
    told = undescribed([asked("POST", REPO + "/contents", "/repos/a/b/contents", body=body)])
    assert [problem in one for one in told] == [True]
