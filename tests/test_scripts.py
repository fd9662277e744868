"""The scripts: what they set up, with which tools, and what they say where something is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
TOOLS = ("sh", "cat", "cksum", "dirname", "rm", "mkdir", "touch", "chmod")  # all that a script may take for granted
TESTS = "python -P -m pytest -n auto --dist loadgroup -m"
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-full.lock", "requirements-swarmkit.lock")
CHECKS = ["ruff format --check --quiet", "ruff check --quiet", "mypy", "lint-imports"]

# Programs that note what they are asked to do. This Python fails at whatever names one of the words in `lacks`; the
# environment that it makes holds a Python like itself, or one without pip.
FAKE_PYTHON = """#!/bin/sh
for lacking in {lacks}; do case "$*" in *$lacking*) exit 1 ;; esac; done
case "$*" in -c* | *--version) exit 0 ;; esac
echo "python $*" >>"{log}"
case "$*" in '-m venv '*) for target; do :; done; mkdir -p "$target/bin" ;; esac
case "$*" in
*--without-pip*) echo '[ "$2" != pip ]' >"$target/bin/python" ;;
'-m venv '*) cat "$0" >"$target/bin/python" ;;
*) exit 0 ;;
esac
chmod +x "$target/bin/python"
"""

FAKE_UV = """#!/bin/sh
echo "uv $*" >>"{log}"
case "$1 $2" in
'venv '*) for target; do :; done; mkdir -p "$target/bin"; cat "{python}" >"$target/bin/python" ;;
'pip install') {install}; exit ;;
esac
chmod +x "$target/bin/python"
"""


@dataclass(frozen=True)
class Checkout:
    """A copy of what the scripts work on, in a folder with spaces in its name, and the only programs they can find."""

    root: Path
    bin: Path
    log: Path

    def program(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # it may be a link to the machine's own
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def python(self, *, lacks: str = "nothing") -> Path:
        self.program(self.bin / "python3", FAKE_PYTHON.format(log=self.log, lacks=lacks))
        return self.bin / "python3"

    def uv(self, *, install: str = ":") -> None:
        self.program(self.bin / "uv", FAKE_UV.format(log=self.log, python=self.python(), install=install))

    def run(
        self, *command: str, cwd: Path | None = None, reach: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        script = str(self.root / command[0])
        env = {**(reach or {}), "PATH": str(self.bin)}  # no HOME
        return subprocess.run(
            [script, *command[1:]], cwd=cwd or "/", env=env, capture_output=True, text=True, check=False, timeout=300
        )

    def done(self) -> list[str]:
        """What the programs were asked to do, with the checkout's path as ``@``."""
        lines = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return lines.replace(str(self.root), "@").splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, programs = tmp_path / "a checkout", tmp_path / "bin"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    shutil.copytree(ROOT / ".ci", root / ".ci")
    for name in ("pyproject.toml", *LOCKS):
        shutil.copy(ROOT / name, root)
    programs.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (programs / tool).symlink_to(found)
    return Checkout(root, programs, tmp_path / "log")


