"""What the fake forge answers to reads beyond what was recorded, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.fake_gitea import FORGEJO, GITEA_1_22, Access, Dialect, FakeGitea, Submodule, Symlink, listen
from tests.fake_gitea.describe import undescribed
from tests.fake_gitea.fleet import add_fleet

ALICE, BOB, READER = "fake-token-alice", "fake-token-bob", "fake-token-reader"


@pytest.fixture
def forge() -> FakeGitea:
    forge = FakeGitea()
    forge.add_user("alice", token=ALICE)
    forge.add_user("bob", token=BOB)
    forge.add_token("alice", READER, ["read:repository", "read:user"])
    forge.add_org("acme", owners=["alice"])
    forge.add_repo("acme/web", {"README.md": "# Web\n", ".wiki/index.md": "# Wiki\n"}, private=True)
    return forge


@pytest.fixture
def client(forge: FakeGitea) -> Iterator[httpx2.Client]:
    """Alice's, and everything that it sends must be described."""
    with listen(forge) as url, connected(url) as client:
        yield client
    assert undescribed(forge.requests) == []


def connected(url: str, token: str = ALICE) -> httpx2.Client:
    return httpx2.Client(base_url=url + "api/v1", headers={"Authorization": f"token {token}"})


def as_(token: str) -> dict[str, str]:
    return {"Authorization": f"token {token}"}


