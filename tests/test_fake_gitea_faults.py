"""What goes wrong on demand between the fake forge and its client, and how it is served."""

from __future__ import annotations

import os
import select
import signal
import ssl
import subprocess
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.fake_gitea import (
    CutBody,
    Delay,
    Endless,
    FakeGitea,
    Gzip,
    Hang,
    Headers,
    Json,
    NullEntries,
    Reset,
    Server,
    Trickle,
    When,
    listen,
    make_certificates,
    redirect,
    serve,
    too_many,
    unavailable,
    web_page,
)
from tests.fake_gitea.serve import ROOT

TOKEN, BOB = "fake-token-alice", "fake-token-bob"
MINE = "/user/repos"


def made() -> FakeGitea:
    forge = FakeGitea()
    forge.add_user("alice", token=TOKEN)
    forge.add_repo("alice/web", {"a.md": "# A\n"})
    return forge


@pytest.fixture
def forge() -> FakeGitea:
    return made()


@pytest.fixture
def client(forge: FakeGitea) -> Iterator[httpx2.Client]:
    with listen(forge) as url, connected(url) as client:
        yield client


def connected(url: str, verify: ssl.SSLContext | bool = True) -> httpx2.Client:
    headers = {"Authorization": f"token {TOKEN}"}
    return httpx2.Client(base_url=url + "api/v1", headers=headers, verify=verify, timeout=5)


