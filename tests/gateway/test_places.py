"""Which cache belongs to which configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway import app, places
from tests.support.cli import Home, Inside
from tests.support.repos import make_repo

ONE, OTHER = (f'[forge]\nkind = "local"\nroots = ["~/{name}"]\n' for name in ("one", "other"))


@pytest.fixture
def at_home(home: Home, run: Inside) -> Inside:
    """Somebody with a configuration of their own, and another file of which each names other repositories."""
    for name in ("one", "other"):
        make_repo(home.path / name / name, {".wiki/yarn.md": "# Yarn\n"})
    home.configure(ONE)
    (home.path / "other.toml").write_text(OTHER, encoding="utf-8")
    return run


def cache_of(config: Path | None) -> Path:
    return app.cache_file(places.require(config).settings)


def test_two_configurations_do_not_forget_each_others_projects(at_home: Inside) -> None:
    assert at_home("sync").code == 0
    assert at_home("sync", "--config", "other.toml").code == 0
    assert at_home("projects").out == "local/one  1 page\n"
    assert at_home("projects", "--config", "other.toml").out == "local/other  1 page\n"


def test_the_users_own_one_has_the_default_cache_whichever_way_it_is_named(home: Home, at_home: Inside) -> None:
    (home.path / "link.toml").symlink_to(home.config)
    assert {cache_of(None), cache_of(home.config), cache_of(Path("link.toml"))} == {places.user_places().cache}


def test_another_one_has_its_own_whichever_way_it_is_named(
    home: Home, at_home: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = cache_of(home.path / "other.toml")
    assert theirs.parent == places.user_places().cache.parent
    assert theirs != places.user_places().cache
    assert cache_of(Path("other.toml")) == theirs
    monkeypatch.setenv("GATEWAY_CONFIG", "other.toml")
    assert cache_of(None) == theirs


def test_cache_info_tells_which(home: Home, at_home: Inside) -> None:
    assert at_home("cache", "info", "--config", "other.toml").out.startswith(f"{cache_of(Path('other.toml'))}: ")


def test_a_cache_that_is_named_is_that_one(home: Home, at_home: Inside) -> None:
    (home.path / "other.toml").write_text(f'{OTHER}[cache]\nfile = "kept.db"\n', encoding="utf-8")
    assert cache_of(Path("other.toml")) == home.path / "kept.db"
