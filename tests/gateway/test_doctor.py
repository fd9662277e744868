"""What the doctor finds, and the remedy for each."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cache.errors import KnowledgeError, NotFound
from cache.interface import RunSummary
from cache.model import Project, ProjectKey, ProjectState, RepoRef
from gateway import config, doctor
from gateway.client_config import CLIENTS, ClientName, Machine, entry, merge
from gateway.doctor import Finding, Here, State
from tests.support.cli import Home, Inside
from tests.support.unprivileged import run_unprivileged, shared_folder

NOW = 1_800_000_000.0
DAY = 86_400.0


def states(findings: Sequence[Finding]) -> list[State]:
    return [finding.state for finding in findings]


class TestVersions:
    def test_an_old_one_fails(self) -> None:
        found = doctor.version("SQLite", (3, 39, 9), (3, 40, 0))
        assert (found.state, found.text, found.remedy) == (
            State.FAIL,
            "SQLite 3.39.9 is too old",
            "it takes 3.40.0 or newer",
        )

    def test_the_oldest_admitted_passes(self) -> None:
        assert doctor.version("SQLite", (3, 40, 0), (3, 40, 0)).state is State.OK


class TestPackages:
    SITE = Path("/site")
    OURS: Mapping[str, Path | None] = {name: Path(f"/site/{name}/__init__.py") for name in ("gateway", "sync", "cache")}

    def test_ours_lie_in_one_folder(self) -> None:
        assert doctor.packages(self.OURS, self.SITE).state is State.OK

    def test_another_package_of_a_generic_name_fails(self) -> None:
        found = doctor.packages({**self.OURS, "cache": Path("/elsewhere/cache/__init__.py")}, self.SITE)
        assert found.state is State.FAIL
        assert found.text == "the package cache is another one: /elsewhere/cache/__init__.py"
        assert "uv tool install" in found.remedy

    def test_a_missing_package_or_distribution_fails(self) -> None:
        assert doctor.packages({**self.OURS, "sync": None}, self.SITE).state is State.FAIL
        assert doctor.packages(self.OURS, None).state is State.FAIL


class TestConfiguration:
    def load(self, tmp_path: Path, text: str) -> config.Loaded:
        path = tmp_path / "auth.toml"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        loaded = config.load(path, {}, tmp_path)
        assert loaded is not None
        return loaded

    def test_none_fails(self) -> None:
        assert list(doctor.configuration(None)) == [Finding(State.FAIL, "no auth.toml", "gateway init")]

    def test_one_that_others_may_change_is_told(self, tmp_path: Path) -> None:
        loaded = self.load(tmp_path, '[forge]\nkind = "local"\nroots = ["/r"]\n')
        assert states(list(doctor.configuration(loaded))) == [State.OK]
        (tmp_path / "auth.toml").chmod(0o620)
        found = list(doctor.configuration(loaded))[1]
        assert (found.state, found.remedy) == (State.WARN, f"chmod 600 {tmp_path}/auth.toml")

    def test_one_that_others_may_read_is_told_if_it_holds_a_token(self, tmp_path: Path) -> None:
        text = '[forge]\nurl = "https://git.example.test"\n'
        for key, told in (("token", 1), ("token_command", 1), ("token_file", 0)):
            loaded = self.load(tmp_path, f'{text}{key} = "fake"\n')
            (tmp_path / "auth.toml").chmod(0o644)
            warned = [finding for finding in doctor.configuration(loaded) if finding.state is State.WARN]
            assert len(warned) == told, key

    def test_one_without_a_forge_fails(self, tmp_path: Path) -> None:
        assert states(list(doctor.configuration(self.load(tmp_path, "")))) == [State.OK, State.FAIL]


class TestRoots:
    def test_what_cannot_be_read_fails(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        found = list(doctor.roots([tmp_path, tmp_path / "file", tmp_path / "nothing"]))
        assert [finding.text for finding in found] == [
            f"{tmp_path}/file is no folder",
            f"{tmp_path}/nothing does not exist",
        ]

    def test_a_folder_without_permission_fails(self) -> None:
        with shared_folder() as folder:
            (folder / "secret").mkdir(mode=0)
            found = run_unprivileged(
                "from pathlib import Path; from gateway import doctor",
                "print(json.dumps([finding.text for finding in doctor.roots([Path(sys.argv[0])])]))",
                str(folder / "secret"),
            )
            assert found == [f"{folder}/secret cannot be read"]


class TestCachePlace:
    def found(self, folder: Path) -> list[list[str]]:
        """State, text and remedy of what is found of a cache file in ``folder``, without root's powers."""
        found = run_unprivileged(
            "from pathlib import Path; from gateway import doctor",
            """
found = doctor.cache_place(Path(sys.argv[0]))
print(json.dumps([[each.state, each.text, each.remedy] for each in found]))
""",
            str(folder / "cache.db"),
        )
        assert isinstance(found, list)
        return found

    def test_a_cache_that_can_be_written_is_nothing_to_tell_of(self, tmp_path: Path) -> None:
        (tmp_path / "cache.db").touch()
        assert list(doctor.cache_place(tmp_path / "cache.db")) == []

    def test_none_yet_is_a_warning(self, tmp_path: Path) -> None:
        (finding,) = doctor.cache_place(tmp_path / "new" / "folder" / "cache.db")
        assert (finding.state, finding.text, finding.remedy) == (State.WARN, "there is no cache yet", "gateway sync")

    @pytest.mark.parametrize("mode", [0o555, 0o444, 0o000])
    def test_none_where_none_can_be_made_fails(self, mode: int) -> None:
        with shared_folder() as folder:
            (folder / "state").mkdir(mode=mode)
            ((state, text, remedy),) = self.found(folder / "state")
        assert (state, text) == ("fail", f"there is no cache yet, and none can be made in {folder}/state")
        assert remedy == f"have {folder}/state let this user write, or set [cache] file"

    def test_none_below_a_file_fails(self, tmp_path: Path) -> None:
        (tmp_path / "state").touch(mode=0o644)
        (finding,) = doctor.cache_place(tmp_path / "state" / "cache.db")
        assert (finding.state, finding.text) == (
            State.FAIL,
            f"there is no cache yet, and none can be made in {tmp_path}/state",
        )

    @pytest.mark.parametrize(("folder_mode", "mode"), [(0o555, 0o666), (0o777, 0o444)])
    def test_one_that_can_only_be_read_is_a_warning(self, folder_mode: int, mode: int) -> None:
        with shared_folder() as folder:
            (folder / "cache.db").touch()
            (folder / "cache.db").chmod(mode)
            folder.chmod(folder_mode)
            ((state, text, _),) = self.found(folder)
        assert (state, text) == ("warn", "the cache cannot be written, so no sync brings anything new")