class TestListings:
    def test_a_page_has_thirty_entries_unless_asked_otherwise(self, forge: FakeGitea, client: httpx2.Client) -> None:
        for number in range(31):
            forge.add_repo(f"alice/r{number:02}")
        assert len(client.get("/user/repos").json()) == 30

    def test_the_links_are_absolute_and_keep_the_query(self, forge: FakeGitea, client: httpx2.Client) -> None:
        for number in range(3):
            forge.add_repo(f"alice/r{number}")
        links = client.get("/user/repos?limit=2&page=1").links
        assert links["next"]["url"] == links["last"]["url"] == f"{forge.api_url}/user/repos?limit=2&page=2"

    def test_same_bare_names_stand_side_by_side(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.add_repo("alice/web")
        assert [one["full_name"] for one in client.get("/user/repos").json()] == ["acme/web", "alice/web"]

    def test_an_owner_counts_repositories_that_the_caller_cannot_see(self, client: httpx2.Client) -> None:
        answer = client.get("/orgs/acme/repos", headers=as_(BOB))
        assert (answer.json(), answer.headers["x-total-count"]) == ([], "1")

    def test_a_forge_may_count_too_many(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.overcount = 7
        answer = client.get("/user/repos?limit=1")
        assert (answer.headers["x-total-count"], "next" in answer.links) == ("8", True)
        assert client.get("/user/repos?limit=1&page=2").json() == []

    def test_a_user_is_no_organization(self, client: httpx2.Client) -> None:
        assert client.get("/orgs/alice/repos").status_code == 404
        assert client.get("/users/acme/repos").status_code == 200

    def test_listing_without_the_repository_scope_is_refused_too(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.add_token("bob", "fake-token-user-only", ["read:user"])
        told = client.get("/user/repos", headers=as_("fake-token-user-only")).json()["message"]
        assert told.endswith("required=[read:repository], token scope=read:user")

    def test_what_somebody_was_just_given_is_listed(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.repo("acme/web").share("bob")
        assert len(client.get("/user/repos", headers=as_(BOB)).json()) == 1


class TestVisibility:
    def test_a_member_of_a_team_sees_its_repositories_only(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.add_repo("acme/api", private=True)
        forge.add_team("acme", "web", ["bob"], repos=["acme/web"])
        statuses = [client.get(f"/repos/acme/{name}", headers=as_(BOB)).status_code for name in ("web", "api")]
        assert statuses == [200, 404]

    def test_nobody_needs_a_token_for_a_public_repository(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.add_repo("alice/open", {"a.md": "a"})
        del client.headers["Authorization"]
        assert [client.get(f"/repos/{name}").status_code for name in ("alice/open", "acme/web")] == [200, 404]

    def test_a_revoked_token_is_refused_everywhere(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.revoke(ALICE)
        assert [client.get(path).status_code for path in ("/user", "/version")] == [401, 401]

    def test_only_administrators_ask_about_others(self, client: httpx2.Client, forge: FakeGitea) -> None:
        forge.repo("acme/web").share("bob", Access.READ)
        path = "/repos/acme/web/collaborators/{}/permission"
        own = client.get(path.format("bob"), headers=as_(BOB))
        assert (own.status_code, own.json()["permission"]) == (200, "read")
        assert client.get(path.format("alice"), headers=as_(BOB)).status_code == 403
        assert client.get(path.format("bob")).status_code == 200


class TestRenames:
    def test_every_path_below_the_old_name_moves(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.rename("acme/web", "alice/Site")
        answer = client.get("/repos/acme/web/git/trees/main?recursive=true")
        location = answer.headers["location"]
        assert (answer.status_code, location) == (301, "/api/v1/repos/alice/Site/git/trees/main?recursive=true")

    def test_a_post_is_redirected_without_a_page(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.rename("acme/web", "acme/site")
        answer = client.post("/repos/acme/web/file-contents", json={"files": []})
        assert (answer.status_code, answer.content) == (301, b"")

    def test_a_new_repository_takes_the_old_name(self, forge: FakeGitea, client: httpx2.Client) -> None:
        old = forge.repo("acme/web").id
        forge.rename("acme/web", "acme/site")
        forge.add_repo("acme/web")
        assert client.get("/repos/acme/web").json()["id"] != old

    def test_who_may_not_see_it_is_not_told_where_it_went(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.rename("acme/web", "acme/site")
        assert client.get("/repos/acme/web", headers=as_(BOB)).status_code == 404

    def test_a_deleted_repository_is_gone_under_all_its_names(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.rename("acme/web", "acme/site")
        forge.remove("acme/site")
        assert [client.get(f"/repos/acme/{name}").status_code for name in ("web", "site")] == [404, 404]


class TestTrees:
    def test_every_kind_of_entry_has_its_mode(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.commit("acme/web", {"link": Symlink("README.md"), "sub": Submodule("1" * 40)})
        tree = client.get("/repos/acme/web/git/trees/main").json()["tree"]
        assert [(one["path"], one["mode"], one["type"]) for one in tree] == [
            (".wiki", "040000", "tree"),
            ("README.md", "100644", "blob"),
            ("link", "120000", "blob"),
            ("sub", "160000", "commit"),
        ]

    def test_a_page_is_never_longer_than_a_thousand(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.commit("acme/web", {f"p/{number}.md": "" for number in range(1100)})
        shown = client.get("/repos/acme/web/git/trees/main?recursive=true&per_page=5000").json()
        assert (len(shown["tree"]), shown["truncated"]) == (1000, True)

    def test_a_page_after_the_last_has_no_tree(self, client: httpx2.Client) -> None:
        shown = client.get("/repos/acme/web/git/trees/main?page=9").json()
        assert (shown["tree"], shown["truncated"], shown["total_count"]) == (None, False, 2)

    def test_the_tree_of_another_repository_is_not_found(self, forge: FakeGitea, client: httpx2.Client) -> None:
        other = forge.add_repo("alice/other", {"x": "x"}).tip()
        assert other is not None
        assert client.get(f"/repos/acme/web/git/trees/{other.snapshot.root.sha}").status_code == 400

    def test_a_subtree_keeps_its_name_until_something_in_it_changes(
        self, forge: FakeGitea, client: httpx2.Client
    ) -> None:
        def wiki() -> str:
            tree = client.get("/repos/acme/web/git/trees/main").json()["tree"]
            return str(next(one["sha"] for one in tree if one["path"] == ".wiki"))

        before = wiki()
        forge.commit("acme/web", {"README.md": "other"})
        assert wiki() == before
        forge.commit("acme/web", {".wiki/a.md": "new"})
        assert wiki() != before


class TestRaw:
    def test_a_commit_that_does_not_exist_is_not_the_default_branch(self, client: httpx2.Client) -> None:
        assert client.get(f"/repos/acme/web/raw/README.md?ref={'0' * 40}").status_code == 404

    def test_an_older_commit_still_is_served(self, forge: FakeGitea, client: httpx2.Client) -> None:
        before = forge.repo("acme/web").branches["main"]
        forge.commit("acme/web", {"README.md": "new"})
        assert client.get(f"/repos/acme/web/raw/README.md?ref={before}").text == "# Web\n"

    def test_a_branch_with_a_slash_is_found(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.commit("acme/web", {"README.md": "elsewhere"}, branch="knowledge/retry")
        answer = client.get("/repos/acme/web/raw/README.md", params={"ref": "knowledge/retry"})
        assert answer.text == "elsewhere"

    def test_a_folder_named_like_a_branch_is_taken_for_it(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.commit("acme/web", {"docs/a.md": "a", "a.md": "of main"})
        forge.commit("acme/web", {"a.md": "of docs"}, branch="docs")
        assert client.get("/repos/acme/web/raw/docs/a.md").text == "of docs"
        assert client.get("/repos/acme/web/raw/docs/a.md?ref=main").text == "a"

    def test_a_private_file_is_not_cached_for_everybody(self, client: httpx2.Client) -> None:
        assert client.get("/repos/acme/web/raw/README.md").headers["cache-control"].startswith("private")


class TestFiles:
    def test_a_token_that_only_reads_gets_batches_by_get_alone(self, client: httpx2.Client) -> None:
        wanted = {"files": ["README.md"]}
        path = "/repos/acme/web/file-contents"
        assert client.get(path, params={"body": json.dumps(wanted)}, headers=as_(READER)).status_code == 200
        told = client.post(path, json=wanted, headers=as_(READER))
        assert (told.status_code, "required=[write:repository]" in told.text) == (403, True)

    def test_a_batch_of_a_missing_ref_is_not_found(self, client: httpx2.Client) -> None:
        answer = client.post("/repos/acme/web/file-contents?ref=gone", json={"files": ["README.md"]})
        assert (answer.status_code, answer.json()["errors"]) == (404, ["object does not exist [id: gone, rel_path: ]"])

    def test_a_batch_ends_before_it_is_too_large(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.limits = type(forge.limits)(default_max_response_size=100)
        forge.commit("acme/web", {"a": "x" * 60, "b": "x" * 60})
        answer = client.post("/repos/acme/web/file-contents", json={"files": ["a", "b"]})
        assert [one["name"] for one in answer.json()] == ["a"]

    def test_a_folder_in_a_batch_has_no_content(self, client: httpx2.Client) -> None:
        (shown,) = client.post("/repos/acme/web/file-contents", json={"files": [".wiki"]}).json()
        assert (shown["type"], shown["content"]) == ("dir", None)

    def test_the_last_commit_is_that_of_the_file(self, forge: FakeGitea, client: httpx2.Client) -> None:
        first = forge.repo("acme/web").branches["main"]
        forge.commit("acme/web", {".wiki/index.md": "new"})
        shown = client.get("/repos/acme/web/contents/README.md").json()
        assert shown["last_commit_sha"] == first

    def test_a_root_folder_lists_its_entries(self, client: httpx2.Client) -> None:
        assert [one["name"] for one in client.get("/repos/acme/web/contents").json()] == [".wiki", "README.md"]

    def test_a_missing_path_is_not_found(self, client: httpx2.Client) -> None:
        assert client.get("/repos/acme/web/contents/none.md").json()["message"] == "GetContentsOrList"

    def test_a_blob_is_served_by_its_name(self, client: httpx2.Client) -> None:
        sha = client.get("/repos/acme/web/contents/README.md").json()["sha"]
        assert client.get(f"/repos/acme/web/git/blobs/{sha}").json()["content"] == "IyBXZWIK"


class TestHistory:
    def test_the_commits_of_a_path_come_newest_first(self, forge: FakeGitea, client: httpx2.Client) -> None:
        newest = forge.commit("acme/web", {".wiki/index.md": "new"})
        forge.commit("acme/web", {"README.md": "other"})
        shown = client.get("/repos/acme/web/commits?path=.wiki/index.md&limit=1").json()
        assert [len(shown), shown[0]["sha"], shown[0]["files"]] == [
            2,
            newest,
            [{"filename": ".wiki/index.md", "status": "modified"}],
        ]

    def test_a_path_that_never_was_is_not_found(self, client: httpx2.Client) -> None:
        assert client.get("/repos/acme/web/commits?path=none").json()["message"] == "FileCommitsCount"

    def test_an_empty_repository_has_no_history(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.add_repo("alice/empty")
        assert client.get("/repos/alice/empty/commits").status_code == 409

    def test_branches_tell_who_may_push(self, forge: FakeGitea, client: httpx2.Client) -> None:
        forge.commit("acme/web", {"a": "a"}, branch="other")
        forge.repo("acme/web").protect("main")
        shown = client.get("/repos/acme/web/branches").json()
        assert [(one["name"], one["protected"], one["user_can_push"]) for one in shown] == [
            ("main", True, False),
            ("other", False, True),
        ]

    def test_every_push_moves_updated_at_by_a_second(self, forge: FakeGitea, client: httpx2.Client) -> None:
        before = client.get("/repos/acme/web").json()["updated_at"]
        forge.commit("acme/web", {"a": "a"})
        assert client.get("/repos/acme/web").json()["updated_at"] > before


class TestDialects:
    @pytest.mark.parametrize("dialect", [GITEA_1_22, FORGEJO], ids=lambda dialect: dialect.version)
    def test_an_older_forge_has_no_batches(self, dialect: Dialect) -> None:
        forge = FakeGitea(dialect=dialect)
        forge.add_repo("acme/web", {"a": "a"})
        with listen(forge) as url, httpx2.Client(base_url=url + "api/v1") as client:
            answer = client.post("/repos/acme/web/file-contents", json={"files": ["a"]})
            assert (answer.status_code, answer.text) == (404, "404 page not found\n")
            assert client.get("/repos/acme/none").json()["message"] == "The target couldn't be found."
            assert "default_max_response_size" not in client.get("/settings/api").json()


class TestSubPath:
    def test_everything_lies_below_it(self) -> None:
        forge = FakeGitea(root_url="https://host.example.test/gitea/")
        forge.add_repo("acme/web")
        forge.rename("acme/web", "acme/site")
        with listen(forge) as url, httpx2.Client() as client:
            assert url.endswith("/gitea/")
            assert client.get(url + "api/v1/repos/acme/site").json()["html_url"] == url + "acme/site"
            assert client.get(url + "api/v1/repos/acme/web").headers["location"] == "/gitea/api/v1/repos/acme/site"
            assert client.get(url.replace("/gitea/", "/api/v1/version")).status_code == 404

    def test_a_forge_may_not_know_its_own_address(self) -> None:
        forge = FakeGitea()
        with listen(forge, keep_root_url=True) as url, httpx2.Client() as client:
            forge.add_repo("acme/web")
            shown = client.get(url + "api/v1/repos/acme/web").json()
            assert shown["html_url"] == "https://git.example.test/acme/web"


class TestMethods:
    def test_head_has_no_body(self, forge: FakeGitea, client: httpx2.Client) -> None:
        answer = client.head("/version")
        assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "25")
        forge.reset_counts()

    def test_a_method_that_no_endpoint_has_is_refused(self, forge: FakeGitea, client: httpx2.Client) -> None:
        assert client.put("/version").status_code == 405
        forge.reset_counts()


class TestFleet:
    def test_the_wikis_are_spread_evenly(self) -> None:
        forge = FakeGitea()
        add_fleet(forge, 10, wikis=4, pages=7)
        tips = [repo.tip() for repo in forge.by_name()]
        assert [0 if tip is None else len(tip.snapshot.files) for tip in tips] == [1, 1, 10, 1, 10, 1, 1, 10, 1, 10]
