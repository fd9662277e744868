"""Why a write was refused, by what a forge answered."""

import pytest

from cache.errors import Conflict, Denied, InvalidArgument, NotFound, Unavailable
from sync.exchange import Response
from sync.forge.base import INVISIBLE
from sync.forge.gitea import refusals
from sync.forge.gitea.failures import ScopeMissing
from sync.forge.gitea.outcomes import Branch, Standing
from sync.forge.gitea.site import Site
from sync.forge.writing import BranchExists, Change, Edit, Moved, Protected
from tests.support.replies import replayed, reply

SITE = Site.of("https://git.example.test")
READ = "483b4d3534adc1bfa38ef8b1308bf3cd9aeb0084"
INDEX, PAGE = Change(".wiki/index.md", b"x", READ), Change(".wiki/concepts/a.md", b"x", None)
EDIT = Edit("m", (PAGE, INDEX))
OPEN = Standing("acme/web", "main", archived=False, mirror=False, may_push=True, has_issues=True, has_pulls=True)


def of_commit(response: Response, edit: Edit = EDIT) -> object:
    return refusals.of_commit(response, SITE, "acme/web", edit)


def said(message: str, status: int = 422) -> Response:
    return reply({"message": message}, status)


class TestOfCommit:
    def test_a_stale_blob_names_its_path(self) -> None:
        error = of_commit(replayed("contents-multi-stale-sha"))
        assert isinstance(error, Moved)
        assert (error.paths, error.message) == ((".wiki/index.md",), "changed meanwhile: .wiki/index.md")

    def test_two_files_with_the_same_stale_blob_are_both_named(self) -> None:
        edit = Edit("m", (INDEX, PAGE, Change("b.md", b"x", READ)))
        error = of_commit(replayed("contents-multi-stale-sha"), edit)
        assert isinstance(error, Moved)
        assert error.paths == (".wiki/index.md", "b.md")

    def test_a_blob_that_nobody_sent_leaves_every_path_in_doubt(self) -> None:
        error = of_commit(replayed("contents-put-update"))
        assert isinstance(error, Moved)
        assert error.paths == (".wiki/concepts/a.md", ".wiki/index.md")

    def test_a_file_that_is_there_already_is_named(self) -> None:
        edit = Edit("m", (PAGE, Change(".wiki/index.md", b"x", None)))
        error = of_commit(replayed("contents-create-existing"), edit)
        assert isinstance(error, Moved)
        assert error.paths == (".wiki/index.md",)

    @pytest.mark.parametrize("path", ["Ü %#?.md", "a]b.md", "a\nb.md", "x" * 3000 + ".md"])
    def test_a_path_of_any_kind_is_recognized(self, path: str) -> None:
        edit = Edit("m", (PAGE, Change(path, b"x", None)))
        error = of_commit(said(f"repository file already exists [path: {path}]"), edit)
        assert isinstance(error, Moved)
        assert error.paths == (path,)

    @pytest.mark.parametrize(
        "words",
        [
            "object does not exist [id: , rel_path: .wiki/index.md]",
            "repository file does not exist [path: .wiki/index.md]",
        ],
    )
    def test_a_file_that_is_gone_is_named(self, words: str) -> None:
        error = of_commit(said(words, 404))
        assert isinstance(error, Moved)
        assert error.paths == (".wiki/index.md",)

    def test_a_new_branch_that_is_there_already_is_named(self) -> None:
        edit = Edit("m", (PAGE,), new_branch="knowledge/retry")
        error = of_commit(replayed("contents-new-branch-exists"), edit)
        assert isinstance(error, BranchExists)
        assert isinstance(error, Moved)
        assert (error.branch, error.paths) == ("knowledge/retry", ())
        assert error.line == "conflict: branch knowledge/retry exists already"

    def test_a_folder_in_the_way_is_no_change_that_reading_again_would_show(self) -> None:
        error = of_commit(said("a file exists where you’re trying to create a subdirectory [path: .wiki]"))
        assert type(error) is Conflict
        assert error.message.startswith("acme/web: a file exists where")

    def test_a_branch_to_write_to_that_is_missing_is_named(self) -> None:
        error = of_commit(said("branch does not exist [repo_id: 1 name: x]", 404), Edit("m", (PAGE,), branch="x"))
        assert isinstance(error, NotFound)
        assert error.message == "acme/web has no branch x"

    def test_a_repository_that_is_not_visible_is_not_found(self) -> None:
        error = of_commit(replayed("repo-private-not-visible"))
        assert isinstance(error, NotFound)
        assert error.message == INVISIBLE

    def test_a_missing_scope_is_named(self) -> None:
        error = of_commit(replayed("contents-create-missing-scope"))
        assert isinstance(error, ScopeMissing)
        assert error.scopes == ("write:repository",)

    def test_a_forge_that_is_too_old_is_told(self) -> None:
        error = of_commit(replayed("not-an-endpoint"))
        assert type(error) is Unavailable
        assert error.message == "git.example.test cannot write several files in one commit — update it"

    @pytest.mark.parametrize("name", ["contents-create-dotgit", "contents-create-protected"])
    def test_any_other_refusal_keeps_the_forges_words(self, name: str) -> None:
        error = of_commit(replayed(name))
        assert isinstance(error, Denied | Unavailable)
        assert "git.example.test answers HTTP 4" in error.message

    @pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"message": 1}'])
    @pytest.mark.parametrize("status", [400, 403, 404, 409, 413, 422, 423, 429, 503])
    def test_a_refusal_without_words_is_one_all_the_same(self, status: int, body: bytes) -> None:
        error = of_commit(Response(status, {}, body))
        assert isinstance(error, Denied | Unavailable | NotFound)


