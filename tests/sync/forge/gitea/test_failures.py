"""What a refusal means."""

import pytest

from cache.errors import Denied, KnowledgeError, NotFound, Unavailable
from sync.exchange import Response, Trouble, Unreachable
from sync.forge.gitea.failures import NoRoute, ScopeMissing, failure, new_name
from sync.forge.gitea.site import Site
from tests.support.replies import replayed, reply

SITE = Site.of("https://git.example.test/gitea")


def moved(location: str) -> Response:
    return Response(301, {"location": location})


class TestFailure:
    @pytest.mark.parametrize(
        ("name", "scope"),
        [("user-repos-missing-scope", "read:user"), ("contents-create-missing-scope", "write:repository")],
    )
    def test_a_missing_scope_is_named(self, name: str, scope: str) -> None:
        error = failure(replayed(name), SITE)
        assert isinstance(error, ScopeMissing)
        assert error.scopes == (scope,)
        assert error.message == f"token lacks the scope {scope} on git.example.test — run gateway doctor"

    def test_no_token_is_told_from_a_refused_one(self) -> None:
        refused, missing = (failure(replayed(f"user-repos-{who}"), SITE) for who in ("invalid-token", "anonymous"))
        assert isinstance(missing, Denied)
        assert (refused.message, missing.message) == (
            "token refused by git.example.test — run gateway doctor",
            "no token is set for git.example.test — set token_file, then run gateway doctor",
        )

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_forge_that_answers_nobody_without_a_token_says_so_in_other_words(self, status: int) -> None:
        error = failure(reply({"message": "Only signed in user is allowed to call APIs."}, status), SITE)
        assert isinstance(error, Denied)
        assert error.message.startswith("no token is set for git.example.test")

    def test_an_older_forge_names_it_in_other_words(self) -> None:
        message = "token does not have at least one of required scope(s): [read:user read:repository]"
        error = failure(reply({"message": message}, 403), SITE)
        assert isinstance(error, ScopeMissing)
        assert error.scopes == ("read:user", "read:repository")

    def test_any_other_refusal_keeps_the_forges_words(self) -> None:
        error = failure(replayed("contents-create-protected"), SITE)
        assert isinstance(error, Denied)
        assert error.message == (
            "git.example.test answers HTTP 403 Forbidden: user should have a permission to write to the target branch"
        )

    def test_a_refusal_in_html_is_one_all_the_same(self) -> None:
        error = failure(Response(403, {}, b"<html>blocked</html>"), SITE)
        assert isinstance(error, Denied)
        assert error.message == "git.example.test answers HTTP 403 Forbidden"

    def test_not_found_in_json_is_about_the_object(self) -> None:
        assert type(failure(replayed("repo-missing"), SITE)) is NotFound

    @pytest.mark.parametrize("response", [replayed("not-an-endpoint"), Response(404, {}, b"<html>"), Response(405)])
    def test_not_found_otherwise_is_about_the_route(self, response: Response) -> None:
        error = failure(response, SITE)
        assert isinstance(error, NoRoute)
        assert "no Gitea API at this address" in error.message

    @pytest.mark.parametrize(
        ("response", "lasting"),
        [(replayed("not-an-endpoint"), True), (Response(405), True), (Response(404, {}, b"<html>"), False)],
    )
    def test_only_the_forges_own_router_says_so_for_good(self, response: Response, lasting: bool) -> None:
        error = failure(response, SITE)
        assert isinstance(error, NoRoute)
        assert error.lasting is lasting

    @pytest.mark.parametrize(
        ("status", "trouble"),
        [
            (407, Trouble.PROXY),
            (429, Trouble.BUSY),
            (502, Trouble.LOST),
            (503, Trouble.BUSY),
            (504, Trouble.LOST),
            (302, Trouble.WRONG),
            (304, Trouble.WRONG),
        ],
    )
    def test_what_somebody_on_the_way_answers_is_told_apart(self, status: int, trouble: Trouble) -> None:
        error = failure(Response(status, {}, b"<html><h1>Oh no</h1>"), SITE)
        assert isinstance(error, Unreachable)
        assert error.trouble is trouble

    def test_a_bad_gateway_is_named_without_its_page(self) -> None:
        error = failure(Response(502, {}, b"<html>nginx</html>"), SITE)
        assert error.message == "git.example.test unreachable: HTTP 502 Bad Gateway"

    @pytest.mark.parametrize("status", [100, 400, 409, 418, 423, 500, 599, 999])
    def test_every_other_status_is_told(self, status: int) -> None:
        error = failure(reply({"message": "some words"}, status), SITE)
        assert isinstance(error, Unavailable)
        assert f"HTTP {status}" in error.message
        assert error.message.endswith(": some words")

    def test_the_forges_words_are_one_short_line(self) -> None:
        message = failure(reply({"message": "a\r\n\x1b[31mred\u2028" + "x" * 10_000}, 500), SITE).message
        assert message.isprintable()
        assert len(message) < 300


class TestNewName:
    def test_a_redirect_names_the_repository_as_it_is_called_now(self) -> None:
        assert new_name(replayed("repo-transferred-old-name"), Site.of("https://git.example.test")) == "bob/proj-010"

    @pytest.mark.parametrize(
        "location",
        [
            "/gitea/api/v1/repos/bob/tools/raw/a.md?ref=main",
            "/api/v1/repos/bob/tools",
            "https://git.example.test/gitea/api/v1/repos/bob/tools/file-contents",
            "//GIT.example.test/api/v1/repos/bob/tools",
        ],
    )
    def test_it_may_be_written_in_several_ways(self, location: str) -> None:
        assert new_name(moved(location), SITE) == "bob/tools"

    def test_encoded_names_are_decoded_once(self) -> None:
        assert new_name(moved("/api/v1/repos/bob/50%2525"), SITE) == "bob/50%25"

    @pytest.mark.parametrize(
        "location",
        [
            "https://evil.test/api/v1/repos/bob/tools",
            "http://git.example.test/api/v1/repos/bob/tools",
            "https://git.example.test:8443/api/v1/repos/bob/tools",
            "https://git.example.test@evil.test/api/v1/repos/bob/tools",
            "//evil.test/api/v1/repos/bob/tools",
        ],
    )
    def test_another_host_is_refused(self, location: str) -> None:
        with pytest.raises(Unreachable, match=r"it redirects to https?://.* — check \[forge\] url"):
            new_name(moved(location), SITE)

    @pytest.mark.parametrize(
        "location",
        [
            "",
            "/user/login",
            "/api/v1/repositories/17",
            "/api/v1/repos/bob",
            "/api/v1/repos/%2E%2E/tools",
            "/api/v1/repos/a%2Fb/tools",
            "https://[",
        ],
    )
    def test_a_redirect_that_is_no_rename_is_an_error(self, location: str) -> None:
        with pytest.raises(KnowledgeError, match=r"it redirects \(HTTP 301\)"):
            new_name(moved(location), SITE)
