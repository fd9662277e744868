"""What a survey of a server means, and the remedy for each thing."""

from __future__ import annotations

import pytest

from cache.errors import Denied, KnowledgeError, NotConfigured, NotFound, TimedOut, Unavailable
from cache.model import Listed as Repository
from cache.model import ProjectKey, RepoRef
from gateway import doctor_gitea
from gateway.doctor import Finding, State
from gateway.doctor_gitea import REMEDIES
from sync.exchange import Trouble, Unreachable
from sync.forge.base import Head
from sync.forge.gitea.about import Listed, Quota, Server, Survey
from sync.forge.gitea.failures import NoRoute, ScopeMissing

URL, HOST = "https://git.example.test/forge", "git.example.test"
SCOPES = dict.fromkeys(("read:user", "read:repository", "write:repository", "write:issue"), True)
WELL = Survey(URL, Server("1.26.0"), None, "alice", SCOPES, True, (Listed("", 183),), 0.3, None)


def without(**changes: object) -> Survey:
    """A survey in which all is well but for ``changes``."""
    known = {field: getattr(WELL, field) for field in Survey.__dataclass_fields__}
    return Survey(**{**known, **changes})


def findings(survey: Survey, name: str = "default", *, writes: bool = True) -> list[Finding]:
    return list(doctor_gitea.of_survey(name, survey, writes=writes))


def bad(survey: Survey, name: str = "default", *, writes: bool = True) -> list[Finding]:
    return [finding for finding in findings(survey, name, writes=writes) if finding.state is not State.OK]


def test_where_all_is_well_three_lines_say_so() -> None:
    assert [finding.text for finding in findings(WELL, "work")] == [
        "forge work: Gitea 1.26.0 at https://git.example.test/forge",
        "forge work: the token is alice's; it has read:user, read:repository, write:repository, write:issue",
        "forge work: 183 repositories",
    ]
    assert bad(WELL) == []


class TestReaching:
    @pytest.mark.parametrize("trouble", Trouble)
    def test_each_trouble_has_a_remedy_of_its_own(self, trouble: Trouble) -> None:
        (found,) = bad(Survey(URL, Unreachable(HOST, trouble, "why")), "work")
        assert found.state is State.FAIL
        assert found.text == "forge work: git.example.test unreachable: why"
        assert found.remedy == REMEDIES[trouble].format(where="[forges.work]")
        assert list(REMEDIES.values()).count(REMEDIES[trouble]) == 1

    def test_where_a_forge_answers_instead_is_the_remedy(self) -> None:
        survey = Survey(f"{URL}/acme/web", NoRoute(HOST, 404, lasting=False), better_url=URL)
        (found,) = bad(survey)
        assert found.text == "forge default: git.example.test unreachable: no Gitea API at this address (HTTP 404)"
        assert found.remedy == f'write url = "{URL}" in [forge]: a forge answers there'

    @pytest.mark.parametrize(
        ("error", "remedy"),
        [
            (NoRoute(HOST, 404, lasting=True), "correct [forge] url; where it is right, the API is switched off there"),
            (NoRoute(HOST, 404, lasting=False), "correct [forge] url: /api/v1/version below it"),
            (TimedOut(30.0), "see that it is not overloaded"),
            (Denied("answers HTTP 403 Forbidden", host=HOST), "have /api/v1 let through"),
            (NotConfigured("ca_file cannot be read: No such file or directory"), "correct [forge]"),
            (Unavailable("answers HTTP 500 Internal Server Error"), "see the forge's log"),
        ],
    )
    def test_what_else_may_go_wrong_has_one_too(self, error: KnowledgeError, remedy: str) -> None:
        (found,) = bad(Survey(URL, error))
        assert (found.state, found.text) == (State.FAIL, f"forge default: {error.message.partition(' — ')[0]}")
        assert found.remedy.startswith(remedy)

    @pytest.mark.parametrize(
        ("url", "open_"),
        [
            ("http://git.example.test", True),
            ("https://git.example.test", False),
            ("http://127.0.0.1:3000", False),
            ("http://localhost:3000/git", False),
            ("http://[::1]:3000", False),
        ],
    )
    def test_a_token_that_others_can_read_on_its_way_is_told(self, url: str, open_: bool) -> None:
        assert [finding.remedy for finding in bad(without(url=url))] == ["write https:// in [forge] url"] * open_
        assert bad(without(url=url, login=None)) == [
            Finding(State.NOTE, "forge default: there is no token, so only what is public is seen")
        ]