class TestSetUp:
    def test_uv_is_used_where_it_is(self, checkout: Checkout) -> None:
        checkout.uv()
        assert checkout.run("scripts/demo").returncode == 0
        assert checkout.done() == [
            f"uv venv --quiet --python {checkout.bin}/python3 @/.venv",
            "uv pip install --python @/.venv/bin/python --require-hashes -r @/requirements.lock",
            "uv pip install --python @/.venv/bin/python --no-deps --no-build-isolation --editable @",
            "python -P -m gateway demo",
        ]

    def test_else_venv_and_its_pip(self, checkout: Checkout) -> None:
        checkout.python()
        assert checkout.run("scripts/demo", "--keep", "x").returncode == 0
        assert checkout.done() == [
            "python -m venv @/.venv",
            "python -m pip --disable-pip-version-check install --require-hashes -r @/requirements.lock",
            "python -m pip --disable-pip-version-check install --no-deps --no-build-isolation --editable @",
            "python -P -m gateway demo --keep x",
        ]

    def test_without_ensurepip_the_pip_outside_serves(self, checkout: Checkout) -> None:
        checkout.python(lacks="import?ensurepip")
        assert checkout.run("scripts/demo").returncode == 0
        pip = "python -m pip --disable-pip-version-check --python @/.venv/bin/python install"
        assert checkout.done() == [
            "python -m venv --without-pip @/.venv",
            f"{pip} --require-hashes -r @/requirements.lock",
            f"{pip} --no-deps --no-build-isolation --editable @",
        ]

    def test_without_either_one_line_names_the_package(self, checkout: Checkout) -> None:
        checkout.python(lacks="ensurepip pip")
        done = checkout.run("scripts/demo")
        assert done.returncode == 1
        assert done.stderr == (
            f"scripts/demo: {checkout.bin}/python3 has neither ensurepip nor pip:"
            " install python3-venv (Debian, Ubuntu), python3-pip, or uv\n"
        )

    def test_without_a_new_python_one_line_says_so(self, checkout: Checkout) -> None:
        checkout.python(lacks="version_info")
        done = checkout.run("scripts/demo")
        assert (done.returncode, done.stderr) == (
            1,
            "scripts/demo: needs Python 3.11 or newer (set PYTHON if it is not on PATH)\n",
        )

    def test_a_python_that_was_named_is_taken_or_none(self, checkout: Checkout) -> None:
        checkout.python()
        old, new = (checkout.root / f"{age} one" / "python" for age in ("old", "new"))
        checkout.program(old, FAKE_PYTHON.format(log=checkout.log, lacks="version_info"))
        checkout.program(new, FAKE_PYTHON.format(log=checkout.log, lacks="nothing"))
        done = checkout.run("scripts/demo", reach={"PYTHON": str(old)})
        assert (done.returncode, done.stderr) == (
            1,
            f"scripts/demo: PYTHON is {old}, which is not Python 3.11 or newer\n",
        )
        assert checkout.run("scripts/demo", reach={"PYTHON": str(new)}).returncode == 0

    def test_an_index_out_of_reach_is_one_line(self, checkout: Checkout) -> None:
        checkout.uv(install="echo 'a long story' >&2; exit 1")
        done = checkout.run("scripts/demo")
        assert done.returncode == 1
        assert done.stderr.splitlines()[1:] == [
            "scripts/demo: could not install the pinned packages: is a package index reachable? (see .venv/install.log)"
        ]
        assert "a long story" in (checkout.root / ".venv" / "install.log").read_text(encoding="utf-8")

    def test_the_second_time_nothing_is_installed(self, checkout: Checkout) -> None:
        checkout.uv()
        checkout.run("scripts/demo")
        checkout.done()
        assert checkout.run("scripts/demo", cwd=checkout.bin).stderr == ""
        assert checkout.done() == ["python -P -m gateway demo"]

    def test_what_was_not_finished_is_begun_again(self, checkout: Checkout) -> None:
        checkout.uv(install="exit 1")
        checkout.run("scripts/demo")
        checkout.uv()
        assert checkout.run("scripts/demo").returncode == 0

    def test_another_lock_is_installed(self, checkout: Checkout) -> None:
        checkout.uv()
        checkout.run("scripts/demo")
        checkout.done()
        with (checkout.root / "requirements.lock").open("a", encoding="utf-8") as lock:
            lock.write("# changed\n")
        checkout.run("scripts/demo")
        assert len(checkout.done()) == 3

    def test_a_broken_environment_is_made_anew(self, checkout: Checkout) -> None:
        checkout.uv()
        checkout.program(checkout.root / ".venv" / "bin" / "python", "#!/bin/sh\nexit 127\n")
        assert checkout.run("scripts/demo").returncode == 0
        assert checkout.done()[0].startswith("uv venv")


class TestChecks:
    @pytest.fixture
    def ready(self, checkout: Checkout) -> Checkout:
        checkout.uv()
        for tool in ("ruff", "mypy", "lint-imports"):
            checkout.program(
                checkout.root / ".venv" / "bin" / tool, f'#!/bin/sh\necho "{tool} $*" >>"{checkout.log}"\n'
            )
        checkout.program(
            checkout.root / ".venv" / "bin" / "python", FAKE_PYTHON.format(log=checkout.log, lacks="nothing")
        )
        return checkout

    def test_all_are_made_in_order(self, ready: Checkout) -> None:
        assert ready.run("scripts/test").returncode == 0
        assert [line.strip() for line in ready.done()[2:]] == [*CHECKS, f"{TESTS} not full"]

    def test_full_leaves_no_test_out(self, ready: Checkout) -> None:
        assert ready.run("scripts/test", "--full").returncode == 0
        done = ready.done()
        assert any(line.endswith("requirements-full.lock") for line in done)
        assert done[-1] == f"{TESTS} "

    def test_full_has_swarmkit_in_an_environment_of_its_own(self, ready: Checkout) -> None:
        ready.run("scripts/test", "--full")
        pip = "uv pip install --python @/.venv-swarmkit/bin/python"
        assert [line for line in ready.done() if "swarmkit" in line] == [
            f"uv venv --quiet --python {ready.bin}/python3 @/.venv-swarmkit",
            f"{pip} --require-hashes -r @/requirements-swarmkit.lock",
            f"{pip} --no-deps --no-build-isolation --editable @",
        ]

    def test_one_that_fails_ends_it(self, ready: Checkout) -> None:
        ready.program(ready.root / ".venv" / "bin" / "mypy", "#!/bin/sh\nexit 1\n")
        assert ready.run("scripts/test").returncode == 1
        assert not any("pytest" in line for line in ready.done())

    def test_another_word_is_refused(self, checkout: Checkout) -> None:
        done = checkout.run("scripts/test", "--fast")
        assert (done.returncode, done.stderr) == (2, "scripts/test: usage: scripts/test [--full]\n")
        asked = checkout.run("scripts/test", "--help")
        assert (asked.returncode, asked.stdout) == (0, "usage: scripts/test [--full]\n")

    def test_ci_makes_them_all(self, checkout: Checkout) -> None:
        checkout.program(checkout.root / "scripts" / "test", f'#!/bin/sh\necho "test $*" >>"{checkout.log}"\n')
        for tool in ("bash", "env"):
            (checkout.bin / tool).symlink_to(str(shutil.which(tool)))
        checkout.program(
            checkout.bin / "timeout", f'#!/bin/sh\necho "timeout $1" >>"{checkout.log}"\nshift\nexec "$@"\n'
        )
        assert checkout.run(".ci/run").returncode == 0
        assert checkout.done() == ["timeout 3600", "test --full"]


