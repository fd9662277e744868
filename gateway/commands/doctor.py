"""``gateway doctor``: check everything, and say how to mend what is wrong."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from importlib import metadata, util
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio

from cache.errors import KnowledgeError
from cache.interface import Store
from cache.model import Project
from gateway import DISTRIBUTION, app, doctor, examine, places, render
from gateway.client_config import Machine
from gateway.commands.options import ConfigOption, VerboseOption, example, log_to_stderr, new_verb
from gateway.config import InvalidConfig, Loaded, named
from gateway.doctor import Finding, Here, State
from gateway.exits import Exit
from gateway.naming import Names
from gateway.program import program
from gateway.settings import Settings

PACKAGES = ("gateway", "sync", "cache")
STYLES = {State.OK: "green", State.NOTE: "cyan", State.WARN: "yellow", State.FAIL: "bold red"}

verb = new_verb()


@verb.command("doctor", epilog=example("gateway doctor"))
def check_all(config: ConfigOption = None, verbose: VerboseOption = False) -> Exit:
    """Check everything, and say how to mend what is wrong.

    Exits 0 unless something fails, then 3.
    """
    log_to_stderr(verbose=verbose)
    out = render.console()
    failed = False
    for finding in _findings(config):
        failed |= finding.state is State.FAIL
        render.show(out, lines_of(finding))
    return Exit.FAILED if failed else Exit.OK


def lines_of(finding: Finding) -> Iterator[render.Line]:
    """A finding, with its remedy below it."""
    yield render.line(f"{finding.state:5}", STYLES[finding.state], (finding.text, ""))
    if finding.remedy:
        yield render.line(f"→ {finding.remedy}", indent=5)


def _findings(config: Path | None) -> Iterator[Finding]:
    yield doctor.version("Python", sys.version_info[:3], doctor.OLDEST_PYTHON)
    yield doctor.version(app.ENGINE.name, app.ENGINE.version, app.ENGINE.oldest)
    yield doctor.packages(_origins(), _home())
    loaded: Loaded | None = None
    try:
        loaded = places.configured(config)
    except InvalidConfig as error:
        yield from (Finding(State.FAIL, problem, "correct it") for problem in error.problems)
    else:
        yield from doctor.configuration(loaded)
        if loaded is not None and loaded.settings.fleet:
            yield from _of_fleet(loaded.settings)
    user = places.user_places()
    here = Here(Path(program()[0]), loaded.path if loaded else None, named(None, os.environ) or user.config)
    yield from doctor.clients(Machine(sys.platform, user.home, os.environ), here)
    yield doctor.WHERE_PAGES_ARE


def _of_fleet(settings: Settings) -> Iterator[Finding]:
    examined = anyio.run(examine.forges, settings)
    yield from examined.findings
    try:
        file = app.cache_file(settings)
        yield from doctor.cache_place(file)
        if not os.access(file, os.F_OK):
            if examined.shared or not settings.wiki.shared:
                yield examined.shared or doctor.shared_wiki("", None)
            return
        with app.open_store(settings) as store:
            yield from doctor.cache(store, now=time.time(), stale_after=settings.gateway.stale_after)
            yield examined.shared or doctor.shared_wiki(settings.wiki.shared, _shared(settings, store))
    except KnowledgeError as error:
        yield Finding(State.FAIL, f"cache: {error.message}", "see [cache] file and its permissions")


def _shared(settings: Settings, store: Store) -> Project | KnowledgeError | None:
    word = settings.wiki.shared
    return Names(tuple(settings.fleet)).find_each([word], store)[word] if word else None


def _origins() -> Mapping[str, Path | None]:
    """Where each of our packages is imported from."""
    specs = {name: util.find_spec(name) for name in PACKAGES}
    return {name: Path(spec.origin) if spec and spec.origin else None for name, spec in specs.items()}


def _home() -> Path | None:
    """The folder that our distribution put the packages into; its source where that is installed editable."""
    try:
        found = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    direct = json.loads(found.read_text("direct_url.json") or "{}")  # PEP 610
    if direct.get("dir_info", {}).get("editable"):
        return Path(url2pathname(urlsplit(direct["url"]).path))
    return Path(str(found.locate_file("")))
