"""The composition root: which forges there are, and what a sync of each looks at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gateway import app
from gateway.settings import (
    GiteaForgeSettings,
    LocalForgeSettings,
    Settings,
    SyncSection,
    WikiSection,
)
from sync.forge.gitea.client import GiteaForge
from sync.forge.local import LocalForge
from tests.support.cli import Home

WORK = GiteaForgeSettings(url="https://git.example.test/forge")


def mixed(root: Path, sync: SyncSection | None = None, shared: str = "") -> Settings:
    """A server called "work" beside local repositories called "here"."""
    return Settings(
        forges={"work": WORK, "here": LocalForgeSettings(roots=(root,))},
        sync=sync or SyncSection(),
        wiki=WikiSection(shared=shared),
    )


class TestForges:
    @pytest.mark.anyio
    async def test_each_is_of_its_kind(self, tmp_path: Path) -> None:
        async with app.open_forges(mixed(tmp_path)) as forges:
            assert isinstance(forges["work"], GiteaForge)
            assert isinstance(forges["here"], LocalForge)
            assert {name: forge.name for name, forge in forges.items()} == {"work": "work", "here": "here"}
            assert forges["work"].host == "git.example.test"

    @pytest.mark.anyio
    async def test_as_many_requests_are_under_way_as_is_configured(self) -> None:
        """Not even one reader has more, which has a share of them."""
        section = WORK.model_copy(update={"max_in_flight": 2})
        async with app.open_forges(Settings(forges={"work": section})) as forges:
            work = forges["work"]
            assert isinstance(work, GiteaForge)
            assert work._session._http.max_in_flight == 2

    def test_who_has_local_repositories_loads_no_http(self, home: Home) -> None:
        home.with_fleet()
        code = (
            "import sys; from gateway import cli\n"
            "for verb in ('sync', 'projects', 'doctor'): assert cli.run([verb]) == 0\n"
            "print('httpx2' in sys.modules, file=sys.stderr)"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=home.environ, capture_output=True, text=True, check=True)
        assert done.stderr == "False\n"

    def test_serving_loads_no_client_before_it_is_asked(self, home: Home) -> None:
        home.configure('[forge]\nurl = "https://git.example.test"\n')
        code = (
            "import sys; from gateway.commands import serve; from gateway import places\n"
            "assert places.require(None).settings.fleet\n"
            "print([name for name in sys.modules if name.partition('.')[0] == 'sync' or name == 'gateway.gitea'])"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=home.environ, capture_output=True, text=True, check=True)
        assert done.stdout == "[]\n"


class TestSyncSettings:
    def test_an_organization_is_listed_where_it_is_meant_to_be(self, tmp_path: Path) -> None:
        settings = mixed(tmp_path, SyncSection(orgs=("work:acme", "WORK:tools", "here:none", "all")))
        assert app.orgs_of("work", settings) == ("acme", "tools", "all")

    def test_only_local_repositories_are_mirrored_whole(self, tmp_path: Path) -> None:
        found = app.sync_settings(mixed(tmp_path))
        assert {name: settings.mirror_everything for name, settings in found.items()} == {"work": False, "here": True}

    def test_a_name_with_a_forge_before_it_is_meant_for_that_forge(self, tmp_path: Path) -> None:
        sync = SyncSection(pages=("work:acme/web", "here:me/notes", "acme/api"))
        found = app.sync_settings(mixed(tmp_path, sync, shared="work:acme/wiki"))
        assert {name: settings.pages for name, settings in found.items()} == {
            "work": ("acme/web", "acme/api"),
            "here": ("me/notes", "acme/api"),
        }
        assert {name: settings.shared for name, settings in found.items()} == {"work": "acme/wiki", "here": ""}

    @pytest.mark.parametrize("pages", ["index", "all"])
    def test_a_word_for_all_is_for_all(self, tmp_path: Path, pages: str) -> None:
        sync = SyncSection.model_validate({"pages": pages})
        assert {settings.pages for settings in app.sync_settings(mixed(tmp_path, sync)).values()} == {pages}
