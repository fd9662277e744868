"""``gateway ingest``: a file becomes a page, and what the exit code says."""

from __future__ import annotations

import io

import pytest

from tests.support.cli import Home, Inside, Outcome
from tests.support.git import git, needs_git
from tests.support.ingesting import revision

TEXT = "# Cache keys\n\nEach build has its own.\n"
WEB = "src/acme/web/.wiki"


@pytest.fixture
def synced(home: Home, run: Inside) -> Inside:
    home.with_fleet()
    assert run("sync").code == 0
    (home.path / "cache-keys.md").write_text(TEXT, encoding="utf-8")
    return run


def test_a_file_becomes_a_page_under_its_name_and_title(synced: Inside, home: Home) -> None:
    shown = synced("ingest", "cache-keys.md", "--project", "web", "--type", "concepts", "--description", "what tells")
    page = home.path / WEB / "concepts/cache-keys.md"
    assert shown == Outcome(
        0,
        "local/acme/web/.wiki/concepts/cache-keys.md  created\n"
        f"  revision {revision(TEXT)}\n"
        "  it is in the working tree: commit it there\n",
        "",
    )
    assert page.read_text(encoding="utf-8") == TEXT
    line = "- [Cache keys](concepts/cache-keys.md): what tells\n"
    assert (home.path / WEB / "index.md").read_text(encoding="utf-8").count(line) == 1


def test_without_a_project_it_goes_to_the_shared_wiki(synced: Inside) -> None:
    shown = synced("ingest", "cache-keys.md", "--type", "concepts")
    assert (shown.code, shown.out.splitlines()[0]) == (0, "local/acme/handbook/.wiki/concepts/cache-keys.md  created")


def test_what_is_given_outranks_what_the_file_says(synced: Inside, home: Home) -> None:
    shown = synced("ingest", "cache-keys.md", "-p", "web", "--slug", "entities/keys", "--title", "Keys")
    assert shown.out.startswith("local/acme/web/.wiki/entities/keys.md  created\n")
    assert "[Keys](entities/keys.md)" in (home.path / WEB / "index.md").read_text(encoding="utf-8")


def test_the_title_in_front_matter_counts(synced: Inside, home: Home) -> None:
    (home.path / "x.md").write_text("---\ntitle: Front\n---\n# Heading\n", encoding="utf-8")
    assert synced("ingest", "x.md", "-p", "web", "--type", "concepts").code == 0
    assert "[Front](concepts/x.md)" in (home.path / WEB / "index.md").read_text(encoding="utf-8")


def test_a_page_comes_from_stdin_with_a_name(synced: Inside, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.replace("\n", "\r\n").encode())))
    assert synced("ingest", "-", "-p", "web", "--slug", "concepts/keys").code == 0
    assert (home.path / WEB / "concepts/keys.md").read_bytes() == TEXT.replace("\n", "\r\n").encode()


def test_the_same_again_is_told_as_such(synced: Inside) -> None:
    synced("ingest", "cache-keys.md", "-p", "web", "--type", "concepts")
    shown = synced("ingest", "cache-keys.md", "-p", "web", "--type", "concepts")
    assert (shown.code, shown.out.splitlines()[0]) == (0, "local/acme/web/.wiki/concepts/cache-keys.md")
    assert shown.out.endswith("  all of it was there already: nothing was written\n")


def test_a_conflict_is_one_line_and_3(synced: Inside, home: Home) -> None:
    synced("ingest", "cache-keys.md", "-p", "web", "--type", "concepts")
    (home.path / "cache-keys.md").write_text("# Cache keys\n\nMore.\n", encoding="utf-8")
    shown = synced("ingest", "cache-keys.md", "-p", "web", "--type", "concepts")
    assert (shown.code, shown.out, shown.err.count("\n")) == (3, "", 1)
    assert shown.err.startswith("gateway: page exists: local/acme/web/.wiki/concepts/cache-keys.md is at revision ")
    changed = synced(
        "ingest", "cache-keys.md", "-p", "web", "--type", "concepts", "--expected-revision", revision(TEXT)
    )
    assert changed.code == 0


@needs_git
def test_a_dry_run_prints_what_git_applies_and_tells_the_rest_on_stderr(synced: Inside, home: Home) -> None:
    shown = synced("ingest", "cache-keys.md", "-p", "web", "--type", "concepts", "--dry-run")
    assert (shown.code, shown.err.splitlines()[0]) == (
        0,
        "local/acme/web/.wiki/concepts/cache-keys.md  would be new",
    )
    (home.path / "patch").write_text(shown.out, encoding="utf-8")
    git(home.path / "src/acme/web", "apply", str(home.path / "patch"))
    assert (home.path / WEB / "concepts/cache-keys.md").read_text(encoding="utf-8") == TEXT


def test_a_read_only_gateway_refuses(synced: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_GATEWAY__READ_ONLY", "true")
    shown = synced("ingest", "cache-keys.md", "-p", "web", "--type", "concepts")
    assert (shown.code, shown.out) == (3, "")
    assert shown.err.startswith("gateway: this gateway is read-only — ")


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"\xff\xfe", "not UTF-8 text: page.md"), (b"x" * (1024 * 1024 + 1), "page.md is larger than 1048576 bytes")],
    ids=["bytes", "large"],
)
def test_what_is_no_text_is_refused(synced: Inside, home: Home, data: bytes, line: str) -> None:
    (home.path / "page.md").write_bytes(data)
    assert synced("ingest", "page.md", "-p", "web", "--type", "concepts") == Outcome(3, "", f"gateway: {line}\n")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "Missing argument 'file'"),
        (["nowhere.md"], "nowhere.md cannot be read: no such file or directory"),
        (["."], ". cannot be read: is a directory"),
        (["-"], "name the page by --slug: stdin has no name to take it from"),
        (["plain.md", "--type", "concepts"], "give a --title: there is none in the page"),
        (["cache-keys.md"], "a new page needs type, or a slug that starts with one"),
        (["cache-keys.md", "--type", "guides"], "type guides is none"),
        (["cache-keys.md", "--type", "concepts", "--slug", "keys.md"], "leave .md out"),
        (["cache-keys.md", "--type", "concepts", "-p", "acme/*"], "target_project: names, not patterns"),
    ],
)
def test_a_slip_of_usage_is_told(
    synced: Inside, home: Home, monkeypatch: pytest.MonkeyPatch, args: list[str], told: str
) -> None:
    (home.path / "plain.md").write_text("No heading.\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    shown = synced("ingest", *args)
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert told in shown.err
