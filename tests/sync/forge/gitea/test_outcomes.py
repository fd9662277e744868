"""How a write came out, by recorded answers and by malformed ones."""

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from cache.errors import NotFound
from sync.exchange import Response, Unreachable
from sync.forge.blobs import blob_sha
from sync.forge.gitea import outcomes
from sync.forge.gitea.outcomes import Branch, Standing
from sync.forge.gitea.site import Site
from sync.forge.writing import Change, Edit, Issue, LastChange, PullRequest, Unsettled, Written
from tests.fake_gitea.recordings import load
from tests.support.replies import replayed, reply

SITE = Site.of("https://git.example.test")


def edit_of(name: str) -> Edit:
    """What was sent in a recorded exchange."""
    sent = load(name).sent
    changes = [Change(one["path"], base64.b64decode(one["content"]), one.get("sha")) for one in sent["files"]]
    return Edit(sent["message"], tuple(changes), sent["branch"], sent.get("new_branch"))


def altered(name: str, change: Callable[[Any], None]) -> Response:
    """A recorded answer after ``change``."""
    value = json.loads(json.dumps(load(name).json))
    change(value)
    return reply(value, load(name).status)


class TestWritten:
    @pytest.mark.parametrize(
        "name", ["contents-multi-create", "contents-create-empty-repo", "contents-new-branch-on-protected"]
    )
    def test_a_recorded_commit_names_every_blob(self, name: str) -> None:
        edit = edit_of(name)
        written = outcomes.written(replayed(name), SITE, edit)
        assert written == Written(
            load(name).json["commit"]["sha"], {change.path: blob_sha(change.data) for change in edit.changes}
        )

    def test_a_sha256_repository_names_its_blobs_by_sha256(self) -> None:
        data = b"# A\n"
        name = hashlib.sha256(b"blob 4\0" + data).hexdigest()
        answer = reply({"commit": {"sha": "c" * 64}, "files": [{"path": "a", "sha": name}]}, 201)
        assert outcomes.written(answer, SITE, Edit("m", (Change("a", data, None),))).shas == {"a": name}

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (lambda value: value.pop("commit"), "no object"),
            (lambda value: value["commit"].update(sha="main"), "no sha"),
            (lambda value: value.update(files=None), "other files than were sent"),
            (lambda value: value["files"].pop(), "other files than were sent"),
            (lambda value: value["files"].reverse(), "other files than were sent"),
            (lambda value: value["files"].append(None), "no object"),
            (lambda value: value["files"][0].update(path=".wiki/a.md"), "other files than were sent"),
            (lambda value: value["files"][0].update(sha="1" * 40), "another content than was sent"),
            (lambda value: value["files"][0].update(sha="1" * 64), "another content than was sent"),
            (lambda value: value["files"][0].update(sha=None), "no sha"),
        ],
    )
    def test_an_answer_that_says_anything_else_is_unsettled(self, change: Callable[[Any], None], why: str) -> None:
        name = "contents-multi-create"
        with pytest.raises(Unsettled, match=f"{why} where the API's answer was expected"):
            outcomes.written(altered(name, change), SITE, edit_of(name))

    @pytest.mark.parametrize("body", [b"", b"<html>", b"null", b"[]", b'{"commit": '])
    def test_an_answer_that_is_none_is_unsettled(self, body: bytes) -> None:
        with pytest.raises(Unsettled):
            outcomes.written(Response(201, {}, body), SITE, edit_of("contents-multi-create"))


