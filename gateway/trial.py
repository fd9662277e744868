"""Tries a configuration before it is written. A thin driver."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from cache.errors import InvalidArgument, KnowledgeError, Unavailable
from gateway import app, examine
from gateway.doctor import Finding
from gateway.initial import likely_shared
from gateway.settings import ONLY_FORGE, Settings
from sync.forge.base import Forge

PATIENCE = 20.0  # seconds that looking for likely shared wikis may take


async def locate(pasted: str, ca_file: str) -> str:
    """The address of the server that is meant by what somebody pasted; ``ca_file`` is absolute or empty.

    Raises ``InvalidArgument`` for what is no address, ``Unavailable`` where no forge answers, with the remedy.
    """
    from gateway import doctor_gitea  # noqa: PLC0415 local repositories need no HTTP
    from sync.forge.gitea.site import addresses  # noqa: PLC0415

    urls = addresses(pasted)
    if not urls:
        raise InvalidArgument("that is no address such as https://git.example.com")
    try:
        return (await app.locate(urls, ca_file)).url
    except KnowledgeError as error:
        found = doctor_gitea.unreached(ONLY_FORGE, error)
        text, remedy = found.text.partition(": ")[2], found.remedy.replace("[forge] ca_file", "--ca-file")
        raise Unavailable(f"{text} — {remedy.replace('[forge] url', 'the address')}") from None


async def findings(settings: Settings) -> Sequence[Finding]:
    """What the doctor will find of the forge."""
    return (await examine.forges(settings)).findings


async def likely_wikis(settings: Settings) -> list[str]:
    """Projects whose wiki may be the shared one: those that are called so and have one. None where it takes long."""
    names: list[str] = []
    async with app.open_forges(settings) as forges:
        with anyio.move_on_after(PATIENCE):
            try:
                await _add_likely(forges[ONLY_FORGE], names)
            except KnowledgeError:
                return names  # it is but an offer
    return names


async def _add_likely(forge: Forge, names: list[str]) -> None:
    listed = [each async for page in forge.listing() for each in page.projects]
    for each in likely_shared(listed):
        head = await forge.head(each.repo)
        if head is not None and head.wiki_tree is not None:
            names.append(each.repo.name)


async def shared_wiki(settings: Settings) -> Finding | None:
    """What is wrong with the shared wiki, as far as the forge tells without a sync."""
    async with app.open_forges(settings) as forges:
        return await examine.shared_wiki(ONLY_FORGE, forges[ONLY_FORGE], settings)
