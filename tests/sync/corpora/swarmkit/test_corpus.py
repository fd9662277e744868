"""A checkout as the tools see it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cache.errors import InvalidArgument, NotFound, NotUtf8, TooLarge, Unavailable
from sync.corpora.swarmkit.corpus import MAX_FILE, Corpus
from sync.corpora.swarmkit.validation import Validator
from tests.support.swarmkit import WORKSPACE
from tests.support.swarmkit_repo import ARTIFACTS, MALFORMED, PROTOCOL, STRAY_RULE, titles, write

NOW = 4_000_000_000.0


def corpus_of(root: Path, *, anywhere: bool = True) -> Corpus:
    return Corpus(root, Validator("", os.environ), clock=lambda: NOW, anywhere=anywhere)


@pytest.fixture(scope="module")
def corpus(repo: Path) -> Iterator[Corpus]:
    corpus = corpus_of(repo)
    yield corpus
    corpus.close()


class TestSearch:
    def test_a_hit_has_path_heading_snippet_and_score(self, corpus: Corpus) -> None:
        (hit,) = corpus.search("quartz64", 5)
        assert hit.path == f"design/details/{titles()[64].slug}.md"
        assert hit.heading == "Non-goals"
        assert "quartz64" in hit.snippet
        assert 0 < hit.score < 1

    def test_it_reaches_behind_a_line_of_dashes(self, corpus: Corpus) -> None:
        for number in STRAY_RULE:
            (hit, *_) = corpus.search(f"behind the rule of note {number}", 5)
            assert hit.path == f"design/details/{titles()[number].slug}.md"

    def test_what_stands_in_a_fence_is_no_heading(self, corpus: Corpus) -> None:
        assert "not a heading" not in {hit.heading for hit in corpus.search("not a heading", 50)}

    def test_a_schema_is_found_by_its_keys(self, corpus: Corpus) -> None:
        assert ("packages/schema/schemas/workspace.schema.json", "properties.mcp_servers") in {
            (hit.path, hit.heading) for hit in corpus.search("mcp_servers", 5)
        }

    def test_no_more_than_asked_for(self, corpus: Corpus) -> None:
        assert len(corpus.search("topology", 3)) == 3

    def test_nothing_is_found_for_nothing(self, corpus: Corpus) -> None:
        assert corpus.search("   ", 5) == []


class TestSchemas:
    def test_their_names_come_from_the_files(self, corpus: Corpus) -> None:
        assert corpus.schemas() == sorted([*ARTIFACTS, *(f"protocol/{name}" for name in PROTOCOL)])

    def test_one_is_returned_as_it_stands(self, corpus: Corpus, repo: Path) -> None:
        expected = json.loads((repo / "packages/schema/schemas/topology.schema.json").read_text())
        assert corpus.schema("topology") == expected

    @pytest.mark.parametrize(
        "name",
        ["protocol/credential", "credential", "Credential", "credential.schema.json", "protocol/credential.json"],
    )
    def test_slips_are_forgiven(self, corpus: Corpus, name: str) -> None:
        assert corpus.schema(name)["title"] == "Fleet credential"

    @pytest.mark.parametrize("name", ["nothing", "../../package", "/etc/passwd", "protocol/../skill", ".", "protocol"])
    def test_an_unknown_one_lists_the_known_ones(self, corpus: Corpus, name: str) -> None:
        with pytest.raises(NotFound, match="one of: approval-policy, archetype, contract"):
            corpus.schema(name)

    def test_a_broken_one_is_named(self, tmp_path: Path) -> None:
        write(tmp_path / "packages/schema/schemas/a.schema.json", "{")
        with pytest.raises(Unavailable, match=r"packages/schema/schemas/a\.schema\.json is not a JSON object"):
            corpus_of(tmp_path).schema("a")


class TestNotes:
    def test_one_is_whole_whatever_it_begins_with(self, corpus: Corpus, repo: Path) -> None:
        for note in titles():
            page = corpus.note(note.slug)
            assert page.path == f"design/details/{note.slug}.md"
            text = (repo / page.path).read_text()
            assert text.endswith(page.content)
            assert page.content.lstrip().startswith("# ")

    def test_front_matter_that_is_no_yaml_is_told_by_its_lines(self, corpus: Corpus) -> None:
        for number in MALFORMED:
            found = corpus.note(titles()[number].slug).frontmatter
            assert (found["title"], found["status"]) == (titles()[number].title, "done")

    def test_one_without_has_none(self, corpus: Corpus) -> None:
        assert corpus.note(titles()[4].slug).frontmatter == {}

    @pytest.mark.parametrize(
        "slug", ["control-plane/02-auth", "control-plane/02-auth.md", "design/details/control-plane/02-auth.md"]
    )
    def test_slips_are_forgiven(self, corpus: Corpus, slug: str) -> None:
        assert corpus.note(slug).slug == "control-plane/02-auth"

    @pytest.mark.parametrize(
        "slug",
        ["README", "_template", "design/details/README.md", "../PLAN", "control-plane/../../x", "../../README", "a\nb"],
    )
    def test_what_is_no_note_is_refused(self, corpus: Corpus, slug: str) -> None:
        with pytest.raises(InvalidArgument, match="not a design note: "):
            corpus.note(slug)

    @pytest.mark.parametrize("slug", ["/etc/passwd", "control-plane", "~/x", "x" * 1000])
    def test_what_is_not_there_is_not_found(self, corpus: Corpus, slug: str) -> None:
        with pytest.raises(NotFound, match="no design note: "):
            corpus.note(slug)

    def test_a_miss_names_near_ones(self, corpus: Corpus) -> None:
        with pytest.raises(NotFound) as caught:
            corpus.note("02-auth")
        assert "control-plane/02-auth" in caught.value.suggestions

    def test_a_link_to_elsewhere_is_no_note(self, tmp_path: Path) -> None:
        write(tmp_path / "secret.md", "password")
        (tmp_path / "checkout/design/details").mkdir(parents=True)
        (tmp_path / "checkout/design/details/a.md").symlink_to(tmp_path / "secret.md")
        with pytest.raises(NotFound):
            corpus_of(tmp_path / "checkout").note("a")

    def test_bytes_that_are_no_text_are_refused_rather_than_garbled(self, tmp_path: Path) -> None:
        write(tmp_path / "design/details/a.md", "")
        (tmp_path / "design/details/a.md").write_bytes(b"\xff")
        with pytest.raises(NotUtf8):
            corpus_of(tmp_path).note("a")

    def test_too_large_a_one_is_refused(self, tmp_path: Path) -> None:
        write(tmp_path / "design/details/a.md", "x" * (MAX_FILE + 1))
        with pytest.raises(TooLarge):
            corpus_of(tmp_path).note("a")


class TestListOfNotes:
    def test_all_that_lie_directly_in_the_folder_are_there(self, corpus: Corpus) -> None:
        assert {note.slug for note in corpus.notes(None)} == {note.slug for note in titles()}

    def test_a_tag_matches_whole_and_without_case(self, corpus: Corpus) -> None:
        tagged = {note.slug for note in corpus.notes("SHARED tag")}
        assert tagged == {note.slug for number, note in enumerate(titles()) if number % 2 or number % 12 == 0}
        assert corpus.notes("shared") == []
        assert [note.slug for note in corpus.notes("#n7")] == [titles()[7].slug]

    def test_a_description_may_be_folded(self, corpus: Corpus) -> None:
        (note,) = corpus.notes("n5")
        assert note.description == f"About the {titles()[5].title.lower()}, folded."


class TestSkills:
    def test_all_are_listed(self, corpus: Corpus) -> None:
        skills = corpus.skills()
        assert len(skills) == 27
        assert sum(not skill.server for skill in skills) == 9

    def test_a_bad_one_does_not_hide_the_others(self, tmp_path: Path) -> None:
        write(tmp_path / "reference/skills/a.yaml", "metadata: {id: a}\n")
        write(tmp_path / "reference/skills/b.yaml", "b: c: d\n")
        write(tmp_path / "reference/skills/c.yaml", "metadata: {id: c}\n")
        assert [(skill.id, skill.error) for skill in corpus_of(tmp_path).skills()] == [
            ("a", None),
            ("b", "not valid YAML (line 1)"),
            ("c", None),
        ]


class TestErrors:
    def test_the_checkouts_own_sources_tell(self, corpus: Corpus) -> None:
        found = corpus.error("agent.unknown-skill")
        assert found.sources == (
            "packages/runtime/src/kit/resolver.py:28",
            "packages/runtime/src/kit/resolver.py:35",
            "docs/notes/errors.md",
        )

    def test_what_only_a_document_knows_is_known(self, corpus: Corpus) -> None:
        assert corpus.error("agent.only-documented").description == "An agent that only this page knows of"

    def test_the_code_of_a_failing_resolver_is_known(self, corpus: Corpus) -> None:
        assert corpus.error("resolver.failed").fix


class TestWorkspaces:
    def test_a_relative_path_is_taken_from_the_checkout(self, corpus: Corpus) -> None:
        assert corpus.validate(WORKSPACE)["workspace"] == "hello"

    def test_a_whole_path_may_lead_elsewhere(self, corpus: Corpus, tmp_path: Path) -> None:
        write(tmp_path / "ws/workspace.yaml", "kind: Workspace\n")
        assert corpus.validate(str(tmp_path / "ws"))["errors"]

    def test_to_others_it_may_not(self, repo: Path, tmp_path: Path) -> None:
        corpus = corpus_of(repo, anywhere=False)
        with pytest.raises(InvalidArgument, match=r"leaves the checkout$"):
            corpus.validate(str(tmp_path))
        (tmp_path / "checkout").mkdir()
        (tmp_path / "checkout/out").symlink_to(tmp_path)
        with pytest.raises(InvalidArgument):
            corpus_of(tmp_path / "checkout", anywhere=False).validate("out")

    @pytest.mark.parametrize("path", ["..", "examples/../../x", "../swarmkit"])
    def test_a_relative_one_may_not_leave_it(self, corpus: Corpus, path: str) -> None:
        with pytest.raises(InvalidArgument, match="leaves the checkout — name it by its whole path"):
            corpus.validate(path)

    @pytest.mark.parametrize("path", ["nothing", "README.md", "/no/such/folder", "x" * 5000])
    def test_what_is_no_folder_is_not_found(self, corpus: Corpus, path: str) -> None:
        with pytest.raises(NotFound, match="no workspace folder: "):
            corpus.validate(path)
