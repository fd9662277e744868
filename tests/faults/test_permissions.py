"""A cache that may not be written, as those see it who run ``gateway`` without root's powers."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.fake_gitea import Server
from tests.support.cli import Outcome
from tests.support.gitea_fleet import wiki
from tests.support.installation import Installation, filled
from tests.support.unprivileged import NOBODY, gateway_unprivileged, shared_folder

DENIED = "gateway: the cache cannot be used: permission denied — check its folder, or set [cache] file\n"


@pytest.fixture
def home(forge_process: Server) -> Iterator[Installation]:
    """An installation of somebody who is not root, with an empty folder for the cache."""
    server = filled(forge_process, {"acme/web": wiki("Yarn", about="runs on Windows")})
    with shared_folder() as folder:
        home = Installation(folder / "auth.toml", folder)
        home.configure(server, '[wiki]\nshared = "acme/web"\n')
        home.config.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(home.config, NOBODY, NOBODY)
        home.cache.parent.mkdir()
        yield home


def run(home: Installation, *args: str) -> Outcome:
    return gateway_unprivileged(*args, "--config", str(home.config))


class TestReadOnlyFolder:
    """The folder of the cache, which was filled before."""

    @pytest.fixture
    def home(self, home: Installation) -> Installation:
        home.fill()
        home.cache.chmod(0o644)
        home.cache.parent.chmod(0o555)
        return home

    def test_refuses_a_sync_in_one_line(self, home: Installation) -> None:
        assert run(home, "sync") == Outcome(3, "", DENIED)

    def test_does_not_keep_anybody_from_asking(self, home: Installation) -> None:
        shown = run(home, "ask", "yarn", "-p", "acme/web")
        assert (shown.code, shown.err) == (0, "")
        assert "runs on Windows" in shown.out

    def test_is_told_by_the_doctor_who_finds_no_damage(self, home: Installation) -> None:
        shown = run(home, "doctor")
        assert (shown.code, shown.err) == (0, "")
        assert "the cache cannot be written, so no sync brings anything new" in shown.out
        assert "1 projects, 1 pages" in shown.out


class TestReadOnlyFolderWithoutACache:
    @pytest.fixture
    def home(self, home: Installation) -> Installation:
        home.cache.parent.chmod(0o555)
        return home

    @pytest.mark.parametrize("args", [("sync",), ("ask", "yarn", "-p", "acme/web")], ids=" ".join)
    def test_is_one_line(self, home: Installation, args: tuple[str, ...]) -> None:
        assert run(home, *args) == Outcome(3, "", DENIED)

    def test_is_told_by_the_doctor(self, home: Installation) -> None:
        shown = run(home, "doctor")
        assert (shown.code, shown.err) == (3, "")
        assert "there is no cache yet, and none can be made in" in " ".join(shown.out.split())
