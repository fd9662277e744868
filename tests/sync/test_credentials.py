"""Where a token comes from, and that it is never shown."""

import os
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from cache.errors import Denied
from sync.credentials import COMMAND_REST, Credentials, TokenSource
from tests.support.timing import ManualTime

pytestmark = pytest.mark.anyio

FAKE = "fake-token-for-tests"


def command(script: str) -> str:
    """A command line that runs ``script`` with Python."""
    return f"'{sys.executable}' -c '{script}'"


async def message_of(source: TokenSource) -> str:
    with pytest.raises(Denied) as caught:
        await Credentials(source).token()
    return caught.value.message


async def test_no_source_is_no_token() -> None:
    credentials = Credentials(TokenSource())
    assert await credentials.token() == ""
    assert await credentials.renewed("") is None


async def test_a_token_that_is_given_is_taken() -> None:
    credentials = Credentials(TokenSource(token=FAKE))
    assert await credentials.token() == FAKE
    assert await credentials.renewed(FAKE) is None


async def test_a_file_holds_the_token_and_perhaps_a_line_end(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{FAKE}\n", "utf-8")
    assert await Credentials(TokenSource(file=file)).token() == FAKE


async def test_a_file_is_read_again_when_the_token_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("fake-old-token", "utf-8")
    credentials = Credentials(TokenSource(file=file))
    old = await credentials.token()
    assert await credentials.renewed(old) is None
    file.write_text("fake-new-token", "utf-8")
    assert await credentials.token() == old
    assert await credentials.renewed(old) == "fake-new-token"
    assert await credentials.token() == "fake-new-token"


async def test_many_that_are_refused_at_once_read_it_once(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("fake-old-token", "utf-8")
    credentials = Credentials(TokenSource(file=file))
    old = await credentials.token()
    file.write_text("fake-new-token", "utf-8")
    assert await credentials.renewed(old) == "fake-new-token"
    file.unlink()
    assert await credentials.renewed(old) == "fake-new-token"


async def test_a_command_prints_the_token() -> None:
    assert await Credentials(TokenSource(command=command(f'print("{FAKE}")'))).token() == FAKE


async def test_a_command_gets_the_environment_that_is_passed_in_and_runs_in_the_root_folder() -> None:
    script = 'import os; print(os.environ["VAULT"] + os.getcwd())'
    source = TokenSource(command=command(script), environ={"VAULT": "fake-"})
    assert await Credentials(source).token() == "fake-/"


async def test_a_command_is_not_run_again_at_once(tmp_path: Path) -> None:
    runs, time = tmp_path / "runs", ManualTime()
    script = f'open("{runs}", "a").write("x"); print("fake-" + open("{runs}").read())'
    credentials = Credentials(TokenSource(command=command(script)), clock=time.clock)
    assert await credentials.token() == "fake-x"
    assert await credentials.renewed("fake-x") is None
    time.value += COMMAND_REST
    assert await credentials.renewed("fake-x") == "fake-xx"


async def test_a_command_that_fails_is_not_run_again_at_once(tmp_path: Path) -> None:
    runs, time = tmp_path / "runs", ManualTime()
    script = f'open("{runs}", "a").write("x"); raise SystemExit(3)'
    credentials = Credentials(TokenSource(command=command(script)), clock=time.clock)
    for _ in range(3):
        with pytest.raises(Denied, match="exit code 3"):
            await credentials.token()
    assert runs.read_text("utf-8") == "x"


async def test_a_command_whose_caller_gives_up_is_ended(tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    script = f'open("{started}", "w").close(); import time; time.sleep(600)'
    credentials = Credentials(TokenSource(command=command(script)))
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(credentials.token)
            await anyio.to_thread.run_sync(started.read_bytes)
            group.cancel_scope.cancel()


async def test_what_is_no_token_is_refused_without_showing_it(tmp_path: Path) -> None:
    file = tmp_path / "token"
    for content in (b"two words", b"fake\nlines", b"fake\xfftoken", "fäke".encode(), b"x" * 5000):
        file.write_bytes(content)
        message = await message_of(TokenSource(file=file))
        assert message == "token_file gives something that is no token — run gateway doctor"


@pytest.mark.parametrize("content", [b"", b" \n"])
async def test_an_empty_file_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    assert await message_of(TokenSource(file=file)) == "token_file gives no token — run gateway doctor"


async def test_a_file_that_is_missing_is_told_without_its_path(tmp_path: Path) -> None:
    message = await message_of(TokenSource(file=tmp_path / "none"))
    assert message == "token_file cannot be read: No such file or directory — run gateway doctor"


@pytest.mark.parametrize(
    ("line", "why"), [("no-such-program", "No such file"), ("'", "no command line"), (" ", "no command line")]
)
async def test_a_command_that_cannot_be_run_is_told(line: str, why: str) -> None:
    assert why in await message_of(TokenSource(command=line))


def test_no_representation_shows_a_secret() -> None:
    source = TokenSource(token=FAKE, command=f"echo {FAKE}", environ={"TOKEN": FAKE})
    assert FAKE not in repr(source)
    assert FAKE not in repr(Credentials(source))
