"""``gateway task``: a text becomes a task, and what the exit code says."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.support.cli import Home, Inside, Outcome


@pytest.fixture
def synced(home: Home, run: Inside) -> Inside:
    home.with_fleet()
    assert run("sync").code == 0
    return run


@pytest.fixture
def tasks(home: Home) -> Path:
    return home.path / "src/acme/web/.tasks"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.md") if path.name != "STATUS.md"]


def test_a_text_becomes_a_task(synced: Inside, tasks: Path) -> None:
    shown = synced("task", "web", "Fix yarn on Windows", "--label", "bug", "--label", "windows")
    (file,) = files(tasks)
    assert shown == Outcome(0, f"local/acme/web/.tasks/{file.name}  filed\n", "")
    assert file.name.endswith("-fix-yarn-on-windows.md")
    assert 'labels: ["bug", "windows"]' in file.read_text("utf-8")


def test_the_same_text_is_told_as_such(synced: Inside, tasks: Path) -> None:
    synced("task", "web", "Fix yarn on Windows")
    shown = synced("task", "local/acme/web", "Fix yarn on Windows\n")
    assert shown == Outcome(0, f"local/acme/web/.tasks/{files(tasks)[0].name}  filed before\n", "")


def test_a_dry_run_files_nothing(synced: Inside, tasks: Path) -> None:
    shown = synced("task", "web", "Fix yarn on Windows", "--title", "Yarn", "--dry-run")
    assert shown.code == 0
    assert shown.out.endswith("-yarn.md  would be filed\n")
    assert files(tasks) == []


def test_a_longer_text_comes_from_stdin(synced: Inside, tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("# Über yarn\r\n\r\n- [ ] x\r\n".encode())))
    assert synced("task", "web", "-").code == 0
    (file,) = files(tasks)
    assert file.name.endswith("-über-yarn.md")
    assert file.read_bytes().endswith("---\n\n# Über yarn\r\n\r\n- [ ] x\n".encode())


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"\xff\xfe", "not UTF-8 text: stdin"), (b"x" * (1024 * 1024 + 1), "stdin is larger than 1048576 bytes")],
    ids=["bytes", "large"],
)
def test_what_is_no_text_is_refused(synced: Inside, monkeypatch: pytest.MonkeyPatch, data: bytes, line: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert synced("task", "web", "-") == Outcome(3, "", f"gateway: {line}\n")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["web"], "Missing argument 'text'"),
        (["web", "Fix", "yarn"], "put the text in quotes"),
        (["web", " "], "body is empty — say what is to be done"),
        (["web", "Fix yarn", "--title", "a\nb"], "title must be one line without control characters"),
        (["acme/*", "Fix yarn"], "target_project: names, not patterns"),
    ],
)
def test_a_slip_of_usage_is_told(synced: Inside, args: list[str], told: str) -> None:
    shown = synced("task", *args)
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert told in shown.err


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("[write]\nallow = []\n", "local/acme/web is not to be written to — add it to [write] allow"),
        ("[gateway]\nread_only = true\n", "this gateway is read-only — start it without --read-only, and unset"),
        ('[tasks]\nfiling = "issue"\n', "local/acme/web is a local repository, which has no issues — set [tasks]"),
        ('[tasks.projects]\nweb = "issue"\n', "local/acme/web is a local repository, which has no issues"),
    ],
)
def test_a_refusal_is_a_failure(home: Home, synced: Inside, tasks: Path, config: str, told: str) -> None:
    home.configure(home.config.read_text("utf-8") + config)
    shown = synced("task", "web", "Fix yarn")
    assert (shown.code, shown.out) == (3, "")
    assert told in shown.err
    assert files(tasks) == []
