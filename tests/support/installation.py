"""``gateway`` in whole processes over a fake forge, as cron and clients start it.

Everything that such processes write lies below one folder of the session, so that it can be looked through for what
must not stand there.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio

from cache.store import SqliteStore
from gateway import app, config
from gateway.syncing import sync_fleet
from sync.worker import Quiet, SyncReport
from tests.fake_gitea import FakeGitea, Server
from tests.support.cli import Outcome, gateway

TOKEN: Final = "fake-token-7c41d09be25f"  # noqa: S105 of the one user, and nowhere but in configuration and environment
PATIENCE: Final = 60.0  # seconds after which a process is given up
POLL: Final = 0.005


def forge_with(repositories: Mapping[str, Mapping[str, str]]) -> FakeGitea:
    """A forge with a user whose token is :data:`TOKEN`."""
    forge = FakeGitea()
    forge.add_user("alice", token=TOKEN)
    for name, files in repositories.items():
        forge.add_repo(name, files)
    return forge


def filled(server: Server, repositories: Mapping[str, Mapping[str, str]]) -> Server:
    """``server`` as if it had just started with a forge of these repositories."""
    server.revive()
    server.run(_become, forge_with(repositories))
    return server


def _become(forge: FakeGitea, other: FakeGitea) -> None:
    here = {"root_url": forge.root_url, "lock": forge.lock}
    vars(forge).update({**vars(other), **here})
    for repo in forge.repos.values():
        repo.forge = forge


def asked(forge: FakeGitea) -> int:
    """How many requests have come, for :meth:`Server.run`."""
    return len(forge.log.exchanges)


@dataclass(frozen=True)
class Installation:
    """A configuration outside of ``folder``, a cache and all output below it."""

    config: Path
    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "state" / "cache.db"

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "LANG": "C.UTF-8"}

    def configure(self, server: Server, more: str = "") -> None:
        self.config.write_text(
            f'[forge]\nurl = "{server.url}"\ntoken = "{TOKEN}"\n[cache]\nfile = "{self.cache}"\n{more}',
            encoding="utf-8",
        )

    def run(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        script: str = 'exec "$@"',
        named: bool = True,
    ) -> Outcome:
        """``gateway ARGS`` to its end, with this configuration if it is ``named``. ``env`` replaces the environment,
        ``script`` is what a shell does to start ``"$@"``."""
        command = ["/bin/sh", "-c", script, "sh", *self.command(*args, named=named)]
        environ = self.environ if env is None else env
        with self._output(args) as (out, err):
            code = subprocess.run(
                command, env=environ, cwd=cwd or self.folder, stdout=out, stderr=err, timeout=PATIENCE, check=False
            ).returncode
        return Outcome(code, self._read(out.name), self._read(err.name))

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> Running:
        """``gateway ARGS``, under way."""
        with self._output(args) as (out, err):
            process = subprocess.Popen(
                self.command(*args), env={**self.environ, **(env or {})}, cwd=self.folder, stdout=out, stderr=err
            )
        return Running(process, Path(out.name), Path(err.name))

    def command(self, *args: str, named: bool = True) -> list[str]:
        return gateway([*args, *(["--config", str(self.config)] if named else [])])

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        """The cache, opened here: quicker than in one more process."""
        store = SqliteStore(self.cache, on_notice=print)
        try:
            yield store
        finally:
            store.close()

    def content(self) -> dict[str, Mapping[str, object]]:
        """What the cache holds, by project, without the times of the looks."""
        with self.store() as store:
            return {str(project["name"]): {**project, "synced_at": None} for project in store.export()}

    def everything(self) -> dict[str, object]:
        """What the cache holds with every body, by project and by page."""
        with self.store() as store:
            bodies: dict[str, object] = {
                f"{project.name}/{page.slug}": store.bodies(project.key, {page.sha}).get(page.sha)
                for project in store.projects(limit=1000)
                for page in store.pages(project.key)
            }
        return {**self.content(), **bodies}

    def undisturbed(self, server: Server, more: str = "") -> dict[str, object]:
        """What a sync brings into a new cache, which nobody disturbs."""
        other = Installation(self.config.with_name("undisturbed.toml"), self.folder / "undisturbed")
        other.configure(server, more)
        other.fill()
        return other.everything()

    def fill(self) -> None:
        """Sync from this process, which is quicker than a new one."""
        loaded = config.load(self.config, {}, self.folder / "home")
        assert loaded is not None
        settings = loaded.settings

        async def sync(store: SqliteStore) -> Sequence[SyncReport]:
            async with app.open_forges(settings) as forges:
                return await sync_fleet(
                    store, forges, app.sync_settings(settings), lambda _: nullcontext(Quiet()), clock=time.time
                )

        with self.store() as store:
            assert all(report.complete for report in anyio.run(sync, store))

    def expect_silent_sync(self) -> None:
        """As cron has it when all is well."""
        assert self.run("sync") == Outcome(0, "", "")

    def expect_sound_cache(self) -> None:
        with self.store() as store:
            assert store.check() == []

    @contextmanager
    def _output(self, args: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        output = self.folder / "output"
        output.mkdir(parents=True, exist_ok=True)
        name = f"{len(list(output.iterdir())):03}-{args[0] if args else 'nothing'}"
        with (output / f"{name}.out").open("xb") as out, (output / f"{name}.err").open("xb") as err:
            yield out, err

    @staticmethod
    def _read(name: str) -> str:
        return Path(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Running:
    """A process under way, and the files that it writes to."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path

    def kill(self) -> None:
        """End it as the power does (SIGKILL)."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def outcome(self) -> Outcome:
        """How it ends."""
        code = self.process.wait(PATIENCE)
        return Outcome(code, self.out.read_text(encoding="utf-8"), self.err.read_text(encoding="utf-8"))

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None


def wait_until(condition: Callable[[], bool]) -> None:
    """Look again and again; raises ``TimeoutError`` when it never comes."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(POLL)