class TestLocks:
    """What is tested is pinned, for every platform, by hash."""

    @pytest.mark.parametrize("name", LOCKS)
    def test_each_pin_has_a_hash_and_no_address(self, name: str) -> None:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        assert "--index-url" not in text
        pinned = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
        assert pinned
        assert [pin for pin in pinned if "--hash=sha256:" not in pin] == []

    @pytest.mark.parametrize("name", LOCKS[1:3])
    def test_all_locks_of_one_environment_agree(self, name: str) -> None:
        pinned, others = pins("requirements.lock"), pins(name)
        assert {key for key in pinned.keys() & others.keys() if pinned[key] != others[key]} == set()

    def test_what_is_declared_is_pinned_to_a_version_that_is_admitted(self) -> None:
        declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        groups = declared["dependency-groups"]
        wanted = {
            "requirements.lock": [*declared["project"]["dependencies"], *groups["build"]],
            "requirements-dev.lock": [*declared["project"]["dependencies"], *groups["dev"]],
            "requirements-full.lock": groups["full"],
            "requirements-swarmkit.lock": declared["project"]["optional-dependencies"]["swarmkit"],
        }
        for name, requirements in wanted.items():
            pinned = pins(name)
            for requirement in (Requirement(each) for each in requirements if isinstance(each, str)):
                version = pinned.get(canonicalize_name(requirement.name))
                assert version is not None, requirement
                assert version in requirement.specifier, requirement


def pins(name: str) -> dict[str, Version]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^ ;]+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(package): Version(version) for package, version in found}


# As distributions have it that package ensurepip by itself: whatever imports it fails.
WITHOUT_ENSUREPIP = """#!/bin/sh
case "$*" in *--without-pip*) ;; *'-m venv'*|*ensurepip*) echo "No module named 'ensurepip'" >&2; exit 1 ;; esac
exec "{python}" "$@"
"""

# What this machine needs to reach the package index: certificates, proxies, mirrors.
REACH = {name: value for name, value in os.environ.items() if re.search("(?i)^(pip|uv|ssl)_|_proxy$", name)}


@pytest.mark.full
class TestFreshMachine:
    """The real thing: an empty environment, filled from the package index."""

    @pytest.mark.parametrize("installer", ["pip", "pip without ensurepip", *(["uv"] if shutil.which("uv") else [])])
    def test_the_demo_runs(self, checkout: Checkout, installer: str) -> None:
        """With nothing but the tools above and a Python: no git, no HOME."""
        for name in ("README.md", "LICENSE", "gateway", "sync", "cache"):
            source, target = ROOT / name, checkout.root / name
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        python = Path(sys.base_prefix) / "bin" / "python3"
        if installer == "pip without ensurepip":
            checkout.program(checkout.bin / "python3", WITHOUT_ENSUREPIP.format(python=python))
        else:
            (checkout.bin / "python3").symlink_to(python)
        if installer == "uv":
            (checkout.bin / "uv").symlink_to(str(shutil.which("uv")))
        first = checkout.run("scripts/demo", reach=REACH)
        assert first.returncode == 0, first.stderr
        assert "# Windows yarn exec" in first.stdout
        again = checkout.run("scripts/demo", "--help")
        assert (again.returncode, again.stderr) == (0, "")