class TestFaults:
    def test_it_strikes_as_often_as_it_is_told(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(unavailable(), route=MINE, skip=1, times=1)
        assert [client.get(path).status_code for path in ("/user", MINE, MINE, MINE)] == [200, 200, 503, 200]

    def test_the_forge_never_hears_of_what_a_proxy_answers(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(web_page(502), method="POST")
        answer = client.post("/repos/alice/web/issues", json={"title": "t"})
        assert (answer.status_code, answer.headers["content-type"]) == (502, "text/html; charset=utf-8")
        assert forge.repo("alice/web").issues == {}

    @pytest.mark.parametrize("when", ["2", "Wed, 21 Oct 2026 07:28:00 GMT"])
    def test_both_forms_of_retry_after(self, forge: FakeGitea, client: httpx2.Client, when: str) -> None:
        forge.faults.add(too_many(when))
        assert (client.get(MINE).status_code, client.get(MINE).headers["retry-after"]) == (429, when)

    def test_a_redirect_can_lead_anywhere(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(redirect("https://elsewhere.example.test/"))
        assert client.get(MINE).headers["location"] == "https://elsewhere.example.test/"

    def test_a_list_can_hold_null(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(NullEntries((0, 2)))
        assert [one is None for one in client.get(MINE).json()] == [True, False, True]

    def test_json_can_be_of_another_shape(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Json({"repos": "many"}))
        assert client.get(MINE).json() == {"repos": "many"}

    def test_gzip_can_end_early(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Gzip(cut=8), skip=1)
        whole = client.get(MINE).content
        with client.stream("GET", MINE) as answer:
            raw = b"".join(answer.iter_raw())
        unpacked = zlib.decompressobj(31)
        assert (unpacked.decompress(raw), unpacked.eof) == (whole, False)

    def test_an_answer_can_be_compressed(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Gzip())
        answer = client.get(MINE)
        assert (answer.headers["content-encoding"], answer.json()[0]["name"]) == ("gzip", "web")

    def test_an_answer_can_have_more_headers(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Headers({"ratelimit-remaining": "3"}))
        assert client.get(MINE).headers["ratelimit-remaining"] == "3"

    def test_a_body_can_end_early(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(CutBody())
        with pytest.raises(httpx2.RemoteProtocolError):
            client.get(MINE)

    def test_a_body_can_go_on_for_ever(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Endless(), route=MINE)
        with client.stream("GET", MINE) as answer:
            pieces = answer.iter_raw()
            assert sum(len(next(pieces)) for _ in range(64)) > 1_000_000
        assert client.get("/user").status_code == 200

    def test_a_body_can_come_slowly(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Trickle(pause=0, size=1000))
        assert client.get(MINE).json()[0]["name"] == "web"

    @pytest.mark.parametrize("after", [False, True])
    def test_a_connection_can_be_reset_before_or_after_the_deed(
        self, forge: FakeGitea, client: httpx2.Client, after: bool
    ) -> None:
        forge.faults.add(Reset(after=after), method="POST")
        with pytest.raises(httpx2.ReadError):
            client.post("/repos/alice/web/issues", json={"title": "t"})
        assert len(forge.repo("alice/web").issues) == after

    def test_an_answer_can_never_come(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Hang(), times=1)
        with pytest.raises(httpx2.ReadTimeout):
            client.get(MINE, timeout=0.05)
        assert client.get(MINE).status_code == 200

    def test_delays_add_to_what_else_happens(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Delay(5), route=MINE)
        forge.faults.add(unavailable(), route=MINE)
        with pytest.raises(httpx2.ReadTimeout):
            client.get(MINE, timeout=0.05)
        assert client.get("/user").status_code == 200

    def test_they_can_be_for_one_user_and_path_only(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.add_user("bob", token=BOB)
        forge.faults.add(unavailable(), user="bob", path="/repos/*/a.md")
        path = "/repos/alice/web/raw/a.md"
        bob = {"Authorization": f"token {BOB}"}
        assert [client.get(path).status_code, client.get(path, headers=bob).status_code] == [200, 503]

    def test_without_a_server_a_reset_is_an_error_of_the_application(self, forge: FakeGitea) -> None:
        async def ask() -> None:
            transport = httpx2.ASGITransport(app=forge.app)
            async with httpx2.AsyncClient(transport=transport, base_url="https://git.example.test") as client:
                await client.get("/api/v1/version")

        forge.faults.add(Reset())
        with pytest.raises(ConnectionResetError):
            anyio.run(ask)

    def test_the_date_can_be_wrong(self, forge: FakeGitea, client: httpx2.Client) -> None:
        before = client.get("/version").headers["date"]
        forge.date_skew = -86400
        assert client.get("/version").headers["date"] != before


class TestCounts:
    def test_requests_are_counted_by_route_in_order(self, forge: FakeGitea, client: httpx2.Client) -> None:
        for path in (MINE, "/repos/alice/web/raw/a.md?ref=main", MINE, "/nope"):
            client.get(path)
        assert forge.counts == {
            "GET /user/repos": 2,
            "GET /repos/{owner}/{repo}/raw/{filepath}": 1,
            "GET /nope": 1,
        }
        assert [exchange.status for exchange in forge.requests] == [200, 200, 200, 404]
        second = forge.requests[1]
        assert (second.target, second.user) == ("/repos/alice/web/raw/a.md?ref=main", "alice")

    def test_a_reset_forgets_what_was(self, forge: FakeGitea, client: httpx2.Client) -> None:
        client.get(MINE)
        forge.reset_counts()
        assert (forge.requests, forge.max_in_flight) == ([], 0)

    def test_the_most_requests_at_once_are_known(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.faults.add(Hang(), times=3)

        def ask(_: int) -> None:
            with pytest.raises(httpx2.ReadTimeout):
                client.get(MINE, timeout=0.5)

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(ask, range(3)))
        assert forge.max_in_flight == 3


class TestPrivateAuthority:
    def test_only_who_trusts_it_is_served(self, tmp_path: Path) -> None:
        certificates = make_certificates(tmp_path)
        with listen(made(), tls=certificates) as url:
            with pytest.raises(httpx2.ConnectError), connected(url) as stranger:
                stranger.get("/version")
            trust = ssl.create_default_context(cafile=str(certificates.ca_file))
            with connected(url, trust) as client:
                assert (url[:8], client.get("/version").status_code) == ("https://", 200)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(made()) as server:
        yield server


class TestProcessOfItsOwn:
    def test_it_answers_and_counts(self, server: Server) -> None:
        server.reset_counts()
        with connected(server.url) as client:
            assert client.get(MINE).json()[0]["clone_url"] == server.url + "alice/web.git"
        assert (server.counts, server.max_in_flight) == ({"GET /user/repos": 1}, 1)
        assert server.requests[0].headers["authorization"] == f"token {TOKEN}"

    def test_it_can_be_changed(self, server: Server) -> None:
        server.run(FakeGitea.commit, "alice/web", {"b.md": "new"})
        with connected(server.url) as client:
            assert client.get("/repos/alice/web/raw/b.md").text == "new"

    def test_an_error_over_there_is_one_here(self, server: Server) -> None:
        with pytest.raises(KeyError):
            server.run(FakeGitea.remove, "alice/none")

    def test_faults_strike_there(self, server: Server) -> None:
        with connected(server.url) as client:
            server.add_fault(unavailable("1"), When(route=MINE))
            assert client.get(MINE).status_code == 503
            server.clear_faults()
            assert client.get(MINE).status_code == 200

    def test_it_can_be_stopped_and_goes_on_where_it_was(self, server: Server) -> None:
        url = server.url
        server.run(FakeGitea.commit, "alice/web", {"c.md": "kept"})
        server.stop()
        with connected(url) as client, pytest.raises(httpx2.ConnectError):
            client.get(MINE)
        server.start()
        with connected(server.url) as client:
            assert (server.url, client.get("/repos/alice/web/raw/c.md").text) == (url, "kept")

    def test_it_ends_with_its_parent(self, tmp_path: Path) -> None:
        code = (
            "import time\n"
            "from tests.fake_gitea import FakeGitea, serve\n"
            "with serve(FakeGitea()) as server:\n"
            "    print(server._process.pid, flush=True)\n"
            "    time.sleep(60)\n"
        )
        with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            child = int(parent.stdout.readline())
            watch = os.pidfd_open(child)
            parent.send_signal(signal.SIGKILL)
        try:
            assert select.select([watch], [], [], 10)[0] == [watch]
        finally:
            os.close(watch)
