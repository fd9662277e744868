"""``gateway demo``: the main job on a small fleet of real repositories, shown to a person."""

from __future__ import annotations

import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Annotated

import anyio
import typer
from rich.console import Console

from cache.errors import Conflict
from gateway import app, progress, render, toml_text
from gateway.answers import AskAnswer, ProjectMatches
from gateway.commands.options import VerboseOption, example, log_to_stderr, new_verb
from gateway.demo import ASKED, FLEET, QUESTION, SHARED, make_fleet
from gateway.exits import Exit
from gateway.program import typed
from gateway.reading import PageRequest
from gateway.render import Line, line
from gateway.settings import CacheSection, LocalForgeSettings, Settings, WikiSection
from gateway.syncing import sync_fleet

verb = new_verb()


@verb.command(epilog=example("gateway demo", "gateway demo --keep ./fleet-demo"))
def demo(
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Leave everything in this new folder.", show_default=False)
    ] = None,
    verbose: VerboseOption = False,
) -> Exit:
    """See it work: a fleet of real repositories, a sync, a question, an answer.

    It needs no server, no git and no configuration, and leaves nothing behind.
    """
    log_to_stderr(verbose=verbose)
    if keep is not None and keep.exists():
        raise Conflict(f"{keep} is there already — name a new folder")
    with tempfile.TemporaryDirectory(prefix="gateway-demo-") if keep is None else nullcontext(str(keep)) as folder:
        return anyio.run(_Demo(Path(folder).absolute(), keep is not None, render.console()).run)


@dataclass(frozen=True, slots=True)
class _Demo:
    folder: Path
    kept: bool
    out: Console

    @property
    def settings(self) -> Settings:
        return Settings(
            forge=LocalForgeSettings(roots=(self.folder / "fleet",)),
            cache=CacheSection(file=str(self.folder / "cache.db")),
            wiki=WikiSection(shared=SHARED),
        )

    async def run(self) -> Exit:
        self._make()
        await self._sync()
        answer = await self._ask()
        hit = next((entry for entry in answer.results if isinstance(entry, ProjectMatches) and entry.matches), None)
        if hit is None:
            return Exit.FAILED
        await self._get(hit.project, hit.matches[0].slug)
        self._show(*self._what_next())
        return Exit.OK

    def _make(self) -> None:
        root = self.folder / "fleet"
        make_fleet(root)
        self._show(_title(f"A fleet: {len(FLEET)} git repositories in {root}"))
        for name, files in FLEET.items():
            pages = sum(file.startswith(".wiki/") for file in files) - 1
            self._show(line(f"{name:20}", "cyan", (f"{pages} pages" if pages > 0 else "no wiki", "dim"), indent=2))
        if self.kept:
            (self.folder / "auth.toml").write_text(
                f'[forge]\nkind = "local"\nroots = {toml_text.array([str(root)])}\n'
                f"[cache]\nfile = {toml_text.string(self.settings.cache.file)}\n"
                f"[wiki]\nshared = {toml_text.string(SHARED)}\n",
                encoding="utf-8",
            )

    async def _sync(self) -> None:
        self._show(
            line(""), _title("Keep each one's STATUS, wiki index and page tree in one cache file"), _typed("sync")
        )
        with app.open_store(self.settings) as store:
            async with app.open_forges(self.settings) as forges:
                reports = await sync_fleet(
                    store,
                    forges,
                    app.sync_settings(self.settings),
                    lambda forge: progress.watch(forge, self.out),
                    clock=time.time,
                )
        self._show(line(progress.summary(reports), indent=2))

    async def _ask(self) -> AskAnswer:
        asked = " ".join(f"-p {name}" for name in ASKED)
        self._show(line(""), _title("Ask three projects one question"), _typed(f"ask {quote(QUESTION)} {asked}"))
        async with app.open_federation(self.settings) as federation:
            answer = await federation.ask_projects(QUESTION, ASKED)
        self._show(*(replace(each, indent=each.indent + 2) for each in render.ask_lines(answer)[:-1]))
        return answer

    async def _get(self, project: str, slug: str) -> None:
        self._show(line(""), _title("Read the page that answers it"), _typed(f"get {quote(project)} {quote(slug)}"))
        async with app.open_federation(self.settings) as federation:
            page = await federation.get_from(project, PageRequest(slug))
        self._show(*(line(text, indent=2) for text in page.text.rstrip("\n").split("\n")))

    def _what_next(self) -> list[Line]:
        steps = [
            ("init", "your own repositories"),
            ("sync", "read them"),
            ("client-config claude-code --write", "let Claude Code ask"),
        ]
        if self.kept:
            config = quote(str(self.folder / "auth.toml"))
            steps.append((f"search 'release checklist' --config {config}", "ask on"))
        (command, first), width = typed(), max(len(arguments) for arguments, _ in steps[:3])
        return [
            line(""),
            line("An agent does this by knowledge.ask_projects and knowledge.get_from.", "dim"),
            _title("What to type next"),
            *([line(first, "bold", indent=2, whole=True)] if first else []),
            *(
                line(f"{command} {what:{width}}", "bold", (f"   {why}", "dim"), indent=2, whole=True)
                for what, why in steps
            ),
        ]

    def _show(self, *lines: Line) -> None:
        render.show(self.out, lines)


def _title(text: str) -> Line:
    return line(text, "bold")


def _typed(arguments: str) -> Line:
    return line("$ ", "dim", (f"gateway {arguments}", "green"), indent=2, whole=True)
