"""The corpora on this machine, as they are opened for the toolsets that serve them."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from cache.errors import InvalidArgument, NotConfigured
from gateway.corpora import open_swarmkit
from gateway.settings import Settings, SwarmkitSection
from gateway.tools.registry import Listing, Structured
from gateway.toolsets import Endpoint, assemble, configured
from tests.support.swarmkit import WORKSPACE
from tests.support.swarmkit_repo import make_repo


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repo(tmp_path_factory.mktemp("swarmkit"))


class TestSwarmkit:
    def test_it_is_the_checkout_that_is_configured(self, checkout: Path) -> None:
        with open_swarmkit(SwarmkitSection(repo=str(checkout)), anywhere=True) as corpus:
            assert "topology" in corpus.schemas()

    def test_else_the_one_that_the_working_directory_is_in(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(checkout / WORKSPACE)
        with open_swarmkit(SwarmkitSection(), anywhere=True) as corpus:
            assert "topology" in corpus.schemas()

    def test_without_either_the_error_names_the_setting(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with (
            pytest.raises(NotConfigured, match=r"set \[swarmkit\] repo"),
            open_swarmkit(SwarmkitSection(), anywhere=True),
        ):
            pass

    def test_a_checkout_that_is_gone_is_told_from_none(self, tmp_path: Path) -> None:
        section = SwarmkitSection(repo=str(tmp_path / "gone"))
        with (
            pytest.raises(NotConfigured, match=r"\[swarmkit\] repo is no folder"),
            open_swarmkit(section, anywhere=True),
        ):
            pass

    def test_it_is_served_where_its_checkout_is_set(self, checkout: Path) -> None:
        assert "swarmkit" in configured(Settings(swarmkit=SwarmkitSection(repo=str(checkout))))
        assert "swarmkit" not in configured(Settings())

    @pytest.mark.anyio
    async def test_others_have_only_workspaces_of_the_checkout_checked(self, checkout: Path, tmp_path: Path) -> None:
        settings = Settings(swarmkit=SwarmkitSection(repo=str(checkout)))
        async with AsyncExitStack() as stack:
            served = assemble(settings, ("swarmkit",), Endpoint(Listing(), stack, remote=True))
            tool = served.registry.find("validate_workspace")
            assert tool is not None
            assert isinstance(await tool.run({"path": WORKSPACE}), Structured)
            with pytest.raises(InvalidArgument, match="leaves the checkout"):
                await tool.run({"path": str(tmp_path)})
