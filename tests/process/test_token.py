"""The token stands nowhere but in the configuration: not in output, logs, errors, caches, exports or client files.

At its end every session looks through everything that whole processes wrote in it, whichever tests ran (see
``tests/conftest.py``).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_gitea import FakeGitea, Reply, Server, web_page
from tests.fake_gitea.faults import When
from tests.support.gitea_fleet import wiki
from tests.support.installation import TOKEN, Installation, asked, filled, wait_until
from tests.support.leaks import files_below, holding
from tests.support.stdio_process import StdioProcess, call

REPOSITORIES = {"acme/web": wiki("Yarn"), "acme/api": wiki("Limits"), "acme/odd": wiki("Odd")}
SAID = f"Your token {TOKEN} may not do this"


@pytest.fixture
def server(forge_process: Server) -> Server:
    return filled(forge_process, REPOSITORIES)


def test_it_is_found_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"Authorization: token {TOKEN}")
    (tmp_path / "other").write_text("nothing")
    assert holding(files_below(tmp_path)) == [tmp_path / "log"]


def test_no_command_writes_it(installation: Installation, server: Server) -> None:
    """Neither when all is well nor when the forge itself repeats it in a refusal; with -v too."""
    installation.configure(server, '[sync]\npages = "all"\n[wiki]\nshared = "acme/web"\n')
    for args in (
        ("sync", "-v"),
        ("cache", "export"),
        ("doctor", "-v"),
        ("ask", "yarn", "-p", "acme/web", "-v"),
        ("client-config", "claude-code"),
        ("client-config", "cursor", "--write"),
    ):
        installation.run(*args)
    for fault in (Reply(403, f'{{"message": "{SAID}"}}', "application/json"), Reply(500, SAID, "text/plain")):
        server.add_fault(fault, When(path="/repos/acme/odd/*"))
        server.run(FakeGitea.commit, "acme/odd", {".wiki/late.md": "# Late\n"})
        assert installation.run("sync", "-v").code == 3
        installation.run("ask", "odd", "-p", "acme/odd", "-v")
        server.clear_faults()
    server.add_fault(Reply(401, f'{{"message": "{SAID}"}}', "application/json"))
    assert installation.run("sync", "-v").code == 4
    server.run(FakeGitea.revoke, TOKEN)
    assert installation.run("sync", "--json").code == 4
    assert holding(files_below(installation.folder)) == []


def test_no_gateway_writes_it(installation: Installation, server: Server) -> None:
    installation.configure(server)
    installation.fill()
    log = installation.folder / "serve.err"
    with StdioProcess(log, installation.command("serve", "-v"), env=installation.environ) as gateway:
        gateway.handshake()
        answers = [gateway.ask(call(1, "knowledge.get_from", project="acme/web", slug="concepts/yarn"))]
        server.add_fault(Reply(403, f'{{"message": "{SAID}"}}', "application/json"))
        answers.append(gateway.ask(call(2, "knowledge.get_from", project="acme/web", slug="concepts/yarn")))
        answers.append(gateway.ask(call(3, "projects.refresh", project="acme/web")))
        answers.append(gateway.ask(call(4, "knowledge.ask_projects", query="limits", projects=["acme/api"])))
    assert TOKEN not in repr(answers)
    assert "may not do this" in repr(answers)
    assert holding(files_below(installation.folder)) == []


@pytest.mark.parametrize("where", ["token_file", pytest.param("token_command", marks=pytest.mark.full)])
def test_it_is_not_written_either_when_it_is_read_from_elsewhere(
    installation: Installation, server: Server, where: str
) -> None:
    """Not even what a command or a file gives that is no token."""
    secret = installation.config.with_name("secret")
    secret.write_text(f"{TOKEN} and more words\n")
    value = str(secret) if where == "token_file" else f"cat {secret}"
    installation.config.write_text(
        f'[forge]\nurl = "{server.url}"\n{where} = "{value}"\n[cache]\nfile = "{installation.cache}"\n'
    )
    shown = installation.run("sync", "-v")
    assert shown.code == 4
    assert f"{where} gives something that is no token" in shown.err
    assert holding(files_below(installation.folder)) == []


@pytest.mark.full
@pytest.mark.parametrize(
    "lines",
    [
        f'url = "https://git.example.test"\ntoken = ["{TOKEN}"]',
        f'url = "https://git.example.test"\ntokens = "{TOKEN}"',
        f'url = "https://alice:{TOKEN}@git.example.test"',
        f'url = "https://git.example.test"\ntoken = "{TOKEN}',
    ],
    ids=["type", "key", "URL", "TOML"],
)
def test_a_slip_in_the_configuration_does_not_show_it(installation: Installation, lines: str) -> None:
    installation.config.write_text(f"[forge]\n{lines}\n")
    shown = installation.run("sync", "-v")
    assert shown.code == 3
    assert shown.err.startswith("gateway: ")
    assert holding(files_below(installation.folder)) == []


def test_it_is_not_in_the_files_of_a_sync_that_was_killed(installation: Installation, server: Server) -> None:
    installation.configure(server, '[sync]\npages = "all"\n')
    server.add_fault(web_page(), When(skip=9))
    running = installation.start("sync", "-v")
    wait_until(lambda: running.ended or server.run(asked) > 6)
    running.kill()
    assert (installation.cache.parent / "cache.db").exists()
    assert holding(files_below(installation.folder)) == []
