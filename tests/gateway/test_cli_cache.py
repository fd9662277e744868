"""``gateway cache info`` and ``check`` on what is not as it should be."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.exits import Exit
from tests.support.cli import Home, Inside
from tests.support.repos import make_repo


@pytest.fixture
def file(home: Home, run: Inside) -> Path:
    """The cache of a synced fleet."""
    home.with_fleet()
    assert run("sync").code == 0
    return home.path / ".local/state/gitea-knowledge-gateway/cache.db"


def test_info_tells_whose_indexes_have_links_that_lead_to_no_page(home: Home, run: Inside) -> None:
    index = "- [a](gone.md)\n- [b](b.md)\n- [[twice]]\n"
    wiki = {".wiki/index.md": index, ".wiki/b.md": "", ".wiki/x/twice.md": "", ".wiki/y/twice.md": ""}
    make_repo(home.path / "src/web", wiki)
    make_repo(home.path / "src/api", {".wiki/index.md": "- [b](b.md)\n", ".wiki/b.md": ""})
    home.configure('[forge]\nkind = "local"\nroots = ["~/src"]\n')
    assert run("sync").code == 0
    shown = run("cache", "info").out
    assert "\nlocal/web: 1 dead link in its index, 1 ambiguous\n" in shown
    assert "local/api" not in shown


def test_what_does_not_fit_together_is_told_with_the_remedy(file: Path, run: Inside) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM project")
    shown = run("cache", "check")
    assert shown.code == Exit.FAILED
    assert "refers to a project that is not there" in shown.out
    assert shown.err == "gateway: the cache is damaged — run gateway cache clear, then gateway sync\n"


def test_a_file_that_had_to_be_set_aside_is_not_well(file: Path, run: Inside) -> None:
    file.write_text("my notes, " * 10_000)
    shown = run("cache", "check")
    assert shown.code == Exit.FAILED
    assert shown.out.startswith("the cache file was damaged: it is now cache.db.damaged-")
    assert shown.err == "gateway: the cache was damaged — run gateway sync\n"
    assert run("cache", "check").out == "ok\n"
