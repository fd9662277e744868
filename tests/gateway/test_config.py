"""The configuration: where it is found, what it may say, and how a mistake is told."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import config, settings
from gateway.config import InvalidConfig, Loaded

EXAMPLE = Path(__file__).parents[2] / "auth.example.toml"
SENTINEL = "fake-hunter2"
FORGE = '[forge]\nkind = "local"\nroots = ["~/src"]\n'
GITEA = '[forge]\nurl = "https://git.example.test/"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:  # only a path: nothing is read there
    return tmp_path / "home"


def load(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> Loaded:
    path = tmp_path / "auth.toml"
    path.write_text(text, encoding="utf-8")
    loaded = config.load(path, environ or {}, tmp_path / "home")
    assert loaded is not None
    return loaded


def roots(loaded: Loaded) -> tuple[Path, ...]:
    forge = loaded.settings.fleet["default"]
    assert isinstance(forge, settings.LocalForgeSettings)
    return forge.roots


def problems(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(InvalidConfig) as failure:
        load(tmp_path, text, environ)
    assert SENTINEL not in str(failure.value)
    assert all(SENTINEL not in problem for problem in failure.value.problems)
    prefix = f"{tmp_path / 'auth.toml'}: "
    return tuple(problem.removeprefix(prefix) for problem in failure.value.problems)


class TestFinding:
    def test_the_named_file_wins(self, tmp_path: Path) -> None:
        for name in ("named.toml", "pointed.toml", "auth.toml"):
            (tmp_path / name).touch()
        environ = {"GATEWAY_CONFIG": str(tmp_path / "pointed.toml")}
        assert config.find(tmp_path / "named.toml", environ, tmp_path / "auth.toml") == tmp_path / "named.toml"

    def test_the_variable_comes_before_the_default(self, tmp_path: Path) -> None:
        for name in ("pointed.toml", "auth.toml"):
            (tmp_path / name).touch()
        environ = {"GATEWAY_CONFIG": str(tmp_path / "pointed.toml")}
        assert config.find(None, environ, tmp_path / "auth.toml") == tmp_path / "pointed.toml"

    def test_none_named_and_none_there_is_no_configuration(self, tmp_path: Path) -> None:
        assert config.find(None, {}, tmp_path / "auth.toml") is None

    def test_one_that_was_named_must_exist(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidConfig, match=r"no configuration at .* — run gateway init --config"):
            config.find(tmp_path / "missing.toml", {}, tmp_path / "auth.toml")

    def test_a_file_in_the_working_directory_is_not_looked_at(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "auth.toml").write_text(FORGE, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        assert config.find(None, {}, tmp_path / "elsewhere" / "auth.toml") is None

    def test_without_file_and_variables_nothing_is_configured(self, home: Path) -> None:
        assert config.load(None, {"PATH": "/bin"}, home) is None


class TestPaths:
    def test_a_tilde_is_the_home_folder(self, tmp_path: Path, home: Path) -> None:
        assert roots(load(tmp_path, FORGE)) == (home / "src",)

    def test_a_relative_path_starts_at_the_file(self, tmp_path: Path) -> None:
        loaded = load(
            tmp_path,
            '[forge]\nkind = "local"\nroots = ["src"]\n[cache]\nfile = "a/cache.db"\n[swarmkit]\nrepo = "../kit"\n',
        )
        assert roots(loaded) == (tmp_path / "src",)
        assert loaded.settings.cache.file == str(tmp_path / "a" / "cache.db")
        assert loaded.settings.swarmkit.repo == str(tmp_path / "../kit")

    def test_a_relative_path_needs_a_file_to_start_at(self, home: Path) -> None:
        environ = {"GATEWAY_FORGE__KIND": "local", "GATEWAY_FORGE__ROOTS": "src"}
        with pytest.raises(InvalidConfig, match="without a configuration file, a path starts with / or ~"):
            config.load(None, environ, home)

    def test_another_user_is_not_looked_up(self, tmp_path: Path) -> None:
        text = '[forge]\nkind = "local"\nroots = ["~root/src"]\n'
        assert problems(tmp_path, text) == ("[forge] roots: write the whole path instead of ~name",)

    @pytest.mark.parametrize("path", ["", "a\\u0000b"])
    def test_a_path_is_a_path(self, tmp_path: Path, path: str) -> None:
        assert problems(tmp_path, f'[forge]\nkind = "local"\nroots = ["{path}"]\n') == ("[forge] roots: write a path",)


class TestEnvironment:
    def test_it_can_say_everything(self, home: Path) -> None:
        environ = {
            "GATEWAY_FORGE__KIND": "local",
            "GATEWAY_FORGE__ROOTS": "~/a, /b",
            "GATEWAY_SYNC__EXCLUDE": '["x/*"]',
            "GATEWAY_SYNC__FORKS": "false",
            "GATEWAY_GATEWAY__DEADLINE": "5s",
            "GATEWAY_WRITE__ALLOW": "acme/*, local/*",
            "GATEWAY_TASKS__FILING": "file",
            "GATEWAY_TASKS__PROJECTS": '{"acme/web": "issue"}',
        }
        loaded = config.load(None, environ, home)
        assert loaded is not None
        assert loaded.path is None
        assert roots(loaded) == (home / "a", Path("/b"))
        assert loaded.settings.sync.exclude == ("x/*",)
        assert loaded.settings.sync.forks is False
        assert loaded.settings.gateway.deadline == 5.0
        assert loaded.settings.write.allow == ("acme/*", "local/*")
        assert loaded.settings.tasks == settings.TasksSection(filing="file", projects={"acme/web": "issue"})

    def test_a_variable_wins_over_the_file_key_by_key(self, tmp_path: Path) -> None:
        text = FORGE + "max_in_flight = 2\n[forge.nothing]\n"
        loaded = load(tmp_path, text.replace("[forge.nothing]\n", ""), {"GATEWAY_FORGE__MAX_IN_FLIGHT": "3"})
        assert loaded.settings.fleet["default"].max_in_flight == 3
        assert len(roots(loaded)) == 1

    def test_a_named_forge_can_be_set(self, tmp_path: Path) -> None:
        environ = {"GATEWAY_FORGES__WORK__KIND": "local", "GATEWAY_FORGES__WORK__ROOTS": "/srv/work"}
        expected = settings.LocalForgeSettings(roots=(Path("/srv/work"),))
        assert load(tmp_path, "", environ).settings.fleet == {"work": expected}

    def test_an_unknown_section_is_told_with_a_near_one(self, tmp_path: Path) -> None:
        found = problems(tmp_path, "", {"GATEWAY_FROGE__KIND": SENTINEL})
        assert found == ("GATEWAY_FROGE__KIND: unknown variable — did you mean GATEWAY_FORGE__…?",)

    def test_an_unknown_key_is_told_by_its_variable(self, tmp_path: Path) -> None:
        found = problems(tmp_path, FORGE, {"GATEWAY_SYNC__PAGE": SENTINEL})
        assert found == ("GATEWAY_SYNC__PAGE: unknown key — did you mean pages?",)

    def test_a_single_underscore_is_told(self, tmp_path: Path) -> None:
        found = problems(tmp_path, FORGE, {"GATEWAY_FORGE_ROOTS": SENTINEL})
        assert found == ("GATEWAY_FORGE_ROOTS: unknown variable — did you mean GATEWAY_FORGE__ROOTS?",)

    def test_what_an_orchestrator_sets_for_a_service_of_our_name_is_not_ours(self, home: Path) -> None:
        environ = {"GATEWAY_PORT": "tcp://10.0.0.1:80", "GATEWAY_SERVICE_HOST": "10.0.0.1", "GATEWAY_CONFIG": ""}
        assert config.load(None, environ, home) is None


class TestForges:
    def test_the_kind_need_not_be_said(self, tmp_path: Path) -> None:
        text = '[forges.work]\nurl = "https://git.example.test"\n[forges.here]\nroots = ["~/src"]\n'
        assert {name: forge.kind for name, forge in load(tmp_path, text).settings.fleet.items()} == {
            "work": "gitea",
            "here": "local",
        }

    def test_but_it_may_be(self, tmp_path: Path) -> None:
        forge = load(tmp_path, GITEA + 'kind = "gitea"\n').settings.fleet["default"]
        assert isinstance(forge, settings.GiteaForgeSettings)
        assert forge.url == "https://git.example.test/"

    def test_files_start_where_the_configuration_lies(self, tmp_path: Path, home: Path) -> None:
        forge = load(tmp_path, GITEA + 'token_file = "token"\nca_file = "~/ca.pem"\n').settings.forge
        assert isinstance(forge, settings.GiteaForgeSettings)
        assert (forge.token_file, forge.ca_file) == (str(tmp_path / "token"), str(home / "ca.pem"))

    @pytest.mark.parametrize("key", settings.TOKEN_KEYS)
    def test_a_token_of_the_environment_takes_the_place_of_any_in_the_file(self, tmp_path: Path, key: str) -> None:
        text = f'[forges.work]\nurl = "https://git.example.test"\n{key} = "{SENTINEL}"\n'
        forge = load(tmp_path, text, {"GATEWAY_FORGES__WORK__TOKEN": "fake-token"}).settings.forges["work"]
        assert isinstance(forge, settings.GiteaForgeSettings)
        assert forge.token.get_secret_value() == "fake-token"
        assert not forge.token_file
        assert not forge.token_command

    def test_two_tokens_of_the_environment_are_one_too_many(self, tmp_path: Path) -> None:
        environ = {"GATEWAY_FORGE__TOKEN": SENTINEL, "GATEWAY_FORGE__TOKEN_FILE": f"/{SENTINEL}"}
        assert problems(tmp_path, GITEA, environ) == ("GATEWAY_FORGE: set one of token, token_file and token_command",)

    @pytest.mark.parametrize("key", ["token", "token_command"])
    def test_no_representation_shows_a_secret(self, tmp_path: Path, key: str) -> None:
        loaded = load(tmp_path, f'{GITEA}{key} = "{SENTINEL}"\n')
        shown = (
            repr(loaded),
            str(loaded.settings),
            repr(loaded.settings.model_dump()),
            loaded.settings.model_dump_json(),
        )
        assert all(SENTINEL not in text for text in shown)


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (f'[sync]\npage = "{SENTINEL}"\n', "[sync] page: unknown key — did you mean pages?"),
            (
                f'[forge]\nkind = "local"\nroots = ["/r"]\nzz = "{SENTINEL}"\n',
                "[forge] zz: unknown key — known are: kind",
            ),
            (f'{GITEA}rooots = "{SENTINEL}"\n', "[forge] rooots: unknown key — known are: kind, url"),
            (f'{GITEA}tokn = "{SENTINEL}"\n', "[forge] tokn: unknown key — did you mean token?"),
            (f'{GITEA}roots = ["{SENTINEL}"]\n', "[forge] roots: is a key of local forges, and this one is gitea"),
            (f'{FORGE}url = "{SENTINEL}"\n', "[forge] url: is a key of gitea forges, and this one is local"),
            (
                f'[forges.work]\nroots = ["/r"]\ntoken = "{SENTINEL}"\n',
                "[forges.work] token: is a key of gitea forges, and this one is local",
            ),
            (f'[forges.gitea]\nurl = "/{SENTINEL}"\n', "[forges.gitea] url: should be an address such as https://"),
            (f'[forge]\nurl = "https://me:{SENTINEL}@host"\n', "[forge] url: should stand without user name"),
            (f'[forge]\nurl = ["{SENTINEL}"]\n', "[forge] url: should be a valid string"),
            (f'{GITEA}token = ["{SENTINEL}"]\n', "[forge] token: should be a valid string"),
            (
                f'{GITEA}token = "{SENTINEL}"\ntoken_command = "{SENTINEL}"\n',
                "[forge]: set one of token, token_file and token_command",
            ),
            (f'[forge]\nuser = "{SENTINEL}"\n', "[forge]: set url for a Gitea or Forgejo server, or roots for"),
            (f'forge = "{SENTINEL}"\n', "[forge]: set url for"),
            (f'[snyc]\npages = "{SENTINEL}"\n', "snyc: unknown key — did you mean sync?"),
            (f'token = "{SENTINEL}"\n', "token: unknown key — known are: forge, forges, sync, cache, wiki, gateway"),
            ('[forge]\nkind = "local"\n', "[forge] roots: missing"),
            ('[forge]\nkind = "gitea"\n', "[forge] url: missing"),
            ('[forge]\nkind = "local"\nroots = []\n', "[forge] roots: "),
            (f'[forge]\nkind = "{SENTINEL}"\nroots = ["/r"]\n', "[forge]: set url for a Gitea or"),
            (f'[gateway]\ndeadline = "{SENTINEL}"\n', "[gateway] deadline: should be a duration such as "),
            ('[gateway]\ndeadline = "0s"\n', "[gateway] deadline: should be longer than nothing"),
            (f'[gateway]\ntool_names = "{SENTINEL}"\n', "[gateway] tool_names: should be '', 'dotted' or 'underscore'"),
            (f'[gateway]\ntoolsets = ["{SENTINEL}"]\n', "[gateway] toolsets: should be 'federation'"),
            (f'[write]\nallow = "[{SENTINEL}"\n', "[write] allow: should be a list: JSON"),
            (f'[write]\nallow_secrets = "{SENTINEL}"\n', "[write] allow_secrets: should be a valid boolean"),
            (f'[tasks]\nfiling = "{SENTINEL}"\n', "[tasks] filing: should be 'auto', 'issue' or 'file'"),
            (f'[tasks.projects]\n"acme/web" = "{SENTINEL}"\n', "[tasks] projects: should be 'auto', 'issue' or 'file'"),
            (f'[tasks]\nprojects = "{SENTINEL}"\n', "[tasks] projects: should be a table: JSON in the environment"),
            (f'[tasks]\nproject = "{SENTINEL}"\n', "[tasks] project: unknown key — did you mean projects?"),
            (f'[sync]\nforks = "{SENTINEL}"\n', "[sync] forks: should be a valid boolean"),
            ("[sync]\npages = 7\n", "[sync] pages: should be "),
            (f'[sync]\ninclude = "[{SENTINEL}"\n', "[sync] include: should be a list: JSON"),
            (f'sync = "{SENTINEL}"\n', "[sync]: should be a valid dictionary"),
            ('[forges."A b"]\nkind = "local"\nroots = ["/r"]\n', "[forges.A b] [key]: a forge's name is made of"),
            (FORGE + '[forges.x]\nkind = "local"\nroots = ["/r"]\n', "use [forge] for one forge or [forges.NAME]"),
        ],
    )
    def test_each_is_one_line_without_the_value(self, tmp_path: Path, text: str, expected: str) -> None:
        found = problems(tmp_path, text)
        assert len(found) == 1, found
        assert found[0].startswith(expected)
        assert "\n" not in found[0]

    def test_all_are_told_and_the_first_one_leads(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidConfig, match=r"\[sync\] a: .* \(and 1 more: gateway doctor lists them\)") as failure:
            load(tmp_path, "[sync]\na = 1\nb = 2\n")
        assert len(failure.value.problems) == 2

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (f'a = "{SENTINEL}\n'.encode(), "is not valid TOML at line 1, column"),
            (f"{SENTINEL} {SENTINEL}".encode(), "is not valid TOML at line 1, column"),
            (b"[forge", "is not valid TOML at end of document"),
            (b"a = '\xff'", "is not UTF-8 text"),
        ],
    )
    def test_a_file_that_cannot_be_parsed(self, tmp_path: Path, content: bytes, expected: str) -> None:
        (tmp_path / "auth.toml").write_bytes(content)
        with pytest.raises(InvalidConfig, match=expected) as failure:
            config.load(tmp_path / "auth.toml", {}, tmp_path)
        assert SENTINEL not in str(failure.value)

    def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidConfig, match=r"cannot read .*: Is a directory"):
            config.load(tmp_path, {}, tmp_path)

    def test_a_byte_order_mark_is_no_mistake(self, tmp_path: Path) -> None:
        assert load(tmp_path, "\ufeff" + FORGE).settings.fleet

    @given(st.dictionaries(st.sampled_from([*settings.SECTIONS["forge"], "x"]), st.just(SENTINEL), min_size=1))
    def test_no_value_is_ever_shown(self, forge: dict[str, str]) -> None:
        environ = {f"GATEWAY_FORGE__{key.upper()}": value for key, value in forge.items()}
        with pytest.raises(InvalidConfig) as failure:
            config.load(None, environ, Path("/home"))
        assert all(SENTINEL not in problem for problem in failure.value.problems)


class TestDurations:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("0s", 0.0),
            ("20s", 20.0),
            ("5m", 300.0),
            ("24h", 86400.0),
            ("1.5h", 5400.0),
            ("250ms", 0.25),
            ("2d", 172800.0),
        ],
    )
    def test_units(self, text: str, expected: float) -> None:
        assert settings.seconds(text) == expected

    @pytest.mark.parametrize("text", ["", "20", "s", "-5s", "5 m", "1e3s", "inf", "٥s", 20, None])
    def test_anything_else_is_refused(self, text: object) -> None:
        with pytest.raises(ValueError, match="duration"):
            settings.seconds(text)


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    loaded = load(tmp_path, FORGE)
    with pytest.raises(ValueError, match="frozen"):
        loaded.settings.sync.forks = False
    with pytest.raises(ValueError, match="frozen"):
        loaded.settings.wiki = settings.WikiSection()


class TestExample:
    """``auth.example.toml`` shows every key with its default; the second kind of forge in a comment."""

    TEXT = EXAMPLE.read_text(encoding="utf-8")

    def local_forge(self) -> str:
        """The commented section, as it is when the comment marks are taken away."""
        lines = self.TEXT[self.TEXT.index("# [forge]") :].partition("\n\n")[0].splitlines()
        return "\n".join(line.removeprefix("# ") for line in lines)

    def load(self, tmp_path: Path, text: str) -> settings.Settings:
        return load(tmp_path, text).settings

    def test_it_has_every_key(self) -> None:
        example = tomllib.loads(self.TEXT)
        keys = {name: set(known) for name, known in settings.SECTIONS.items()}
        keys["forge"] = set(settings.GiteaForgeSettings.model_fields)
        assert {name: set(section) for name, section in example.items()} == keys
        assert set(tomllib.loads(self.local_forge())["forge"]) == set(settings.LocalForgeSettings.model_fields)

    def test_every_value_is_the_default(self, tmp_path: Path) -> None:
        shown = self.load(tmp_path, self.TEXT)
        expected = settings.Settings(forge=settings.GiteaForgeSettings(url="https://git.example.test"))
        assert shown == expected

    def test_so_it_is_with_local_repositories(self, tmp_path: Path, home: Path) -> None:
        shown = self.load(tmp_path, self.local_forge())
        assert shown.forge == settings.LocalForgeSettings(roots=(home / "src",))