class TestLastSync:
    def test_none_is_a_warning(self) -> None:
        killed = RunSummary("default", NOW - 5)
        assert doctor.last_sync([], now=NOW, stale_after=DAY).remedy == "gateway sync"
        assert doctor.last_sync([killed], now=NOW, stale_after=DAY).state is State.WARN

    @pytest.mark.parametrize(
        ("age", "state", "spelled"),
        [
            (30.0, State.OK, "30 seconds ago"),
            (600.0, State.OK, "10 minutes ago"),
            (DAY, State.OK, "24 hours ago"),
            (DAY + 1, State.WARN, "24 hours ago"),
            (10 * DAY, State.WARN, "10 days ago"),
            (-5.0, State.OK, "0 seconds ago"),
        ],
    )
    def test_an_old_one_is_a_warning(self, age: float, state: State, spelled: str) -> None:
        runs = [RunSummary("default", NOW - age - 1, NOW - age, complete=True), RunSummary("default", NOW, NOW)]
        found = doctor.last_sync(runs, now=NOW, stale_after=DAY)
        assert (found.state, found.text) == (state, f"last complete sync: {spelled}")

    def test_what_keeps_failing_is_told_and_does_not_hide_that_syncs_end(self) -> None:
        runs = [RunSummary("default", NOW - 9, NOW - 8, listed=40, failed=1), RunSummary("default", NOW - 99)]
        assert doctor.last_sync(runs, now=NOW, stale_after=DAY) == Finding(
            State.WARN,
            "last sync: 8 seconds ago, 1 of 40 repositories failed",
            "gateway projects tells which, and why",
        )

    def test_one_forge_that_cannot_be_listed_is_not_hidden_by_another(self) -> None:
        runs = [RunSummary("a", NOW - 9, NOW - 8, complete=True), RunSummary("b", NOW - 9, NOW - 8)]
        found = doctor.last_sync(runs, now=NOW, stale_after=DAY)
        assert found.text == "last sync: 8 seconds ago, forge b could not be listed"
        assert found.remedy == "gateway sync tells why"


class TestSharedWiki:
    def project(self, pages: int) -> Project:
        return Project(RepoRef(ProjectKey("default", 1), "local/wiki", "main"), ProjectState.OK, pages=pages)

    def test_none_is_only_noted(self) -> None:
        assert doctor.shared_wiki("", None).state is State.NOTE

    def test_one_with_pages_passes(self) -> None:
        assert doctor.shared_wiki("wiki", self.project(3)) == Finding(State.OK, "shared wiki: local/wiki, 3 pages")

    @pytest.mark.parametrize(
        ("found", "reason"), [(0, "it has no wiki"), (NotFound("unknown project"), "unknown project")]
    )
    def test_anything_else_fails(self, found: int | KnowledgeError, reason: str) -> None:
        told = doctor.shared_wiki("wiki", self.project(found) if isinstance(found, int) else found)
        assert (told.state, told.text) == (State.FAIL, f"shared wiki wiki: {reason}")


