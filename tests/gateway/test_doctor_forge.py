"""``gateway doctor`` against a forge that answers as a real one does, against what is none, and against nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway import config, examine
from gateway.doctor import Finding, State
from tests.fake_gitea import FakeGitea, Hang, Headers, Reply, listen, make_certificates, too_many, undescribed, web_page
from tests.support.cli import Home, Inside, Outcome
from tests.support.gitea_client import ALICE, fake_forge
from tests.support.loopback import closed_port, make_authority, ok, respond, serving

BOB, CAROL = "fake-token-bob", "fake-token-carol"
LESS, NOBODYS = "fake-token-less", "fake-token-of-nobody"
WIKI = {".wiki/index.md": "# Wiki\n"}


@pytest.fixture
def forge() -> FakeGitea:
    forge = fake_forge()
    forge.root_url = "http://git.example.test/tools/gitea/"
    forge.add_repo("acme/wiki", WIKI)
    forge.add_repo("acme/code", {"README.md": "# Code\n"})
    forge.add_repo("acme/empty")
    forge.add_repo("bob/secret", WIKI, private=True)
    return forge


@pytest.fixture
def url(forge: FakeGitea) -> Iterator[str]:
    with listen(forge) as url:
        yield url


@pytest.fixture
def doctor(home: Home, run: Inside, url: str) -> Doctor:
    return Doctor(home, run, url)


class Doctor:
    """``gateway doctor`` with the forge at ``url`` configured."""

    def __init__(self, home: Home, run: Inside, url: str) -> None:
        self.home, self.run, self.url = home, run, url

    def __call__(self, more: str = "", *, url: str = "", token: str = ALICE) -> Outcome:
        self.home.configure(f'[forge]\nurl = "{url or self.url}"\ntoken = "{token}"\n{more}')
        self.home.config.chmod(0o600)
        shown = self.run("doctor")
        assert token not in shown.out + shown.err
        assert shown.err == ""
        return shown


def test_that_no_shared_wiki_is_set_is_told_before_there_is_a_cache(doctor: Doctor) -> None:
    shown = doctor()
    assert "there is no cache yet" in shown.out
    assert remedy_of(shown, "no shared wiki: knowledge.search has nowhere to look") == "set [wiki] shared"


def remedy_of(shown: Outcome, finding: str) -> str:
    """The remedy below the one finding that holds these words."""
    lines = shown.out.splitlines()
    (place,) = [number for number, line in enumerate(lines) if finding in line]
    return lines[place + 1].strip().removeprefix("→ ")


def test_all_is_well_after_the_first_steps(forge: FakeGitea, doctor: Doctor, url: str) -> None:
    doctor('[wiki]\nshared = "acme/wiki"\n')
    doctor.run("sync")
    doctor.run("client-config", "claude-code", "--write")
    shown = doctor('[wiki]\nshared = "acme/wiki"\n')
    assert shown.code == 0
    assert [line for line in shown.out.splitlines() if not line.startswith("ok ")] == [
        "note pages are read from .wiki/ in each repository, not from a forge's Wiki tab"
    ]
    assert f"forge default: Gitea development at {url.rstrip('/')}\n" in shown.out
    assert "forge default: 4 repositories\n" in shown.out
    assert "shared wiki: acme/wiki, 0 pages\n" in shown.out
    assert undescribed(forge.requests) == []


class TestAddress:
    def test_a_repositorys_is_corrected(self, doctor: Doctor, url: str) -> None:
        shown = doctor(url=f"{url}acme/code")
        assert shown.code == 3
        expected = f'write url = "{url.rstrip("/")}" in [forge]: a forge answers there'
        assert remedy_of(shown, "no Gitea API at this address (HTTP 404)") == expected

    def test_a_page_for_people_is_told_from_a_forge(self, forge: FakeGitea, doctor: Doctor) -> None:
        forge.faults.add(web_page())
        assert "correct [forge] url" in remedy_of(doctor(), "HTML where the API's answer was expected")

    def test_an_api_that_is_switched_off_is_told(self, forge: FakeGitea, doctor: Doctor) -> None:
        forge.faults.add(Reply(404, "404 page not found\n", "text/plain; charset=utf-8"))
        assert "the API is switched off" in remedy_of(doctor(), "no Gitea API at this address")

    def test_one_that_a_proxy_keeps_back_is_told(self, forge: FakeGitea, doctor: Doctor) -> None:
        forge.faults.add(web_page(403))
        assert "have /api/v1 let through" in remedy_of(doctor(), "answers HTTP 403 Forbidden")

    @pytest.mark.anyio
    async def test_another_web_server_is_no_forge(self, tmp_path: Path) -> None:
        async with serving(respond(ok(b"It works!"))) as port:
            (found,) = await findings(tmp_path, f'url = "http://127.0.0.1:{port}"')
        assert (found.state, found.text) == (
            State.FAIL,
            f"forge default: 127.0.0.1:{port} unreachable: damaged JSON where the API's answer was expected",
        )

    def test_nobody_there_is_told(self, doctor: Doctor) -> None:
        shown = doctor(url=f"http://127.0.0.1:{closed_port()}")
        assert shown.code == 3
        assert remedy_of(shown, "connection refused").startswith("see that it runs, and that [forge] url has the right")

    def test_a_proxy_in_the_way_is_told(self, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
        port = closed_port()
        monkeypatch.setenv("HTTP_PROXY", f"http://me:fake-password@127.0.0.1:{port}")
        shown = doctor(url="http://git.example.test")
        assert "NO_PROXY" in remedy_of(shown, f"proxy 127.0.0.1:{port}: connection refused")
        assert "fake-password" not in shown.out


async def findings(tmp_path: Path, forge: str, *, deadline: float = examine.DEADLINE) -> list[Finding]:
    (tmp_path / "auth.toml").write_text(f"[forge]\n{forge}\n", encoding="utf-8")
    loaded = config.load(tmp_path / "auth.toml", {}, tmp_path)
    assert loaded is not None
    return (await examine.forges(loaded.settings, deadline=deadline)).findings


@pytest.mark.anyio
class TestCertificate:
    async def test_an_authority_of_ones_own_is_told_and_can_be_named(self, forge: FakeGitea, tmp_path: Path) -> None:
        certificates = make_certificates(tmp_path)
        with listen(forge, tls=certificates) as url:
            (found,) = await findings(tmp_path, f'url = "{url}"')
            assert "TLS certificate not accepted: unable to get local issuer certificate" in found.text
            assert found.remedy.endswith("its path into [forge] ca_file")
            named = await findings(tmp_path, f'url = "{url}"\nuser = "acme"\nca_file = "ca.pem"')
            assert State.FAIL not in {finding.state for finding in named}

    @pytest.mark.parametrize(
        ("host", "days_old", "why", "remedy"),
        [
            ("127.0.0.1", 3, "certificate has expired", "have the certificate renewed"),
            ("127.0.0.9", 0, "IP address mismatch", "write the name that the certificate is for into [forge] url"),
        ],
    )
    async def test_one_that_does_not_fit_is_told(
        self, tmp_path: Path, host: str, days_old: int, why: str, remedy: str
    ) -> None:
        authority = make_authority(tmp_path, host=host, days_old=days_old)
        async with serving(respond(ok(b"{}")), tls=authority.server) as port:
            (found,) = await findings(tmp_path, f'url = "https://127.0.0.1:{port}"\nca_file = "ca.pem"')
        assert why in found.text
        assert found.remedy.startswith(remedy)

    async def test_a_ca_file_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        (found,) = await findings(tmp_path, 'url = "https://127.0.0.1:1"\nca_file = "none.pem"')
        assert found.text == "forge default: ca_file cannot be read: No such file or directory"


class TestToken:
    def test_a_refused_one_is_told(self, doctor: Doctor) -> None:
        shown = doctor(token=NOBODYS)
        assert shown.code == 3
        assert "/user/settings/applications" in remedy_of(shown, "token refused by 127.0.0.1:")

    def test_each_missing_scope_tells_what_stops_without_it(self, forge: FakeGitea, doctor: Doctor) -> None:
        forge.add_user("bob", token=BOB, scopes={"read:user", "read:repository"})
        shown = doctor(token=BOB)
        assert shown.code == 0
        assert "warn forge default: the token lacks write:repository: pages cannot be written\n" in shown.out
        assert "warn forge default: the token lacks write:issue: tasks cannot be filed as issues\n" in shown.out
        forge.add_token("bob", LESS, {"read:issue"})
        shown = doctor(token=LESS)
        assert shown.code == 3
        assert "fail forge default: the token lacks read:user: nothing can be listed\n" in shown.out
        assert "fail forge default: the token lacks read:repository: no repository can be read\n" in shown.out

    def test_a_file_that_is_not_there_or_open_to_all_is_told(self, doctor: Doctor, url: str) -> None:
        doctor.home.configure(f'[forge]\nurl = "{url}"\ntoken_file = "token"\n')
        shown = doctor.run("doctor")
        assert shown.code == 3
        assert remedy_of(shown, "token_file cannot be read: No such file") == "correct [forge] token_file"
        file = doctor.home.config.with_name("token")
        file.write_text(ALICE, encoding="utf-8")
        file.chmod(0o644)
        shown = doctor.run("doctor")
        assert shown.code == 0
        assert remedy_of(shown, "which holds a token") == f"chmod 600 {file}"


class TestSurroundings:
    def test_a_clock_that_is_off_is_told(self, forge: FakeGitea, doctor: Doctor) -> None:
        forge.date_skew = 600.0
        assert "NTP" in remedy_of(doctor(), "s behind the forge's")

    def test_a_limit_that_is_near_is_told(self, forge: FakeGitea, doctor: Doctor) -> None:
        forge.faults.add(Headers({"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "7"}))
        assert "sync less often" in remedy_of(doctor(), "only 7 of 1000 requests are left for now")

    def test_one_that_is_reached_is_told(self, forge: FakeGitea, doctor: Doctor) -> None:
        forge.faults.add(too_many("3600"))
        assert "sync less often" in remedy_of(doctor(), "HTTP 429 Too Many Requests")

    @pytest.mark.anyio
    async def test_a_forge_that_says_nothing_does_not_keep_the_others_back(
        self, forge: FakeGitea, url: str, tmp_path: Path
    ) -> None:
        forge.faults.add(Hang())
        (tmp_path / "src").mkdir()
        (tmp_path / "auth.toml").write_text(
            f'[forges.work]\nurl = "{url}"\n[forges.here]\nroots = ["src"]\n', encoding="utf-8"
        )
        loaded = config.load(tmp_path / "auth.toml", {}, tmp_path)
        assert loaded is not None
        examined = await examine.forges(loaded.settings, deadline=0.5)
        assert [finding.text for finding in examined.findings] == [
            "forge work: no answer within 0.5 s",
            "forge here: no git repository found",
        ]


class TestSharedWiki:
    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("acme/none", "not found or not visible to this token"),
            ("bob/secret", "not found or not visible to this token"),
            ("acme/code", "it has no .wiki/"),
            ("acme/empty", "it is empty"),
        ],
    )
    def test_one_that_cannot_be_used_is_told_before_any_sync(
        self, forge: FakeGitea, doctor: Doctor, name: str, why: str
    ) -> None:
        forge.add_user("carol", token=CAROL)
        shown = doctor(f'[wiki]\nshared = "{name}"\n', token=CAROL)
        assert shown.code == 3
        assert "correct [wiki] shared" in remedy_of(shown, f"fail shared wiki {name}: {why}")
        assert shown.out.count("shared wiki") == 1
