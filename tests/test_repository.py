"""What holds for the repository as a whole: what is in it, what a wheel of it holds, and who imports what."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from dulwich.repo import Repo

ROOT = Path(__file__).parents[1]
PACKAGES = ("gateway", "sync", "cache")

# Written so that this file does not hold what it forbids.
FOLDERS = ("wor" + "k/", "tm" + "p/v/", "ro" + "ot/", "ho" + "me/[a-z]{3,}/")
MACHINE_PATH = re.compile(rf"(?<![\w.~}}])/(?:{'|'.join(FOLDERS)})")
REGISTRIES = ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("crates", "io")
REGISTRY = re.compile("|".join(f"{name}[.]{domain}" for name, domain in REGISTRIES))


def tracked() -> list[Path]:
    with Repo(ROOT) as repo:
        return [ROOT / name.decode() for name in repo.open_index()]


@functools.cache
def texts() -> list[tuple[str, str]]:
    files = [path for path in tracked() if path.is_file()]
    return [(str(path.relative_to(ROOT)), path.read_bytes().decode("utf-8", "replace")) for path in files]


@functools.cache
def imports() -> dict[str, set[str]]:
    """What each of our modules imports."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): imported(ast.parse(path.read_bytes())) for path in paths}


def imported(module: ast.Module) -> set[str]:
    """The top-level names of everything that is imported, anywhere in the module."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


class TestFiles:
    def test_none_names_a_path_of_some_machine(self) -> None:
        assert [name for name, text in texts() if MACHINE_PATH.search(text)] == []

    def test_none_names_the_host_of_a_registry(self) -> None:
        assert [name for name, text in texts() if REGISTRY.search(text)] == []

    def test_no_source_is_longer_than_it_should_be(self) -> None:
        long = [name for name, text in texts() if name.endswith(".py") and len(text.splitlines()) > 400]
        assert long == []

    def test_commands_can_be_run(self) -> None:
        scripts = [ROOT / ".ci" / "run", *(path for path in (ROOT / "scripts").iterdir() if path.suffix != ".sh")]
        assert [path.name for path in scripts if not path.stat().st_mode & 0o111] == []


class TestImports:
    @pytest.mark.parametrize(
        ("library", "allowed"),
        [
            ("httpx2", r"sync/http\.py"),
            ("sqlite3", r"cache/(connect|schema)\.py"),
            ("pyromark", r"sync/markdown\.py"),
            ("dulwich", r"sync/forge/local(_\w+|/\w+)?\.py|gateway/demo\.py"),
            ("mcp", r"gateway/(server\.py|transports/\w+\.py)"),
            ("typer", r"gateway/(cli\.py|commands/\w+\.py)"),
            ("rich", r"gateway/(render|progress)\.py|gateway/commands/\w+\.py"),
            ("platformdirs", r"gateway/places\.py"),
            ("pydantic_settings", r"gateway/environment\.py"),
        ],
    )
    def test_a_library_is_used_in_its_place_only(self, library: str, allowed: str) -> None:
        users = [name for name, libraries in imports().items() if library in libraries]
        assert [name for name in users if not re.fullmatch(allowed, name)] == []

    @pytest.mark.parametrize("package", ["sync", "cache"])
    def test_inner_packages_do_not_know_outer_ones(self, package: str) -> None:
        outer = set(PACKAGES[: PACKAGES.index(package)])
        assert [name for name, found in imports().items() if name.startswith(package) and found & outer] == []


class TestStart:
    def modules_after(self, *verbs: str) -> set[str]:
        """What is loaded once the modules of ``verbs`` are."""
        code = (
            "import sys, importlib, gateway.cli\n"
            f"for verb in {verbs!r}: importlib.import_module(f'gateway.commands.{{verb}}')\n"
            "print(*sys.modules, sep='\\n')"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    def test_only_serving_loads_the_protocol(self) -> None:
        verbs = {path.stem for path in (ROOT / "gateway" / "commands").glob("[!_]*.py")} - {"serve", "knowledge_server"}
        assert "mcp" not in self.modules_after(*sorted(verbs))

    def test_serving_loads_nothing_that_only_some_calls_need(self) -> None:
        loaded = self.modules_after("serve", "knowledge_server")
        assert loaded & {"rich", "pydantic_settings", "yaml", "dulwich", "jsonschema", "pyromark", "jwt"} == set()

    def test_the_command_line_alone_loads_no_library_but_its_own(self) -> None:
        assert self.modules_after() & {"rich", "pydantic", "anyio", "mcp", "platformdirs"} == set()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


class TestWheel:
    def test_it_holds_our_three_packages_and_nothing_else(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            top = {name.partition("/")[0] for name in archive.namelist()}
        assert {name for name in top if not name.endswith(".dist-info")} == set(PACKAGES)

    def test_it_works_by_itself_outside_the_checkout(self, wheel: Path, tmp_path: Path) -> None:
        environment = tmp_path / "environment"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
        python = environment / "bin" / "python"
        subprocess.run([*installer(python), "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
        site = next((environment / "lib").glob("python3*/site-packages"))
        (site / "dependencies.pth").write_text(dependencies(), encoding="utf-8")
        (tmp_path / "cache").mkdir()  # a folder of the user's that is called like a package of ours
        code = "import cache, gateway, sync; print(cache.__file__, gateway.__file__, sync.__file__)"
        found = run(python, "-P", "-c", code, cwd=tmp_path).split()
        assert [Path(name).parent.parent for name in found] == [site] * 3
        assert run(environment / "bin" / "gateway", "--version", cwd=tmp_path) == f"gateway {declared_version()}\n"
        assert "client-config" in run(python, "-P", "-m", "gateway", "--help", cwd=tmp_path)


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    return subprocess.run(list(map(str, command)), cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def installer(python: Path) -> list[str]:
    """A command that installs into the environment of ``python``: whichever installer made ours."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", str(python)]
    for outer in (sys.executable, str(Path(sys.base_prefix) / "bin" / "python3")):
        if subprocess.run([outer, "-m", "pip", "--version"], check=False, capture_output=True).returncode == 0:
            return [outer, "-m", "pip", "--python", str(python), "install"]
    pytest.fail("there is neither uv nor pip")


def dependencies() -> str:
    """Where our dependencies are. It is only searched: the .pth files in it, such as the checkout's, are not read."""
    return f"{Path(pytest.__file__).parents[1]}\n"


def declared_version() -> str:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert isinstance(version, str)
    return version