class TestAround:
    def test_a_repository_tells_what_can_be_done_in_it(self) -> None:
        assert outcomes.standing(replayed("repo"), SITE) == Standing(
            "acme/node-utils", "main", archived=False, mirror=False, may_push=True, has_issues=True, has_pulls=True
        )

    @pytest.mark.parametrize("missing", [{}, {"permissions": None, "archived": False}])
    def test_what_is_not_told_does_not_stand_in_the_way(self, missing: dict[str, object]) -> None:
        standing = outcomes.standing(reply({"full_name": "a/b", **missing}), SITE)
        assert standing == Standing("a/b", "", False, False, True, True, True)

    def test_issues_that_are_kept_elsewhere_are_not_kept_here(self) -> None:
        answer = altered("repo", lambda value: value.update(external_tracker={"external_tracker_url": "x"}))
        assert not outcomes.standing(answer, SITE).has_issues

    def test_a_repository_needs_a_name(self) -> None:
        with pytest.raises(Unreachable, match="no full_name"):
            outcomes.standing(reply({"full_name": "../.."}), SITE)

    def test_a_branch_tells_its_tip_and_its_rules(self) -> None:
        tip = "38e97de62ddccdbe612da5280b022129514c29b7"
        assert outcomes.branch(replayed("branch"), SITE) == Branch(tip, protected=False, may_push=True)

    def test_the_last_change_is_the_newest_commits(self) -> None:
        commit = "38e97de62ddccdbe612da5280b022129514c29b7"
        assert outcomes.last_change(replayed("commits-of-path"), SITE) == LastChange(commit, "alice", 978307200.0)

    def test_an_authors_name_is_one_short_line(self) -> None:
        def change(value: Any) -> None:
            value[0]["commit"]["author"]["name"] = "a\n\x1b[31m" + "x" * 1000

        last = outcomes.last_change(altered("commits-of-path", change), SITE)
        assert last is not None
        assert last.author.isprintable()
        assert len(last.author) == 100

    @pytest.mark.parametrize("response", [reply([]), reply(None), reply({"message": "Git Repository is empty."}, 409)])
    def test_no_commit_is_no_change(self, response: Response) -> None:
        assert outcomes.last_change(response, SITE) is None


class TestPulls:
    RETRY = PullRequest(1, "https://git.example.test/alice/proj-005/pulls/1", "knowledge/retry")

    def test_one_that_was_opened_is_known(self) -> None:
        assert outcomes.opened(replayed("pull-create"), SITE) == self.RETRY

    def test_one_that_cannot_be_read_is_unsettled(self) -> None:
        with pytest.raises(Unsettled, match="no html_url"):
            outcomes.opened(altered("pull-create", lambda value: value.update(html_url="javascript:x")), SITE)

    def test_one_between_two_branches_is_found(self) -> None:
        pull = outcomes.pull(replayed("pull-by-base-head"), SITE)
        assert (pull.request, pull.is_open, pull.head_repo) == (self.RETRY, True, 6)

    def test_a_list_tells_the_same(self) -> None:
        page = outcomes.pulls(replayed("pulls-list"), SITE)
        assert page.items == (outcomes.pull(replayed("pull-by-base-head"), SITE),)

    def test_a_fork_that_is_gone_has_no_number(self) -> None:
        answer = altered("pull-by-base-head", lambda value: value["head"].update(repo_id=None))
        assert outcomes.pull(answer, SITE).head_repo is None


class TestLabels:
    def test_names_have_ids(self) -> None:
        assert outcomes.labels(replayed("labels-list"), SITE).items == (("knowledge", 1),)
        assert outcomes.labels(replayed("org-labels-list"), SITE).items == (("org-wide", 2),)

    def test_one_that_is_archived_is_not_for_new_issues(self) -> None:
        page = outcomes.labels(altered("labels-list", lambda value: value[0].update(is_archived=True)), SITE)
        assert (page.items, page.count) == ((), 1)

    def test_an_owner_who_has_none_is_not_found(self) -> None:
        with pytest.raises(NotFound):
            outcomes.labels(replayed("repo-missing"), SITE)


class TestIssues:
    FIRST = Issue(
        1,
        "https://git.example.test/acme/node-utils/issues/1",
        "Document yarn exec on Windows",
        "Wanted: a page.",
        1796047894.0,
    )

    def test_one_that_was_filed_is_known(self) -> None:
        assert outcomes.filed(replayed("issue-create"), SITE) == self.FIRST

    @pytest.mark.parametrize("key", ["number", "html_url", "title", "created_at"])
    def test_one_that_cannot_be_read_is_unsettled(self, key: str) -> None:
        with pytest.raises(Unsettled, match=f"no {key}"):
            outcomes.filed(altered("issue-create", lambda value: value.pop(key)), SITE)

    def test_a_list_is_in_the_forges_order(self) -> None:
        page = outcomes.issues(replayed("issue-list-since"), SITE)
        assert [issue.number for issue in page.items] == [2, 1]
        assert page.items[1] == self.FIRST

    def test_a_pull_request_is_no_issue(self) -> None:
        page = outcomes.issues(
            altered("issue-list-since", lambda value: value[0].update(pull_request={"merged": False})), SITE
        )
        assert ([issue.number for issue in page.items], page.count) == ([1], 2)

    def test_null_is_passed_over(self) -> None:
        page = outcomes.issues(altered("issue-list-since", lambda value: value.insert(0, None)), SITE)
        assert (len(page.items), page.count) == (2, 3)
