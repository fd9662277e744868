"""One exchange, tried again where that is safe; the network is a function."""

import gzip
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import KnowledgeError, TimedOut, TooLarge
from sync.admission import SILENCE
from sync.exchange import Request, Response, Trouble, Unreachable
from sync.http import MOST_CONNECTIONS, HttpClient, HttpSettings
from tests.support.timing import ManualTime

pytestmark = pytest.mark.anyio

URL = "https://git.example.test/api/v1/version"
GET = Request("GET", URL, limit=1000)
POST = Request("POST", URL, limit=1000, body=b"{}", idempotent=False)
Answer = httpx2.Response | Exception
Handler = Callable[[httpx2.Request], httpx2.Response]


class Network:
    """Answers each request with the next of ``answers``, the last one for ever, and keeps what it was sent."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def client(network: Handler, time: ManualTime | None = None, *, patience: float = 0.0) -> HttpClient:
    settings = HttpSettings(patience=patience)
    return HttpClient(settings, timing=(time or ManualTime()).timing, transport=httpx2.MockTransport(network))


def status(code: int, **headers: str) -> httpx2.Response:
    return httpx2.Response(code, headers={name.replace("_", "-"): value for name, value in headers.items()})


class TestResponse:
    async def test_status_headers_and_body_come_back(self) -> None:
        network = Network(httpx2.Response(404, headers={"X-Kind": "a"}, content=b"body"))
        response = await client(network).send(GET)
        assert (response.status, response.headers["x-kind"], response.body) == (404, "a", b"body")

    async def test_a_compressed_body_is_inflated(self) -> None:
        network = Network(
            httpx2.Response(200, headers={"Content-Encoding": "gzip"}, stream=chunks(gzip.compress(b"t")))
        )
        assert (await client(network).send(GET)).body == b"t"

    async def test_only_gzip_is_asked_for(self) -> None:
        network = Network(status(200))
        await client(network).send(GET)
        assert network.requests[0].headers["accept-encoding"] == "gzip"

    async def test_redirects_are_not_followed(self) -> None:
        network = Network(status(301, location="https://other.test/"))
        assert (await client(network).send(GET)).status == 301
        assert len(network.requests) == 1

    async def test_cookies_are_not_kept(self) -> None:
        network = Network(status(200, set_cookie="session=1"))
        http = client(network)
        await http.send(GET)
        await http.send(GET)
        assert "cookie" not in network.requests[1].headers

    async def test_an_encoded_path_goes_out_as_it_is(self) -> None:
        network = Network(status(200))
        target = "/r/%C3%9Cber%20Gr%C3%B6%C3%9Fe%2050%25%20%231%3F.md/%2E%2E/a%2Fb?ref=a%26b%2Bc"
        await client(network).send(Request("GET", "https://git.example.test" + target, limit=10))
        assert network.requests[0].url.raw_path.decode() == target


def chunks(*parts: bytes) -> httpx2.AsyncByteStream:
    class Parts(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for part in parts:
                yield part

    return Parts()


class TestBodies:
    async def test_a_body_over_the_limit_is_too_large(self) -> None:
        network = Network(httpx2.Response(200, stream=chunks(b"x" * 600, b"x" * 600)))
        with pytest.raises(TooLarge, match=r"the answer of git\.example\.test is larger than 1000 bytes"):
            await client(network).send(GET)

    async def test_a_declared_length_over_the_limit_is_not_read(self) -> None:
        class Unread(httpx2.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield pytest.fail("the body was read")

        network = Network(httpx2.Response(200, headers={"Content-Length": "1001"}, stream=Unread()))
        with pytest.raises(TooLarge):
            await client(network).send(GET)

    async def test_the_words_of_a_refusal_may_be_longer_than_the_limit(self) -> None:
        network = Network(httpx2.Response(404, content=b"x" * 5000))
        assert len((await client(network).send(GET)).body) == 5000

    async def test_gzip_that_ends_early_is_asked_for_again(self) -> None:
        packed = gzip.compress(b"text" * 50)
        cut, whole = (
            httpx2.Response(200, headers={"Content-Encoding": "gzip"}, stream=chunks(part))
            for part in (packed[:-5], packed)
        )
        assert (await client(Network(cut, whole)).send(GET)).body == b"text" * 50

    async def test_gzip_that_always_ends_early_is_told(self) -> None:
        class Cut(httpx2.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield gzip.compress(b"text")[:-5]

        network = Network(httpx2.Response(200, headers={"Content-Encoding": "gzip"}, stream=Cut()))
        with pytest.raises(Unreachable, match="gzip that ends early") as caught:
            await client(network).send(GET)
        assert caught.value.trouble is Trouble.GARBLED


class TestRetries:
    @pytest.mark.parametrize("code", [429, 502, 503, 504])
    async def test_a_transient_status_is_tried_again(self, code: int) -> None:
        assert (await client(Network(status(code), status(200))).send(GET)).status == 200

    @pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 500, 501])
    async def test_any_other_status_is_an_answer(self, code: int) -> None:
        network = Network(status(code), status(200))
        assert (await client(network).send(GET)).status == code

    async def test_after_three_attempts_the_last_status_is_the_answer(self) -> None:
        network = Network(status(502))
        assert (await client(network).send(GET)).status == 502
        assert len(network.requests) == 3

    async def test_the_pauses_grow(self) -> None:
        time = ManualTime()
        await client(Network(status(502)), time).send(GET)
        assert time.slept == [0.25, 0.5]

    @pytest.mark.parametrize("error", [httpx2.ReadError(""), httpx2.WriteError(""), httpx2.RemoteProtocolError("")])
    async def test_a_connection_that_breaks_is_tried_again(self, error: Exception) -> None:
        assert (await client(Network(error, status(200))).send(GET)).status == 200

    async def test_a_read_that_takes_too_long_is_tried_again_then_told(self) -> None:
        network = Network(httpx2.ReadTimeout(""))
        with pytest.raises(TimedOut, match="timed out after 30 s"):
            await client(network).send(GET)
        assert len(network.requests) == 3

    @pytest.mark.parametrize(
        "answer",
        [status(429), status(502), status(503), httpx2.ReadError(""), httpx2.ConnectError(""), httpx2.ReadTimeout("")],
    )
    async def test_what_is_not_idempotent_is_sent_once(self, answer: Answer) -> None:
        network = Network(answer)
        with suppress(KnowledgeError):
            await client(network, patience=5.0).send(POST)
        assert len(network.requests) == 1

    async def test_nothing_is_tried_past_the_callers_deadline(self) -> None:
        network, time = Network(status(503, retry_after="30")), ManualTime()
        with anyio.fail_after(20):
            assert (await client(network, time).send(GET)).status == 503
        assert time.slept == []


class TestLoad:
    @pytest.mark.parametrize("code", [429, 503])
    async def test_both_forms_of_retry_after_are_kept(self, code: int) -> None:
        for value in ("20", "Tue, 14 Nov 2023 22:13:40 GMT"):
            time = ManualTime(1_700_000_000.0)
            await client(Network(status(code, retry_after=value), status(200)), time).send(GET)
            assert sum(time.slept) == pytest.approx(20.0)

    async def test_a_host_that_asks_for_a_pause_is_left_alone_by_everybody(self) -> None:
        time = ManualTime()
        http = client(Network(status(429, retry_after="55"), status(200)), time)
        await http.send(POST)
        await http.send(GET)
        assert time.slept == [55.0]

    async def test_who_asks_for_hours_is_not_waited_for(self) -> None:
        time = ManualTime()
        assert (await client(Network(status(503, retry_after="86400")), time).send(GET)).status == 503
        assert time.slept == []

    async def test_no_more_than_the_most_are_in_flight_and_fewer_after_429(self) -> None:
        inside = most = 0
        overload = True

        async def answer(request: httpx2.Request) -> httpx2.Response:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await anyio.lowlevel.checkpoint()
            inside -= 1
            return status(429 if overload else 200)

        http = HttpClient(
            HttpSettings(max_in_flight=4), timing=ManualTime().timing, transport=httpx2.MockTransport(answer)
        )

        async def send_many() -> int:
            nonlocal most
            most = 0
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(http.send, POST)
            return most

        assert await send_many() == 4
        overload = False
        assert await send_many() < 4

    async def test_hosts_do_not_share_their_limits(self) -> None:
        network = Network(httpx2.ConnectError("refused"), status(200))
        http = client(network)
        with pytest.raises(Unreachable):
            await http.send(GET)
        other = Request("GET", "https://other.test/", limit=10)
        assert (await http.send(other)).status == 200


class TestDown:
    async def test_a_host_that_is_down_is_found_out_once_not_once_a_call(self) -> None:
        network = Network(httpx2.ConnectError("refused"))
        http = client(network)
        for _ in range(10):
            with pytest.raises(Unreachable, match=r"git\.example\.test unreachable"):
                await http.send(GET)
        assert len(network.requests) == 1

    async def test_the_first_success_clears_every_trace(self) -> None:
        network, time = Network(httpx2.ConnectError("refused"), status(200)), ManualTime()
        http = client(network, time)
        with pytest.raises(Unreachable):
            await http.send(GET)
        time.value += 1
        for _ in range(3):
            assert (await http.send(GET)).status == 200

    async def test_a_host_that_comes_back_within_the_patience_is_not_missed(self) -> None:
        network = Network(httpx2.ConnectError("refused"), status(200))
        http = HttpClient(HttpSettings(patience=5.0), transport=httpx2.MockTransport(network))
        with anyio.fail_after(5):
            assert (await http.send(GET)).status == 200

    async def test_a_host_that_stays_down_is_waited_for_once_not_by_every_request(self) -> None:
        network = Network(httpx2.ConnectError("refused"))
        http = HttpClient(HttpSettings(patience=0.3), transport=httpx2.MockTransport(network))
        with pytest.raises(Unreachable):
            await http.send(GET)
        assert len(network.requests) == 2
        for _ in range(5):
            with pytest.raises(Unreachable):
                await http.send(GET)
        assert len(network.requests) == 2

    async def test_a_host_that_is_up_and_down_by_turns_is_not_tried_for_ever(self) -> None:
        class OthersAreAnswered(ManualTime):
            async def sleep(self, seconds: float) -> None:
                await super().sleep(seconds)
                http._host(URL).gate._circuit.answered()

        network = Network(httpx2.ConnectError("refused"))
        http = client(network, OthersAreAnswered(), patience=60.0)
        with anyio.fail_after(10), pytest.raises(Unreachable):
            await http.send(GET)
        assert len(network.requests) == MOST_CONNECTIONS

    async def test_a_request_given_up_after_long_silence_opens_the_circuit(self) -> None:
        time = ManualTime()

        async def hang(request: httpx2.Request) -> httpx2.Response:
            time.value += SILENCE
            scope.cancel()
            await anyio.sleep_forever()
            raise AssertionError

        http = HttpClient(HttpSettings(patience=0.0), timing=time.timing, transport=httpx2.MockTransport(hang))
        with anyio.CancelScope() as scope:
            await http.send(GET)
        with pytest.raises(Unreachable, match="no answer in 5 s"):
            await http.send(GET)


class TestSecrets:
    async def test_no_log_line_holds_a_header(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        secret = Request("GET", URL, limit=10, headers=(("Authorization", "token fake-token-for-tests"),))
        await client(Network(status(200))).send(secret)
        assert "fake-token-for-tests" not in caplog.text

    async def test_a_request_does_not_show_its_headers(self) -> None:
        secret = Request("GET", URL, limit=10, headers=(("Authorization", "token fake-token-for-tests"),))
        assert "fake-token-for-tests" not in repr(secret)


def responses() -> st.SearchStrategy[httpx2.Response]:
    headers = st.dictionaries(
        st.sampled_from(["Content-Encoding", "Content-Length", "Retry-After", "Date", "Content-Type", "Location"]),
        st.one_of(
            st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0")), st.sampled_from(["gzip", "9"])
        ),
    )
    bodies = st.one_of(st.binary(max_size=50), st.binary(max_size=50).map(gzip.compress))

    def build(code: int, headers: dict[str, str], body: bytes) -> httpx2.Response:
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return httpx2.Response(code, headers=raw, stream=chunks(body))

    return st.builds(build, st.integers(100, 999), headers, bodies)


def failures() -> st.SearchStrategy[Exception]:
    kinds: list[type[httpx2.TransportError]] = [
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.ReadError,
        httpx2.ReadTimeout,
        httpx2.WriteTimeout,
        httpx2.CloseError,
        httpx2.ProxyError,
        httpx2.LocalProtocolError,
        httpx2.RemoteProtocolError,
    ]
    return st.one_of(
        st.builds(lambda kind, text: kind(text), st.sampled_from(kinds), st.text(max_size=30)), st.builds(OSError)
    )


@given(answer=st.one_of(responses(), failures()))
async def test_anything_that_comes_is_a_response_or_an_error_of_ours(answer: Answer) -> None:
    with suppress(KnowledgeError):
        assert isinstance(await client(Network(answer)).send(POST), Response)
