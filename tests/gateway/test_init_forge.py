"""``gateway init`` for a forge: what is tried, what is written, and what never shows."""

from __future__ import annotations

import io
import stat
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fake_gitea import FakeGitea, listen, make_certificates, undescribed, web_page
from tests.support.cli import Home, Inside
from tests.support.gitea_client import ALICE, fake_forge
from tests.support.loopback import closed_port
from tests.support.terminal import Answer, converse

HIDDEN = "not shown): "  # the blank at its end comes when the terminal shows nothing any more
REFUSED, READER = "fake-token-of-nobody", "fake-token-reader"


@pytest.fixture
def forge() -> FakeGitea:
    forge = fake_forge()
    forge.root_url = "http://git.example.test/gitea/"
    forge.add_repo("acme/web", {".wiki/index.md": "# Wiki\n"})
    forge.add_repo("acme/projects-wiki", {".wiki/index.md": "# Wiki\n"})
    forge.add_repo("acme/wiki", {"README.md": "# An empty promise\n"})
    return forge


@pytest.fixture
def url(forge: FakeGitea) -> Iterator[str]:
    with listen(forge) as url:
        yield url.rstrip("/")
    assert undescribed(exchange for exchange in forge.requests if exchange.route) == []


@pytest.fixture
def token_file(home: Home) -> str:
    file = home.path / "token"
    file.write_text(ALICE + "\n", encoding="utf-8")
    file.chmod(0o600)
    return "~/token"


def written(home: Home) -> dict[str, Any]:
    return tomllib.loads(home.config.read_text(encoding="utf-8"))


