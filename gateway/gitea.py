"""The parts of a configured Gitea or Forgejo server, made from its settings. Imported only where there is one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gateway.settings import GiteaForgeSettings
from sync.credentials import TokenSource
from sync.forge.gitea.client import GiteaForge, GiteaSettings
from sync.forge.gitea.probe import Found, Prober, locate
from sync.http import HttpClient, HttpSettings


@dataclass(frozen=True, slots=True)
class Wiring:
    """How forges are reached: ``environ`` may name proxies and authorities, and is what a token's command runs with; a
    forge that goes down is waited for ``patience`` seconds."""

    environ: Mapping[str, str] = field(repr=False)
    patience: float

    def forge(self, name: str, section: GiteaForgeSettings, orgs: tuple[str, ...]) -> GiteaForge:
        """The forge called ``name``, with connections of its own."""
        return GiteaForge(name, self.http(section), self.settings(section, orgs))

    async def locate(self, urls: Sequence[str], ca_file: str) -> Found:
        """The first of ``urls`` at which a forge answers; :func:`sync.forge.gitea.probe.locate` has the errors."""
        http = self.http(GiteaForgeSettings(url=urls[0], ca_file=ca_file))
        try:
            return await locate(http, urls)
        finally:
            await http.aclose()

    @asynccontextmanager
    async def prober(self, section: GiteaForgeSettings, orgs: tuple[str, ...]) -> AsyncIterator[Prober]:
        """What surveys a forge, for the block."""
        http = self.http(section)
        try:
            yield Prober(http, self.settings(section, orgs))
        finally:
            await http.aclose()

    def settings(self, section: GiteaForgeSettings, orgs: tuple[str, ...]) -> GiteaSettings:
        return GiteaSettings(section.url, section.user, orgs, self.token(section))

    def http(self, section: GiteaForgeSettings) -> HttpClient:
        return HttpClient(
            HttpSettings(
                max_in_flight=section.max_in_flight,
                ca_file=Path(section.ca_file) if section.ca_file else None,
                patience=self.patience,
                environ=self.environ,
            )
        )

    def token(self, section: GiteaForgeSettings) -> TokenSource:
        return TokenSource(
            token=section.token.get_secret_value(),
            file=Path(section.token_file) if section.token_file else None,
            command=section.token_command.get_secret_value(),
            environ=self.environ,
        )
