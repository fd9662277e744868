"""The sync plan: what is known and what is listed, turned into what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cache.model import Known, Listed, ProjectKey, RepoRef
from sync.forge.base import SETTLE
from sync.plan import Rename, SyncSettings, needs_look, plan
from sync.wiki_index import READER_VERSION

SETTINGS = SyncSettings()
SEEN_AT = 1_000_000.0


def listed(id_: int = 1, name: str = "acme/web", **changes: object) -> Listed:
    repo = RepoRef(ProjectKey("default", id_), name, "main")
    return replace(Listed(repo, "stamp", updated_at=SEEN_AT - 3600), **changes)  # type: ignore[arg-type]


def known(id_: int = 1, name: str = "acme/web", **changes: object) -> Known:
    fingerprint = SETTINGS.fingerprint(name)
    base = Known(ProjectKey("default", id_), name, "stamp", fingerprint, SEEN_AT, failed=False, wiki_tree="t")
    return replace(base, **changes)  # type: ignore[arg-type]


class TestNeedsLook:
    def test_an_unchanged_project_is_left_alone(self) -> None:
        assert not needs_look(listed(), known(), SETTINGS.fingerprint("acme/web"))

    def test_an_unknown_project_is_looked_at(self) -> None:
        assert needs_look(listed(), None, "any")

    @pytest.mark.parametrize(
        "before",
        [known(stamp="older"), known(failed=True), known(settings="other")],
        ids=["stamp", "failed", "settings"],
    )
    def test_a_project_is_looked_at_again(self, before: Known) -> None:
        assert needs_look(listed(), before, SETTINGS.fingerprint("acme/web"))

    def test_a_project_that_another_version_of_the_reader_read_is_looked_at_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = known()
        monkeypatch.setattr("sync.plan.READER_VERSION", READER_VERSION + 1)
        assert needs_look(listed(), before, SETTINGS.fingerprint("acme/web"))

    def test_a_change_within_the_time_stamps_resolution_of_the_last_look_is_looked_at_again(self) -> None:
        close = listed(updated_at=SEEN_AT - SETTLE / 2)
        assert needs_look(close, known(), SETTINGS.fingerprint("acme/web"))

    def test_a_forge_whose_clock_runs_ahead_hides_no_change(self) -> None:
        assert needs_look(listed(updated_at=SEEN_AT + 600), known(), SETTINGS.fingerprint("acme/web"))

    def test_a_listing_without_a_time_relies_on_the_stamp(self) -> None:
        assert not needs_look(listed(updated_at=None), known(), SETTINGS.fingerprint("acme/web"))

    def test_a_listing_without_a_stamp_tells_nothing(self) -> None:
        assert needs_look(listed(stamp=""), known(stamp=""), SETTINGS.fingerprint("acme/web"))


class TestPlan:
    def test_counts_what_is_unchanged(self) -> None:
        decided = plan([listed(1), listed(2, "acme/api")], {1: known()}, SETTINGS)
        assert [item.repo.key.id for item in decided.looks] == [2]
        assert decided.unchanged == 1
        assert decided.keep == {1, 2}

    def test_a_rename_is_a_rename_and_costs_no_look(self) -> None:
        decided = plan([listed(1, "acme/site")], {1: known()}, SETTINGS)
        assert decided.renames == (Rename(ProjectKey("default", 1), "acme/site", None),)
        assert decided.looks == ()

    def test_a_repository_listed_on_two_pages_counts_once(self) -> None:
        decided = plan([listed(1), listed(1, "acme/late")], {}, SETTINGS)
        assert [item.repo.name for item in decided.looks] == ["acme/web"]

    def test_the_order_of_the_listing_is_kept(self) -> None:
        decided = plan([listed(3, "a/c"), listed(1, "a/a"), listed(2, "a/b")], {}, SETTINGS)
        assert [item.repo.key.id for item in decided.looks] == [3, 1, 2]

    def test_what_is_not_selected_is_not_kept(self) -> None:
        decided = plan([listed(1), listed(2, "acme/old")], {}, replace(SETTINGS, exclude=("*/old",)))
        assert decided.keep == {1}


class TestSelects:
    def test_everything_by_default(self) -> None:
        assert SETTINGS.selects(listed(archived=True, fork=True))

    def test_archived_and_forks_can_be_left_out(self) -> None:
        assert not replace(SETTINGS, archived=False).selects(listed(archived=True))
        assert not replace(SETTINGS, forks=False).selects(listed(fork=True))

    def test_globs_match_the_whole_name_without_case(self) -> None:
        assert replace(SETTINGS, include=("ACME/*",)).selects(listed(name="acme/Web"))
        assert not replace(SETTINGS, include=("acme/w",)).selects(listed())

    def test_exclude_outranks_include(self) -> None:
        assert not SyncSettings(include=("acme/*",), exclude=("acme/web",)).selects(listed())


class TestMirrors:
    def test_nobodys_bodies_but_the_shared_wikis_by_default(self) -> None:
        settings = SyncSettings(shared="acme/wiki")
        assert settings.mirrors("Acme/Wiki")
        assert not settings.mirrors("acme/web")

    def test_the_shared_wiki_may_be_named_by_its_last_part(self) -> None:
        assert SyncSettings(shared="wiki").mirrors("acme/wiki")
        assert not SyncSettings(shared="wiki").mirrors("acme/mywiki")

    def test_named_projects(self) -> None:
        assert SyncSettings(pages=("acme/web",)).mirrors("acme/web")

    def test_all(self) -> None:
        assert SyncSettings(pages="all").mirrors("acme/web")


def test_the_fingerprint_changes_with_what_a_look_would_bring() -> None:
    fingerprints = {
        SyncSettings().fingerprint("acme/web"),
        SyncSettings(pages="all").fingerprint("acme/web"),
        SyncSettings(status_paths=("STATUS.md",)).fingerprint("acme/web"),
    }
    assert len(fingerprints) == 3


def test_the_fingerprint_does_not_change_with_which_projects_are_chosen() -> None:
    assert SyncSettings(exclude=("x/*",)).fingerprint("acme/web") == SyncSettings().fingerprint("acme/web")
