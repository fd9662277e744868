"""Everything with the real SwarmKit: its resolver, its schemas and its sources (``scripts/test --full``)."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from sync.corpora.swarmkit.corpus import Corpus
from sync.corpora.swarmkit.error_reference import FAILED, Sources, listed
from sync.corpora.swarmkit.validation import Validator
from tests.support.swarmkit import WORKSPACE as EXAMPLE
from tests.support.swarmkit import codes, listing, swarmkit_packages, swarmkit_python
from tests.support.swarmkit_repo import SKILL, WORKSPACE, make_repo, titles, write

pytestmark = pytest.mark.full

SECRET = "fake-value-0c11a7"  # noqa: S105 of an environment variable
HELLO = WORKSPACE["topologies/hello.yaml"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repo(tmp_path_factory.mktemp("real"), installed=swarmkit_packages())


@pytest.fixture(scope="module")
def corpus(checkout: Path) -> Iterator[Corpus]:
    validator = Validator(str(swarmkit_python()), {**os.environ, "SOME_TOKEN": SECRET})
    corpus = Corpus(checkout, validator, clock=time.time)
    yield corpus
    corpus.close()


@pytest.fixture(scope="module")
def alone(checkout: Path) -> Iterator[Corpus]:
    """The same, where there is no resolver."""
    corpus = Corpus(checkout, Validator("/no/such/python", os.environ), clock=time.time)
    yield corpus
    corpus.close()


@pytest.fixture(scope="module")
def real() -> Iterator[Corpus]:
    named = os.environ.get("SWARMKIT_REPO")
    if not named:
        pytest.skip("SWARMKIT_REPO names no checkout")
    corpus = Corpus(Path(named), Validator(str(swarmkit_python()), os.environ), clock=time.time)
    yield corpus
    corpus.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for path, text in WORKSPACE.items():
        write(tmp_path / "ws" / path, text)
    return tmp_path / "ws"


class TestResolver:
    def test_what_a_workspace_resolves_to_is_told(self, corpus: Corpus) -> None:
        answer = corpus.validate(EXAMPLE)
        assert (answer["valid"], answer["complete"], answer["errors"]) == (True, True, [])
        assert answer["engine"].startswith("swarmkit-runtime ")
        assert (answer["workspace"], answer["triggers"]) == ("hello", ["daily"])
        assert "look-up" in answer["skills"]
        assert answer["topologies"] == [
            {
                "name": "hello",
                "agents": [
                    {"id": "root", "archetype": "", "skills": [], "children": ["greeter"]},
                    {"id": "greeter", "archetype": "greeter", "skills": ["look-up"], "children": []},
                ],
            }
        ]

    @pytest.mark.parametrize(
        ("path", "text", "code", "pointer", "line"),
        [
            (
                "topologies/hello.yaml",
                HELLO.replace("archetype: greeter", "archetype: nobody"),
                "agent.unknown-archetype",
                "/agents/root/children/0/archetype",
                15,
            ),
            (
                "topologies/hello.yaml",
                HELLO.replace("role: root", "role: boss"),
                "schema.enum-mismatch",
                "/agents/root/role",
                9,
            ),
            ("topologies/hello.yaml", HELLO.replace("    id: root\n", ""), "schema.required-field", "/agents/root", 7),
            ("skills/zz.yaml", WORKSPACE["skills/look-up.yaml"], "skill.duplicate-id", "/metadata/id", 4),
            (
                "triggers/daily.yaml",
                WORKSPACE["triggers/daily.yaml"].replace("hello]", "x]"),
                "trigger.unknown-target",
                "/targets/0",
                8,
            ),
            ("skills/bad.yaml", "a: b\nc: d: e\n", "workspace.yaml-parse", "", 2),
            ("skills/bad.yaml", "- a\n", "workspace.malformed", "", None),
            ("skills/a/b/c.yaml", "a: b\n", "workspace.deep-nesting", "", None),
        ],
    )
    def test_an_error_has_code_place_and_line(
        self, corpus: Corpus, workspace: Path, path: str, text: str, code: str, pointer: str, line: int | None
    ) -> None:
        write(workspace / path, text)
        answer = corpus.validate(str(workspace))
        error = answer["errors"][0]
        assert (answer["valid"], answer["complete"], error["code"]) == (False, True, code)
        assert (error["artifact_path"], error["yaml_pointer"], error.get("line")) == (path, pointer, line)
        assert corpus.error(code).fix
        assert answer["workspace"] == "hello"

    def test_a_resolver_that_fails_says_so_and_what_cannot_be_read(self, corpus: Corpus, workspace: Path) -> None:
        (workspace / "skills/bad.yaml").write_bytes(b"\xff\xfe")
        answer = corpus.validate(str(workspace))
        assert (answer["valid"], answer["complete"]) == (False, False)
        assert codes(answer) == ["workspace.yaml-parse", FAILED]

    def test_no_value_of_the_environment_is_in_an_answer(self, corpus: Corpus, workspace: Path) -> None:
        write(workspace / "topologies/hello.yaml", HELLO.replace("role: root", 'role: "${SOME_TOKEN}"'))
        write(workspace / "skills/more.yaml", SKILL.format(id="more", name="${HOME}", backing="  type: ${PATH}\n"))
        answer = corpus.validate(str(workspace))
        told = json.dumps(answer)
        assert SECRET not in told
        assert os.environ["PATH"] not in told
        messages = [error["message"] for error in answer["errors"]]
        assert any(
            "(${SOME_TOKEN} stands as it is: this check reads no environment variables)" in one for one in messages
        )

    def test_no_absolute_path_is_in_an_answer(self, corpus: Corpus, workspace: Path) -> None:
        write(
            workspace / "topologies/hello.yaml",
            HELLO.replace("role: root", "role: root\n    output_schema: ../../x.json"),
        )
        answer = corpus.validate(str(workspace))
        assert codes(answer) == ["agent.output-schema"]
        assert str(workspace.parent.parent) not in json.dumps(answer)

    def test_nothing_is_written_into_a_read_only_workspace(self, corpus: Corpus, workspace: Path) -> None:
        paths = [workspace, *workspace.rglob("*")]
        for path in paths:
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
        before = listing(workspace)
        assert corpus.validate(str(workspace))["valid"]
        assert listing(workspace) == before
        for path in paths:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)

    def test_after_an_update_the_new_one_is_asked(self, workspace: Path, checkout: Path) -> None:
        validator = Validator(str(swarmkit_python()), os.environ)
        try:
            validator.check(workspace.resolve(), checkout)
            first = validator._worker
            package = swarmkit_packages() / "swarmkit_runtime" / "__init__.py"
            os.utime(package)
            assert validator.check(workspace.resolve(), checkout)["complete"]
            assert validator._worker is not first
        finally:
            validator.close()

    def test_the_extra_needs_no_other_interpreter(self, workspace: Path, checkout: Path) -> None:
        """Where the gateway is installed with the extra, its own interpreter has the resolver."""
        validator = Validator("", os.environ)
        try:
            expected = "swarmkit-runtime" if find_spec("swarmkit_runtime") else "schema-only"
            assert validator.check(workspace.resolve(), checkout / "packages/schema/schemas")["engine"].startswith(
                expected
            )
        finally:
            validator.close()


class TestSchemasAlone:
    """The real schemas without the resolver."""

    def test_a_good_workspace_is_fine_as_far_as_they_go(self, alone: Corpus) -> None:
        answer = alone.validate(EXAMPLE)
        assert (answer["errors"], answer["engine"], answer["complete"]) == ([], "schema-only", False)

    @pytest.mark.parametrize(
        ("path", "old", "new"),
        [
            ("topologies/hello.yaml", "role: root", "role: boss"),
            ("topologies/hello.yaml", "  version: 1.0.0", "  version: one"),
            ("topologies/hello.yaml", "    id: root\n", ""),
            ("skills/look-up.yaml", "category: capability", "category: capability\nmore: x"),
            ("workspace.yaml", "transport: stdio", "transport: pigeon"),
        ],
    )
    def test_a_broken_rule_has_the_resolvers_code(
        self, alone: Corpus, corpus: Corpus, workspace: Path, path: str, old: str, new: str
    ) -> None:
        write(workspace / path, WORKSPACE[path].replace(old, new))
        first, second = (one.validate(str(workspace))["errors"][0] for one in (alone, corpus))
        for key in ("code", "artifact_path", "yaml_pointer", "line"):
            assert first.get(key) == second.get(key)


class TestErrorCodes:
    def test_the_list_holds_the_codes_of_the_release_that_is_pinned(self) -> None:
        packages = swarmkit_packages()
        known = Sources(packages, "swarmkit_runtime", lambda path: path.endswith(".py"), time.time).references()
        assert sorted(known) == sorted(set(listed()) - {FAILED})

    def test_every_code_has_a_description_and_a_fix_and_its_places(self, corpus: Corpus) -> None:
        assert len(listed()) > 55
        for code in listed():
            found = corpus.error(code)
            assert found.description
            assert found.fix
            assert code == FAILED or found.sources[0].startswith("packages/runtime/src/swarmkit_runtime/")

    def test_without_sources_in_the_checkout_the_installed_ones_tell(self, tmp_path: Path) -> None:
        corpus = Corpus(tmp_path, Validator(str(swarmkit_python()), os.environ), clock=time.time)
        try:
            found = corpus.error("agent.unknown-skill")
        finally:
            corpus.close()
        assert found.sources[0].startswith("swarmkit_runtime/resolver/")
        assert "{" in found.description


def test_the_schemas_are_those_of_the_wheel(corpus: Corpus) -> None:
    names = corpus.schemas()
    assert sum(name.startswith("protocol/") for name in names) == 7
    assert {"topology", "skill", "archetype", "workspace", "trigger"} <= set(names)
    for name in names:
        file = swarmkit_packages() / "swarmkit_schema" / "_schemas" / f"{name}.schema.json"
        assert corpus.schema(name) == json.loads(file.read_bytes())


def test_a_title_finds_its_note_first_beside_real_schemas(corpus: Corpus) -> None:
    right = [corpus.search(note.title, 1)[0].path == f"design/details/{note.slug}.md" for note in titles()]
    assert sum(right) >= 125


class TestRealCheckout:
    """One of SwarmKit itself, where ``$SWARMKIT_REPO`` names it."""

    def test_titles_find_their_notes_first(self, real: Corpus) -> None:
        notes = real.notes(None)
        right = [real.search(note.title, 1)[0].path == note.path for note in notes]
        assert sum(right) >= 0.96 * len(notes)

    def test_every_note_is_whole(self, real: Corpus) -> None:
        for note in real.notes(None):
            assert real.note(note.slug).content.strip()

    def test_every_code_is_known(self, real: Corpus) -> None:
        assert all(real.error(code).fix for code in listed())

    def test_every_skill_can_be_read(self, real: Corpus) -> None:
        assert [skill for skill in real.skills() if skill.error] == []