class TestClients:
    PYTHON = (sys.executable, "-P", "-m", "gateway")
    HERE = Here(Path(sys.executable), Path("/etc/auth.toml"), Path("/etc/auth.toml"))

    def machine(self, tmp_path: Path, client: ClientName, text: str) -> Machine:
        machine = Machine("linux", tmp_path, {})
        path = machine.client_file(client)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return machine

    def findings(
        self, tmp_path: Path, client: ClientName, program: Sequence[str], config: Path | None
    ) -> list[Finding]:
        text = merge("", CLIENTS[client], "wikis", entry(CLIENTS[client], program, config))
        return list(doctor.clients(self.machine(tmp_path, client, text), self.HERE))

    @pytest.mark.parametrize("client", ["claude-code", "codex"])
    @pytest.mark.parametrize("named", [None, Path("/etc/auth.toml")])
    def test_one_that_starts_us_passes(self, tmp_path: Path, client: ClientName, named: Path | None) -> None:
        found = self.findings(tmp_path, client, self.PYTHON, named)
        assert found == [Finding(State.OK, f"{CLIENTS[client].title}: wikis starts this gateway")]

    def test_one_that_starts_what_is_gone_fails(self, tmp_path: Path) -> None:
        (found,) = self.findings(tmp_path, "cursor", ("/gone/gateway",), None)
        assert (found.state, found.remedy) == (State.FAIL, "gateway client-config cursor --write --name wikis")

    def test_one_that_starts_another_installation_is_told(self, tmp_path: Path) -> None:
        other = tmp_path / "bin" / "gateway"
        other.parent.mkdir()
        other.touch(mode=0o755)
        (found,) = self.findings(tmp_path, "cursor", (str(other),), None)
        assert (found.state, found.text) == (State.WARN, f"Cursor: wikis starts another installation, {other}")

    def test_a_link_to_this_installation_is_this_one(self, tmp_path: Path) -> None:
        tool = tmp_path / "tool" / "gateway"
        tool.parent.mkdir()
        tool.touch(mode=0o755)
        (tmp_path / "gateway").symlink_to(tool)
        text = merge("", CLIENTS["cursor"], "knowledge", entry(CLIENTS["cursor"], (str(tmp_path / "gateway"),), None))
        here = Here(tool.with_name("python"), None, Path("/etc/auth.toml"))
        (found,) = doctor.clients(self.machine(tmp_path, "cursor", text), here)
        assert found.state is State.OK

    @pytest.mark.parametrize("here", [HERE, Here(HERE.program, Path("/etc/auth.toml"), Path("/etc/other.toml"))])
    def test_one_that_reads_another_configuration_is_told(self, tmp_path: Path, here: Here) -> None:
        read = Path("/srv/auth.toml") if here.default == here.config else None
        text = merge("", CLIENTS["cursor"], "knowledge", entry(CLIENTS["cursor"], self.PYTHON, read))
        (found,) = doctor.clients(self.machine(tmp_path, "cursor", text), here)
        assert found == Finding(
            State.WARN,
            f"Cursor: knowledge reads another configuration, {read or here.default}",
            "gateway client-config cursor --write",
        )

    def test_none_is_only_noted(self, tmp_path: Path) -> None:
        machine = self.machine(tmp_path, "vscode", '{"servers": {"other": {"command": "x"}}}')
        (found,) = doctor.clients(machine, self.HERE)
        assert found.state is State.NOTE

    def test_a_malformed_file_is_a_warning(self, tmp_path: Path) -> None:
        found = list(doctor.clients(self.machine(tmp_path, "codex", "not toml"), self.HERE))
        assert states(found) == [State.WARN, State.NOTE]


class TestCommand:
    def test_all_is_well_after_the_first_steps(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        run("sync")
        run("client-config", "claude-code", "--write")
        shown = run("doctor")
        assert shown.code == 0
        lines = shown.out.splitlines()
        assert [line for line in lines if not line.startswith("ok ")] == [
            "note pages are read from .wiki/ in each repository, not from a forge's Wiki tab"
        ]
        for told in (
            "Python 3.",
            "SQLite 3.",
            "the packages gateway, sync, cache are those of",
            "forge default: 4 repositor",
        ):
            assert any(told in line for line in lines), told

    def test_a_fresh_machine_is_told_what_to_do(self, run: Inside) -> None:
        shown = run("doctor")
        assert shown.code == 3
        assert "fail no auth.toml\n     → gateway init\n" in shown.out

    def test_every_mistake_in_the_configuration_is_told(self, home: Home, run: Inside) -> None:
        home.configure("[sync]\na = 1\nb = 2\n")
        shown = run("doctor")
        assert shown.code == 3
        assert shown.out.count("unknown key") == 2

    def test_a_root_that_is_gone_is_told(self, home: Home, run: Inside) -> None:
        home.configure('[forge]\nkind = "local"\nroots = ["~/gone"]\n')
        shown = run("doctor")
        assert shown.code == 3
        assert f"fail {home.path}/gone does not exist\n" in shown.out

    def test_nothing_is_made_by_looking(self, home: Home, run: Inside) -> None:
        home.with_fleet()
        run("doctor")
        assert not (home.path / ".local").exists()