class TestFlags:
    def test_they_are_enough(self, home: Home, run: Inside, url: str, token_file: str) -> None:
        shown = run("init", "--url", url, "--token-file", token_file, "--shared", "acme/projects-wiki")
        assert (shown.code, shown.err) == (0, "")
        assert "forge default: Gitea development at " in shown.out
        assert "forge default: the token is alice's; it has read:user" in shown.out
        assert f"wrote {home.config}\nnext: gateway sync" in shown.out
        assert written(home) == {
            "forge": {"kind": "gitea", "url": url, "token_file": token_file},
            "wiki": {"shared": "acme/projects-wiki"},
        }
        assert stat.S_IMODE(home.config.stat().st_mode) == 0o600
        assert run("sync").code == 0
        assert run("projects", "wiki").out == "acme/projects-wiki  0 pages\nacme/wiki  no wiki\n"

    @pytest.mark.parametrize("below", ["/", "/acme/web", "/acme/web.git", "/api/v1", "/acme/web/src/branch/main/.wiki"])
    def test_the_address_may_be_that_of_any_page(
        self, home: Home, run: Inside, url: str, token_file: str, below: str
    ) -> None:
        assert run("init", "--url", url + below, "--token-file", token_file).code == 0
        assert written(home)["forge"]["url"] == url

    def test_a_relative_file_is_written_whole(self, home: Home, run: Inside, url: str, token_file: str) -> None:
        assert run("init", "--url", url, "--token-file", "token").code == 0
        assert written(home)["forge"]["token_file"] == str(home.path / "token")

    def test_a_command_can_print_the_token(self, home: Home, run: Inside, url: str, token_file: str) -> None:
        command = f"cat {home.path}/token"
        assert run("init", "--url", url, "--token-command", command).code == 0
        assert written(home)["forge"] == {"kind": "gitea", "url": url, "token_command": command}

    def test_standard_input_can_bring_it(
        self, home: Home, run: Inside, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(f" {ALICE} \n"))
        shown = run("init", "--url", url, "--token-file", "-")
        assert shown.code == 0
        assert ALICE not in shown.out + shown.err
        assert written(home)["forge"]["token"] == ALICE

    def test_one_of_the_environment_is_used_and_not_written(
        self, home: Home, run: Inside, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GATEWAY_FORGE__TOKEN", ALICE)
        assert run("init", "--url", url).code == 0
        assert written(home)["forge"] == {"kind": "gitea", "url": url}

    def test_without_any_nobody_is_asked_where_there_is_nobody(self, home: Home, run: Inside, url: str) -> None:
        shown = run("init", "--url", url)
        assert shown.code == 2
        assert "name --token-file or --token-command, or set GATEWAY_FORGE__TOKEN" in shown.err
        assert not home.config.exists()

    def test_a_private_authority_can_be_named(self, home: Home, run: Inside, forge: FakeGitea, token_file: str) -> None:
        certificates = make_certificates(home.path)
        with listen(forge, tls=certificates) as url:
            shown = run("init", "--url", url, "--token-file", token_file)
            assert shown.code == 3
            assert shown.err.endswith(
                "put the certificate of its authority (PEM) into a file, and its path into --ca-file\n"
            )
            assert run("init", "--url", url, "--token-file", token_file, "--ca-file", "~/ca.pem").code == 0
        assert written(home)["forge"]["ca_file"] == "~/ca.pem"


class TestFailures:
    def check(self, home: Home, run: Inside, url: str, *args: str) -> str:
        """The one line that says why nothing is written."""
        shown = run("init", "--url", url, *args)
        assert shown.code == 3
        assert not home.config.exists()
        assert shown.err.count("\n") == 1
        return shown.out + shown.err

    def test_nobody_there(self, home: Home, run: Inside, token_file: str) -> None:
        shown = self.check(home, run, f"127.0.0.1:{closed_port()}", "--token-file", token_file)
        assert "connection refused — see that it runs, and that the address has the right host and port" in shown

    def test_no_forge(self, home: Home, run: Inside, forge: FakeGitea, url: str, token_file: str) -> None:
        forge.faults.add(web_page())
        shown = self.check(home, run, url, "--token-file", token_file)
        assert "HTML where the API's answer was expected" in shown
        assert not any("authorization" in request.headers for request in forge.requests)

    def test_no_address(self, home: Home, run: Inside, token_file: str) -> None:
        assert "is no address such as" in self.check(home, run, "my forge", "--token-file", token_file)

    def test_no_such_file(self, home: Home, run: Inside, url: str) -> None:
        assert "~/none is no file" in self.check(home, run, url, "--token-file", "~/none")

    def test_a_refused_token(self, home: Home, run: Inside, url: str) -> None:
        (home.path / "token").write_text(REFUSED, encoding="utf-8")
        shown = self.check(home, run, url, "--token-file", "~/token")
        assert "fail forge default: token refused by 127.0.0.1:" in shown
        assert "that does not work yet, so nothing is written" in shown
        assert REFUSED not in shown

    def test_a_missing_scope(self, home: Home, run: Inside, forge: FakeGitea, url: str) -> None:
        forge.add_token("alice", READER, {"read:repository"})
        (home.path / "token").write_text(READER, encoding="utf-8")
        shown = self.check(home, run, url, "--token-file", "~/token")
        assert "the token lacks read:user: nothing can be listed" in shown

    def test_what_is_there_already_stays(self, home: Home, run: Inside, forge: FakeGitea, url: str) -> None:
        home.configure("# mine\n")
        assert run("init", "--url", url).code == 3
        assert home.config.read_text(encoding="utf-8") == "# mine\n"
        assert forge.requests == []


class TestQuestions:
    def test_a_person_is_asked_for_what_is_missing(self, home: Home, url: str) -> None:
        answers = [
            ("Address of your Gitea or Forgejo server", f"{url}/acme/web"),
            (f"Token (made at {url}/user/settings/applications with read:user and read:repository; {HIDDEN}", ALICE),
            ("[acme/projects-wiki]", ""),
        ]
        code, shown = converse(home, ["init"], answers)
        assert code == 0, shown
        assert ALICE not in shown
        assert written(home) == {
            "forge": {"kind": "gitea", "url": url, "token": ALICE},
            "wiki": {"shared": "acme/projects-wiki"},
        }
        assert stat.S_IMODE(home.config.stat().st_mode) == 0o600

    def test_a_person_who_errs_is_asked_again(self, home: Home, url: str) -> None:
        answers = [
            ("Address of", "nothing like an address"),
            ("Address of", url),
            (HIDDEN, REFUSED),
            (HIDDEN, ALICE),
            ("belongs to everybody", "acme/none"),
        ]
        code, shown = converse(home, ["init"], answers)
        assert code == 0, shown
        assert REFUSED not in shown
        assert "shared wiki acme/none: not found or not visible to this token" in shown
        assert written(home)["wiki"] == {"shared": "acme/none"}

    def test_what_somebody_else_writes_meanwhile_stays(self, home: Home, url: str) -> None:
        def theirs() -> str:
            home.configure("# theirs\n")
            return "-"

        answers: list[tuple[str, Answer]] = [("Address of", url), (HIDDEN, ALICE), ("belongs to everybody", theirs)]
        code, shown = converse(home, ["init"], answers)
        assert (code, home.config.read_text(encoding="utf-8")) == (3, "# theirs\n"), shown

    def test_nobody_errs_for_ever(self, home: Home, url: str) -> None:
        code, shown = converse(home, ["init", "--url", url], [(HIDDEN, REFUSED)] * 3)
        assert code == 3, shown
        assert not home.config.exists()
