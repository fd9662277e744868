"""Whether a write was carried out."""

import pytest

from cache.errors import Denied, KnowledgeError, TimedOut, TooLarge, Unavailable
from sync.exchange import CONNECTING, Response, Trouble, Unreachable
from sync.forge.gitea.settling import is_carried_out, unanswered
from sync.forge.gitea.site import Site
from sync.forge.writing import Unsettled
from tests.fake_gitea.recordings import recording_names
from tests.support.replies import replayed, reply

SITE = Site.of("https://git.example.test")
WRITES = [name for name in recording_names() if name.startswith(("contents-create", "contents-multi", "issue-create"))]


class TestAnswered:
    @pytest.mark.parametrize("status", [200, 201, 204])
    def test_a_success_was_carried_out(self, status: int) -> None:
        assert is_carried_out(Response(status), SITE)

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 412, 413, 422, 423, 429, 499])
    def test_what_is_the_callers_fault_was_not(self, status: int) -> None:
        assert not is_carried_out(Response(status, {}, b"<html>"), SITE)

    @pytest.mark.parametrize("name", WRITES)
    def test_every_recorded_answer_tells(self, name: str) -> None:
        assert is_carried_out(replayed(name), SITE) is (replayed(name).status == 201)

    @pytest.mark.parametrize("when", ["1", "Wed, 21 Oct 2026 07:28:00 GMT", "soon"])
    def test_who_says_when_to_come_again_has_not_begun(self, when: str) -> None:
        assert not is_carried_out(Response(503, {"retry-after": when}), SITE)

    @pytest.mark.parametrize("status", [100, 199, 303, 304, 408, 500, 501, 502, 503, 504, 599, 999])
    def test_of_anything_else_nobody_knows(self, status: int) -> None:
        with pytest.raises(Unsettled):
            is_carried_out(Response(status), SITE)

    def test_the_error_says_why_and_what_to_do_on_one_line(self) -> None:
        with pytest.raises(Unsettled) as caught:
            is_carried_out(reply({"message": "PushOutOfDate\nError"}, 500), SITE)
        assert caught.value.host == "git.example.test"
        assert caught.value.line == (
            "unavailable: git.example.test did not tell whether it was carried out (git.example.test answers "
            "HTTP 500 Internal Server Error: PushOutOfDate Error) — look before sending it again"
        )


class TestUnanswered:
    @pytest.mark.parametrize(
        "error",
        [
            Unreachable("git.example.test", Trouble.LOST, "connection lost"),
            Unreachable("git.example.test", Trouble.GARBLED, "the answer is not HTTP"),
            TimedOut(60.0),
            TooLarge("the answer of git.example.test", 10),
        ],
        ids=repr,
    )
    def test_what_failed_after_sending_is_unsettled(self, error: KnowledgeError) -> None:
        settled = unanswered(error, SITE)
        assert isinstance(settled, Unsettled)
        assert getattr(error, "why", error.message) in settled.message

    @pytest.mark.parametrize("trouble", sorted(CONNECTING | {Trouble.BUSY, Trouble.WRONG}))
    def test_what_found_no_connection_was_not_sent(self, trouble: Trouble) -> None:
        error = Unreachable("git.example.test", trouble, "it is down")
        assert unanswered(error, SITE) is error

    @pytest.mark.parametrize("error", [Denied("no token"), Unavailable("something else")], ids=repr)
    def test_what_is_no_exchange_stays_what_it_is(self, error: KnowledgeError) -> None:
        assert unanswered(error, SITE) is error
