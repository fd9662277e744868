"""Checks of workspaces in a process of their own, with the schemas alone: what any environment can do."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cache.errors import TimedOut, TooLarge, Unavailable
from sync.corpora.swarmkit.validation import LAUNCHER, Limits, Validator
from tests.support.swarmkit import codes, listing
from tests.support.swarmkit_repo import WORKSPACE, write

SECRET = "fake-value-0c11a7"  # noqa: S105 of an environment variable
PATIENCE = 30.0


@pytest.fixture(scope="module")
def validator() -> Iterator[Validator]:
    validator = Validator("", {"LANG": "C.UTF-8"})
    yield validator
    validator.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for path, text in WORKSPACE.items():
        write(tmp_path / "ws" / path, text)
    return (tmp_path / "ws").resolve()


@pytest.fixture
def check(validator: Validator, repo: Path, workspace: Path) -> Any:
    def checked() -> Mapping[str, Any]:
        return validator.check(workspace, repo / "packages/schema/schemas")

    return checked


class TestAnswer:
    def test_it_says_that_it_is_not_complete(self, check: Any) -> None:
        answer = check()
        assert (answer["engine"], answer["complete"], answer["valid"], answer["errors"]) == (
            "schema-only",
            False,
            True,
            [],
        )

    def test_what_the_files_declare_is_told(self, check: Any) -> None:
        answer = check()
        assert (answer["workspace"], answer["skills"], answer["triggers"]) == ("hello", ["look-up"], ["daily"])
        assert answer["topologies"] == [
            {
                "name": "hello",
                "agents": [
                    {"id": "root", "archetype": "", "skills": [], "children": ["greeter"]},
                    {"id": "greeter", "archetype": "greeter", "skills": [], "children": []},
                ],
            }
        ]

    def test_an_error_has_its_place_and_line(self, check: Any, workspace: Path) -> None:
        write(
            workspace / "topologies/hello.yaml", WORKSPACE["topologies/hello.yaml"].replace("role: root", "role: boss")
        )
        (error,) = check()["errors"]
        assert error["code"] == "schema.enum-mismatch"
        assert (error["artifact_path"], error["yaml_pointer"], error["line"]) == (
            "topologies/hello.yaml",
            "/agents/root/role",
            9,
        )
        assert "'boss'" in error["message"]

    def test_a_reference_between_schemas_is_found_by_its_last_part_and_never_fetched(
        self, validator: Validator, workspace: Path, tmp_path: Path
    ) -> None:
        schema = '{"properties": {"metadata": {"$ref": "https://unreachable.example.test/v9/part.schema.json"}}}'
        for name in ("workspace", "skill", "topology", "archetype", "trigger"):
            write(tmp_path / f"schemas/{name}.schema.json", "{}")
        write(tmp_path / "schemas/workspace.schema.json", schema)
        write(tmp_path / "schemas/sub/part.schema.json", '{"$id": "urn:elsewhere", "required": ["nobody-has-it"]}')
        answer = validator.check(workspace, tmp_path / "schemas")
        assert codes(answer) == ["schema.required-field"]

    def test_one_that_leads_nowhere_is_an_error_of_that_file(
        self, validator: Validator, workspace: Path, tmp_path: Path
    ) -> None:
        write(tmp_path / "schemas/workspace.schema.json", '{"$ref": "https://unreachable.example.test/x.json"}')
        first = validator.check(workspace, tmp_path / "schemas")["errors"][0]
        assert (first["code"], first["artifact_path"]) == ("schema.other", "workspace.yaml")

    def test_without_schemas_nothing_is_called_valid(
        self, validator: Validator, workspace: Path, tmp_path: Path
    ) -> None:
        answer = validator.check(workspace, tmp_path / "nothing")
        assert (answer["valid"], codes(answer)) == (False, ["schema.other"])


class TestBadWorkspaces:
    @pytest.mark.parametrize(
        ("text", "code", "line"),
        [
            ("a: b: c\n", "workspace.yaml-parse", 1),
            ("- a\n", "workspace.malformed", None),
            ("", "workspace.malformed", None),
            ("kind: Nonsense\n", "workspace.kind-mismatch", 1),
            ("a: &a [*a]\n", "workspace.kind-mismatch", None),
            ("[" * 50_000, "workspace.yaml-parse", None),
        ],
    )
    def test_a_bad_file_is_an_error_and_hides_no_other(
        self, check: Any, workspace: Path, text: str, code: str, line: int | None
    ) -> None:
        write(workspace / "skills/bad.yaml", text)
        answer = check()
        assert answer["valid"] is False
        assert codes(answer) == [code]
        assert answer["errors"][0]["artifact_path"] == "skills/bad.yaml"
        assert line is None or answer["errors"][0]["line"] == line
        assert answer["skills"] == ["look-up"]

    def test_bytes_that_are_no_text_are_an_error(self, check: Any, workspace: Path) -> None:
        (workspace / "skills/bad.yaml").write_bytes(b"\xff\xfe\x00")
        assert codes(check()) == ["workspace.yaml-parse"]

    def test_without_a_workspace_file_there_is_one(self, check: Any, workspace: Path) -> None:
        (workspace / "workspace.yaml").unlink()
        assert codes(check()) == ["workspace.missing-workspace-yaml"]


class TestSecrets:
    def test_no_value_of_the_environment_is_in_an_answer(
        self, repo: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOME_TOKEN", SECRET)
        write(workspace / "workspace.yaml", WORKSPACE["workspace.yaml"].replace("stdio", "${SOME_TOKEN}"))
        write(
            workspace / "topologies/hello.yaml",
            WORKSPACE["topologies/hello.yaml"].replace("role: root", 'role: "${SOME_TOKEN}"'),
        )
        validator = Validator("", os.environ)
        try:
            answer = validator.check(workspace, repo / "packages/schema/schemas")
        finally:
            validator.close()
        assert SECRET not in str(answer)
        (error,) = answer["errors"]
        assert error["message"].startswith("'${SOME_TOKEN}' is not one of ")
        assert error["message"].endswith("(${SOME_TOKEN} stands as it is: this check reads no environment variables)")

    def test_no_absolute_path_is_in_an_answer(self, check: Any, workspace: Path) -> None:
        write(workspace / "skills/bad.yaml", f"kind: {workspace}/x\n")
        assert str(workspace.parent) not in str(check())

    def test_what_the_workspace_declares_secret_is_named_instead_of_shown(self, check: Any, workspace: Path) -> None:
        write(workspace / "workspace.env.yaml", f"secrets: [db]\ndb:\n  dsn: {SECRET}\n")
        write(
            workspace / "topologies/hello.yaml",
            WORKSPACE["topologies/hello.yaml"].replace("role: root", f"role: {SECRET}"),
        )
        (error,) = check()["errors"]
        assert error["message"] == "'[secret db]' is not one of ['root', 'leader', 'worker']"


class TestLimits:
    def test_a_check_that_takes_too_long_is_ended_and_the_next_one_works(self, repo: Path, workspace: Path) -> None:
        validator = Validator("", {}, Limits(seconds=1.0))
        bomb = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
        write(workspace / "skills/bomb.yaml", f"kind: Skill\nmetadata:\n  a0: &a0 [x]\n{bomb}")
        schemas = workspace.parent / "schemas"
        write(
            schemas / "skill.schema.json",
            '{"not": {"const": {"x": 1}}, "properties": {"metadata": {"$ref": "#/$defs/d"}},'
            ' "$defs": {"d": {"items": {"$ref": "#/$defs/d"}, "additionalProperties": {"$ref": "#/$defs/d"}}}}',
        )
        try:
            with pytest.raises(TimedOut):
                validator.check(workspace, schemas)
            (workspace / "skills/bomb.yaml").unlink()
            assert validator.check(workspace, repo / "packages/schema/schemas")["valid"]
        finally:
            validator.close()

    def test_one_that_takes_too_much_memory_is_ended(self, repo: Path, workspace: Path) -> None:
        write(workspace / "skills/large.yaml", "a: [" + "x, " * 1_000_000 + "]")
        validator = Validator("", {}, Limits(memory=1024 * 1024))
        try:
            with pytest.raises((TooLarge, Unavailable)):
                validator.check(workspace, repo / "packages/schema/schemas")
        finally:
            validator.close()

    def test_nothing_is_written_into_the_workspace(self, check: Any, workspace: Path) -> None:
        for path in [workspace, *workspace.rglob("*")]:
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
        before = listing(workspace)
        check()
        assert listing(workspace) == before
        for path in [workspace, *workspace.rglob("*")]:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


class TestWorker:
    def test_one_that_was_killed_is_started_again(self, repo: Path, workspace: Path) -> None:
        validator = Validator("", {})
        schemas = repo / "packages/schema/schemas"
        try:
            validator.check(workspace, schemas)
            worker = validator._worker
            assert worker is not None
            worker.kill()
            assert validator.check(workspace, schemas)["valid"]
        finally:
            validator.close()

    def test_closing_ends_a_check_under_way(self, repo: Path, workspace: Path) -> None:
        validator = Validator("", {})
        schemas = repo / "packages/schema/schemas"
        validator.check(workspace, schemas)
        worker = validator._worker
        assert worker is not None
        os.kill(worker._process.pid, signal.SIGSTOP)
        ended: list[BaseException] = []

        def check() -> None:
            try:
                validator.check(workspace, schemas)
            except Unavailable as error:
                ended.append(error)

        thread = threading.Thread(target=check)
        thread.start()
        validator.close()
        thread.join(PATIENCE)
        assert [str(error) for error in ended] == ["the gateway is ending"]

    def test_one_that_does_not_answer_in_time_is_given_up(self, repo: Path, workspace: Path) -> None:
        validator = Validator("", {}, Limits(seconds=-4.0))
        try:
            validator.sources()
            worker = validator._worker
            assert worker is not None
            os.kill(worker._process.pid, signal.SIGSTOP)
            with pytest.raises(TimedOut):
                validator.check(workspace, repo / "packages/schema/schemas")
            assert validator._worker is None
        finally:
            validator.close()

    @pytest.mark.parametrize("python", ["/no/such/python", "/bin/false", "/etc/hosts"])
    def test_an_interpreter_that_is_none_leaves_the_schemas_and_a_line_in_the_log(
        self, repo: Path, workspace: Path, python: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        validator = Validator(python, {})
        try:
            answer = validator.check(workspace, repo / "packages/schema/schemas")
        finally:
            validator.close()
        assert (answer["engine"], answer["complete"]) == ("schema-only", False)
        assert "no swarmkit-runtime by [swarmkit] python" in caplog.text

    def test_it_needs_none_of_our_packages_and_keeps_its_answers_apart_from_what_is_printed(
        self, tmp_path: Path
    ) -> None:
        write(tmp_path / "sitecustomize.py", "print('noise')")
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(LAUNCHER), "schemas"],
            input=b"",
            capture_output=True,
            cwd=tmp_path,
            check=False,
            timeout=PATIENCE,
        )
        assert done.stdout == b'{"engine": "", "sources": ""}\n'
        assert done.returncode == 0

    def test_it_ends_with_its_input(self) -> None:
        done = subprocess.run(
            [sys.executable, "-I", str(LAUNCHER), "schemas"],
            input=b"",
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stdout) == (0, b'{"engine": "schema-only", "sources": ""}\n')
