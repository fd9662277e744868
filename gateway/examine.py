"""Looks at every configured forge, all at once and within a time. A thin driver: ``doctor`` and ``doctor_gitea`` say
what the things seen mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from cache.errors import KnowledgeError
from gateway import app, doctor
from gateway.doctor import Finding, State
from gateway.naming import Names
from gateway.settings import GiteaForgeSettings, LocalForgeSettings, Settings
from sync.forge.base import Forge

DEADLINE = 30.0  # seconds for all of it


@dataclass(slots=True)
class Examined:
    """What was found of the forges; ``shared`` is what is wrong with the shared wiki, as the forge itself tells."""

    findings: list[Finding]
    shared: Finding | None = None


async def forges(settings: Settings, *, deadline: float = DEADLINE) -> Examined:
    """Findings for each forge, in their order."""
    found: dict[str, Sequence[Finding]] = {}
    examined = Examined([])
    async with app.open_forges(settings) as opened:
        with anyio.move_on_after(deadline):
            async with anyio.create_task_group() as group:
                for name, section in settings.fleet.items():
                    group.start_soon(_look, _Subject(name, section, opened[name], settings), found, examined)
    for name in settings.fleet:
        late = Finding(State.FAIL, f"forge {name}: no answer within {deadline:g} s", "see that it can be reached")
        examined.findings += found.get(name, [late])
    return examined


@dataclass(frozen=True, slots=True)
class _Subject:
    name: str
    section: GiteaForgeSettings | LocalForgeSettings
    forge: Forge
    settings: Settings


async def _look(subject: _Subject, found: dict[str, Sequence[Finding]], examined: Examined) -> None:
    if isinstance(subject.section, LocalForgeSettings):
        unreadable = list(doctor.roots(subject.section.roots))
        found[subject.name] = unreadable or [await doctor.forge(subject.name, subject.forge)]
        return
    findings = await survey(subject.name, subject.section, subject.settings)
    if not any(finding.state is State.FAIL for finding in findings):
        examined.shared = await shared_wiki(subject.name, subject.forge, subject.settings) or examined.shared
    found[subject.name] = findings


async def survey(name: str, section: GiteaForgeSettings, settings: Settings) -> Sequence[Finding]:
    """What a survey of a Gitea or Forgejo server finds."""
    from gateway import doctor_gitea  # noqa: PLC0415 local repositories need no HTTP

    async with app.open_prober(name, section, settings) as prober:
        learned = await prober.survey()
    private = doctor.private_file(Path(section.token_file), secret=True) if section.token_file else ()
    return [*private, *doctor_gitea.of_survey(name, learned, writes=not settings.gateway.read_only)]


async def shared_wiki(name: str, forge: Forge, settings: Settings) -> Finding | None:
    """What is wrong with the shared wiki, if it is certain to be a project of this ``forge``."""
    from gateway import doctor_gitea  # noqa: PLC0415 local repositories need no HTTP

    owner, word = Names(tuple(settings.fleet)).split(settings.wiki.shared)
    certain = owner == name or (owner is None and len(settings.fleet) == 1)
    if not certain or word.count("/") != 1:
        return None
    try:
        listed = await forge.find(word)
        head = await forge.head(listed.repo)
    except KnowledgeError as error:
        return doctor_gitea.shared_wiki(word, error, None)
    finding = doctor_gitea.shared_wiki(word, listed, head)
    return finding if finding.state is not State.OK else None