class TestOfStanding:
    @pytest.mark.parametrize(
        ("standing", "words"),
        [
            (
                Standing("a/b", "main", True, True, False, True, True),
                "a/b is archived — unarchive it, or write elsewhere",
            ),
            (
                Standing("a/b", "main", False, True, True, True, True),
                "a/b is a mirror — write to the repository that it mirrors",
            ),
            (
                Standing("a/b", "main", False, False, False, True, True),
                "no more than a read-only collaborator of a/b — ask for write access",
            ),
        ],
    )
    def test_each_reason_has_its_own_line(self, standing: Standing, words: str) -> None:
        error = refusals.of_standing(standing, SITE)
        assert error is not None
        assert (error.message, error.host, error.code) == (words, "git.example.test", "denied")

    def test_an_open_repository_is_no_reason(self) -> None:
        assert refusals.of_standing(OPEN, SITE) is None


class TestOfBranch:
    @pytest.mark.parametrize(("protected", "may_push"), [(True, True), (True, False), (False, False)])
    def test_rules_or_no_right_to_push_make_it_protected(self, protected: bool, may_push: bool) -> None:
        error = refusals.of_branch(Branch("1" * 40, protected, may_push), "acme/web", "main", SITE)
        assert isinstance(error, Protected)
        assert error.message == "branch main of acme/web is protected — open a pull request"

    def test_an_open_branch_is_no_reason(self) -> None:
        assert refusals.of_branch(Branch("1" * 40, protected=False, may_push=True), "acme/web", "main", SITE) is None


class TestInItsWords:
    def test_the_forges_words_stand_behind_ours_printable_and_short(self) -> None:
        reason = Protected("branch main is protected — open a pull request", host="git.example.test")
        error = refusals.in_its_words(reason, said("no\x1b[2J " + "x" * 500, 403), SITE)
        assert type(error) is Protected
        assert error.host == "git.example.test"
        assert error.message.startswith("branch main is protected — open a pull request (git.example.test: no [2J xxx")
        assert len(error.message) < 300

    def test_a_forge_that_says_nothing_adds_nothing(self) -> None:
        reason = Denied("no", host="git.example.test")
        assert refusals.in_its_words(reason, Response(403, {}, b"<html>"), SITE) is reason


class TestOfIssue:
    def test_an_archived_repository_takes_none(self) -> None:
        error = refusals.of_issue(replayed("issue-create-archived"), SITE, "alice/proj-014")
        assert isinstance(error, Denied)
        ours, theirs = "unarchive it, or write elsewhere", "git.example.test: alice/proj-014 is archived"
        assert error.message == f"alice/proj-014 is archived — {ours} ({theirs})"

    def test_an_issue_that_does_not_fit_is_the_callers(self) -> None:
        error = refusals.of_issue(replayed("issue-create-empty-title"), SITE, "acme/web")
        assert isinstance(error, InvalidArgument)
        assert error.message == "git.example.test does not take this issue: [Title]: Required"

    @pytest.mark.parametrize(
        ("name", "kind"), [("issue-create-missing-scope", ScopeMissing), ("issue-create-not-visible", NotFound)]
    )
    def test_other_refusals_are_those_of_any_call(self, name: str, kind: type[Exception]) -> None:
        assert type(refusals.of_issue(replayed(name), SITE, "acme/web")) is kind


class TestNoPull:
    def test_pull_requests_may_be_disabled(self) -> None:
        standing = Standing("acme/web", "main", False, False, True, True, has_pulls=False)
        error = refusals.no_pull(standing, "main", "knowledge/a", SITE)
        assert isinstance(error, Denied)
        assert error.message == "pull requests are disabled in acme/web — enable them, or merge knowledge/a by hand"

    def test_the_default_branch_may_be_another_by_now(self) -> None:
        error = refusals.no_pull(OPEN, "master", "knowledge/a", SITE)
        assert error.message == "master is no more the default branch of acme/web — refresh the project"

    def test_else_the_branch_is_gone(self) -> None:
        error = refusals.no_pull(OPEN, "main", "knowledge/a", SITE)
        assert (type(error), error.message) == (NotFound, "acme/web has no branch knowledge/a")