class TestToken:
    def test_a_refused_one_wants_a_new_one(self) -> None:
        refused = Denied("token refused by git.example.test — run gateway doctor", host=HOST)
        (found,) = bad(without(login=refused, scopes={}, listings=()))
        assert found == Finding(
            State.FAIL,
            "forge default: token refused by git.example.test",
            f"make a new one at {URL}/user/settings/applications and put it where [forge] takes it from",
        )

    def test_one_that_cannot_be_had_names_the_key(self) -> None:
        error = Denied("token_file cannot be read: No such file or directory — run gateway doctor")
        (found,) = bad(without(login=error, scopes={}, listings=()), "work")
        assert found.text == "forge work: token_file cannot be read: No such file or directory"
        assert found.remedy == "correct [forges.work] token_file"

    def test_a_server_that_fails_meanwhile_is_told_as_such(self) -> None:
        (found,) = bad(without(login=Unreachable(HOST, Trouble.LOST, "connection lost"), scopes={}, listings=()))
        assert found.remedy == REMEDIES[Trouble.LOST]

    def test_without_one_nothing_is_listed(self) -> None:
        refused = Denied("token refused by git.example.test", host=HOST)
        (found,) = bad(without(login=None, scopes={}, listings=(Listed("", refused),)))
        assert found.state is State.FAIL
        assert found.text == "forge default: there is no token, and nothing is listed without one"
        assert "with read:user and read:repository" in found.remedy

    @pytest.mark.parametrize(
        ("scope", "state", "stops"),
        [
            ("read:user", State.FAIL, "nothing can be listed"),
            ("read:repository", State.FAIL, "no repository can be read"),
            ("read:organization", State.FAIL, "organizations, [sync] orgs, cannot be listed"),
            ("write:repository", State.WARN, "pages cannot be written"),
            ("write:issue", State.WARN, "tasks cannot be filed as issues"),
        ],
    )
    def test_each_missing_scope_tells_what_stops_without_it(self, scope: str, state: State, stops: str) -> None:
        (found,) = bad(without(scopes={**SCOPES, scope: False}))
        assert found == Finding(
            state,
            f"forge default: the token lacks {scope}: {stops}",
            f"make a token that has it too at {URL}/user/settings/applications",
        )

    def test_who_writes_nothing_needs_no_leave_to(self) -> None:
        survey = without(scopes={**SCOPES, "write:repository": False, "write:issue": False})
        assert [finding.state for finding in bad(survey, writes=False)] == [State.NOTE, State.NOTE]

    def test_a_listing_without_its_scope_is_told_once(self) -> None:
        missing = ScopeMissing(HOST, ("read:user",))
        survey = without(login=missing, scopes={"read:user": False}, listings=(Listed("", missing),))
        assert [finding.text for finding in bad(survey)] == [
            "forge default: the token lacks read:user: nothing can be listed"
        ]


class TestListing:
    def test_none_is_a_warning(self) -> None:
        (found,) = bad(without(listings=(Listed("", 0),)))
        assert (found.state, found.text) == (State.WARN, "forge default: no repository is listed")

    def test_what_is_not_there_to_be_listed_is_named(self) -> None:
        gone = NotFound("organization acme not found or not visible to this token")
        (found,) = bad(without(listings=(Listed("", 3), Listed("organization acme", gone))))
        assert found.text.endswith("cannot be listed: organization acme not found or not visible to this token")
        assert found.remedy == "correct [forge] user or [sync] orgs"


class TestSurroundings:
    @pytest.mark.parametrize(
        ("skew", "told"),
        [
            (120.4, "120 s behind the forge's: what changed"),
            (-61.0, "61 s ahead of the forge's: its times of syncs do not fit those of changes"),
        ],
    )
    def test_a_clock_that_is_off_is_told_with_what_it_does(self, skew: float, told: str) -> None:
        (found,) = bad(without(skew=skew))
        assert found.state is State.WARN
        assert f"this machine's clock is {told}" in found.text

    @pytest.mark.parametrize("skew", [None, 0.0, 4.9, -4.9])
    def test_a_few_seconds_are_nothing(self, skew: float | None) -> None:
        assert bad(without(skew=skew)) == []

    @pytest.mark.parametrize(("left", "told"), [(10, 1), (0, 1), (11, 0), (100, 0)])
    def test_a_limit_that_is_near_is_told(self, left: int, told: int) -> None:
        found = bad(without(quota=Quota(100, left)))
        assert [finding.state for finding in found] == [State.WARN] * told

    def test_a_forge_without_batches_is_only_noted(self) -> None:
        (found,) = bad(without(batches=False))
        assert found.state is State.NOTE


class TestSharedWiki:
    REPO = Repository(RepoRef(ProjectKey("default", 1), "acme/wiki", "main"), "", 0.0, None)

    def test_one_with_pages_passes(self) -> None:
        assert doctor_gitea.shared_wiki("ACME/wiki", self.REPO, Head("c", "t")).state is State.OK

    @pytest.mark.parametrize(
        ("found", "head", "why"),
        [
            (NotFound("not found or not visible to this token"), None, "not found or not visible to this token"),
            (REPO, None, "it is empty"),
            (REPO, Head("c", None), "it has no .wiki/"),
        ],
    )
    def test_anything_else_fails(self, found: Repository | KnowledgeError, head: Head | None, why: str) -> None:
        told = doctor_gitea.shared_wiki("acme/wiki", found, head)
        assert (told.state, told.text) == (State.FAIL, f"shared wiki acme/wiki: {why}")
        assert told.remedy

    def test_one_that_was_renamed_wants_its_new_name(self) -> None:
        told = doctor_gitea.shared_wiki("acme/handbook", self.REPO, Head("c", "t"))
        assert (told.state, told.remedy) == (State.WARN, 'write shared = "acme/wiki"')
