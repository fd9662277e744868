"""What a forge says of itself and of a token."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import Denied, KnowledgeError
from sync.exchange import Response, Unreachable
from sync.forge.gitea import about
from sync.forge.gitea.about import Quota, Server
from sync.forge.gitea.failures import NoRoute
from sync.forge.gitea.site import Site
from tests.support.replies import replayed, reply

SITE = Site.of("https://git.example.test/forge")
PLAIN = Site.of("http://git.example.test")
HTML = Response(200, {"content-type": "text/html"}, b"<html><title>Sign in</title>")


class TestServer:
    def test_it_tells_its_version(self) -> None:
        assert about.server(replayed("version"), SITE) == Server("development")

    @pytest.mark.parametrize(
        ("version", "title"),
        [("1.26.0", "Gitea 1.26.0"), ("11.0.3+gitea-1.22.0", "Forgejo 11.0.3"), (None, "Gitea or Forgejo")],
    )
    def test_a_forgejo_is_called_by_its_name(self, version: str | None, title: str) -> None:
        assert Server(version).title == title

    @pytest.mark.parametrize("status", [401, 403])
    def test_one_that_wants_a_token_first_is_a_forge(self, status: int) -> None:
        refusal = reply({"message": "Only signed in user is allowed to call APIs."}, status)
        assert about.server(refusal, SITE) == Server(None)

    def test_a_refusal_in_html_is_somebody_elses(self) -> None:
        with pytest.raises(Denied):
            about.server(Response(403, {}, b"<html>blocked"), SITE)

    @pytest.mark.parametrize(
        "answer",
        [
            replayed("not-an-endpoint"),
            reply({"message": "Not Found"}, 404),
            reply({"error": "404"}, 404),
            Response(404),
        ],
    )
    def test_a_server_without_that_route_is_none(self, answer: Response) -> None:
        with pytest.raises(NoRoute, match="no Gitea API at this address"):
            about.server(answer, SITE)

    @pytest.mark.parametrize("answer", [HTML, reply([]), reply({"version": 3}), reply({}), Response(200, {}, b'{"')])
    def test_any_other_answer_is_no_forges(self, answer: Response) -> None:
        with pytest.raises(Unreachable, match="where the API's answer was expected"):
            about.server(answer, SITE)

    def test_no_version_drives_the_terminal(self) -> None:
        assert about.server(reply({"version": "1\x1b[31m\n" + "9" * 999}), SITE) == Server("1[31m" + "9" * 95)


class TestLogin:
    def test_it_is_the_tokens_user(self) -> None:
        assert about.login(replayed("user"), SITE) == "alice"

    def test_a_refused_token_is_told(self) -> None:
        with pytest.raises(Denied, match="token refused"):
            about.login(replayed("user-repos-invalid-token"), SITE)


class TestBatches:
    def test_their_limit_shows_them(self) -> None:
        assert about.has_batches(replayed("settings-api"), SITE)
        assert not about.has_batches(reply({"max_response_items": 50}), SITE)


class TestScope:
    @pytest.mark.parametrize("name", ["issue-create-empty-title", "issue-create-not-visible", "repos-search"])
    def test_who_is_let_through_has_it(self, name: str) -> None:
        assert about.has_scope(replayed(name), SITE) is True

    @pytest.mark.parametrize("name", ["issue-create-missing-scope", "contents-create-missing-scope"])
    def test_who_is_told_which_is_missing_has_not(self, name: str) -> None:
        assert about.has_scope(replayed(name), SITE) is False

    @pytest.mark.parametrize("answer", [replayed("contents-create-protected"), Response(429), Response(500)])
    def test_another_refusal_tells_nothing(self, answer: Response) -> None:
        assert about.has_scope(answer, SITE) is None


class TestMoved:
    @pytest.mark.parametrize(
        ("location", "target"),
        [
            ("https://forge.example.test/api/v1/version", "https://forge.example.test"),
            ("/git/api/v1/version", "https://git.example.test/git"),
            ("http://git.example.test/api/v1/version", None),
            ("https://sso.example.test/login", None),
            ("https://[", None),
            ("", None),
        ],
    )
    def test_a_redirect_to_a_forge_tells_where_it_is(self, location: str, target: str | None) -> None:
        assert about.moved_to(Response(302, {"location": location}), SITE) == target

    def test_one_to_tls_is_followed(self) -> None:
        answer = Response(301, {"location": "https://git.example.test/api/v1/version"})
        assert about.moved_to(answer, PLAIN) == "https://git.example.test"

    def test_an_answer_is_none(self) -> None:
        assert about.moved_to(replayed("version"), SITE) is None


class TestClock:
    def test_what_is_below_a_second_does_not_count(self) -> None:
        answer = Response(200, {"date": "Thu, 01 Jan 2026 00:01:40 GMT"})
        assert about.skew(answer, 1767225700.5) == 0.0
        assert about.skew(answer, 1767225600.5) == 100.0

    @pytest.mark.parametrize("date", ["", "yesterday", "Thu, 99 Jan 2026 00:00:00 GMT"])
    def test_without_a_date_nothing_is_known(self, date: str) -> None:
        assert about.skew(Response(200, {"date": date}), 0.0) is None


class TestQuota:
    @pytest.mark.parametrize("prefix", ["x-ratelimit-", "ratelimit-"])
    def test_it_is_what_is_left_of_a_limit(self, prefix: str) -> None:
        assert about.quota({f"{prefix}limit": "100, 100;w=60", f"{prefix}remaining": "7"}) == Quota(100, 7)

    @pytest.mark.parametrize("remaining", [None, "", "many", "-1", "1" * 99])
    def test_who_tells_none_has_none(self, remaining: str | None) -> None:
        headers = {} if remaining is None else {"x-ratelimit-limit": "100", "x-ratelimit-remaining": remaining}
        assert about.quota(headers) is None


ANSWERS = st.builds(
    Response,
    st.sampled_from([200, 201, 301, 401, 403, 404, 422, 429, 500, 503]),
    st.dictionaries(st.sampled_from(["location", "date", "x-ratelimit-limit", "x-ratelimit-remaining"]), st.text()),
    st.binary() | st.sampled_from([b'{"message": 3}', b'{"version": null}', b"[]", b"null", b"<html>"]),
)


@given(ANSWERS)
def test_whatever_answers_is_data_or_one_of_our_errors(answer: Response) -> None:
    for read in (about.server, about.login, about.has_batches, about.has_scope):
        with suppress(KnowledgeError):
            read(answer, SITE)
    about.moved_to(answer, SITE)
    about.skew(answer, 0.0)
    about.quota(answer.headers)
