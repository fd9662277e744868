"""Which files of a checkout are read, and as what."""

from __future__ import annotations

from pathlib import Path

import pytest

from sync.corpora.swarmkit.layout import Kind, find_checkout, is_source, kind_of, schema_name, slug_of, without_copies


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("design/details/a.md", Kind.NOTE),
        ("design/details/control-plane/12-auth.md", Kind.NOTE),
        ("design/details/README.md", None),
        ("design/details/control-plane/_template.md", None),
        ("design/details/a.txt", None),
        ("design/PLAN.md", Kind.MARKDOWN),
        ("docs/notes/x/y.md", Kind.MARKDOWN),
        ("docs/guides/a.md", Kind.MARKDOWN),
        ("docs/site/guides/a.md", Kind.MARKDOWN),
        ("docs/site/design/a.md", None),
        ("packages/schema/schemas/topology.schema.json", Kind.SCHEMA),
        ("packages/schema/schemas/protocol/credential.schema.json", Kind.SCHEMA),
        ("packages/schema/package.json", None),
        ("reference/skills/a.yaml", Kind.SKILL),
        ("reference/skills/group/a.yml", Kind.SKILL),
        ("reference/topologies/a.yaml", Kind.YAML),
        ("examples/hello/workspace.yaml", Kind.YAML),
        ("examples/hello/README.md", Kind.MARKDOWN),
        ("examples/hello/run.py", None),
        ("packages/runtime/CLAUDE.md", Kind.MARKDOWN),
        ("packages/runtime/src/CLAUDE.md", None),
        ("README.md", Kind.MARKDOWN),
        ("CLAUDE.md", Kind.MARKDOWN),
        ("llms.txt", Kind.MARKDOWN),
        ("CHANGELOG.md", None),
    ],
)
def test_a_file_is_read_as(path: str, kind: Kind | None) -> None:
    assert kind_of(path) is kind


def test_the_sites_copies_of_notes_are_left_out() -> None:
    paths = ["design/details/a.md", "docs/notes/b.md", "docs/site/guides/a.md", "docs/site/guides/own.md"]
    assert without_copies(paths) == ["design/details/a.md", "docs/notes/b.md", "docs/site/guides/own.md"]


def test_names_are_paths_without_what_all_have() -> None:
    assert slug_of("design/details/control-plane/12-auth.md") == "control-plane/12-auth"
    assert schema_name("packages/schema/schemas/protocol/credential.schema.json") == "protocol/credential"
    assert schema_name("packages/schema/schemas/plain.json") == "plain"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("packages/runtime/src/kit/resolver.py", True),
        ("packages/runtime/tests/test_resolver.py", False),
        ("packages/runtime/src/kit/test/x.py", False),
        ("packages/runtime/conftest.py", False),
        ("packages/runtime/src/kit/latest.py", True),
        ("packages/runtime/src/kit/resolver.ts", False),
    ],
)
def test_tests_are_no_sources(path: str, expected: bool) -> None:
    assert is_source(path) is expected


class TestFindCheckout:
    def test_it_is_the_one_above(self, repo: Path) -> None:
        assert find_checkout(repo / "examples" / "hello") == repo.resolve()

    def test_there_may_be_none(self, tmp_path: Path) -> None:
        (tmp_path / "design").mkdir()
        assert find_checkout(tmp_path) is None
