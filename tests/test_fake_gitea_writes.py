"""What the fake forge answers to writes beyond what was recorded, over real HTTP."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.fake_gitea import Access, FakeGitea, Repo, Symlink, listen
from tests.fake_gitea.describe import undescribed

ALICE, BOB = "fake-token-alice", "fake-token-bob"
WEB = "/repos/acme/web"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def change(operation: str, path: str, text: str | None = None, **more: str) -> dict[str, str]:
    return {"operation": operation, "path": path, **({} if text is None else {"content": encoded(text)}), **more}


@pytest.fixture
def forge() -> FakeGitea:
    forge = FakeGitea()
    forge.add_user("alice", token=ALICE)
    forge.add_user("bob", token=BOB)
    forge.add_org("acme", owners=["alice"])
    return forge


@pytest.fixture
def repo(forge: FakeGitea) -> Repo:
    return forge.add_repo("acme/web", {"README.md": "# Web\n", ".wiki/index.md": "# Wiki\n"})


@pytest.fixture
def client(forge: FakeGitea, repo: Repo) -> Iterator[httpx2.Client]:
    """Alice's, and everything that it sends must be described."""
    headers = {"Authorization": f"token {ALICE}"}
    with listen(forge) as url, httpx2.Client(base_url=url + "api/v1", headers=headers) as client:
        yield client
    assert undescribed(forge.requests) == []


def as_(token: str) -> dict[str, str]:
    return {"Authorization": f"token {token}"}


def post(client: httpx2.Client, *changes: dict[str, str], **form: Any) -> httpx2.Response:
    return client.post(f"{WEB}/contents", json={"files": list(changes), **form})


def sha(client: httpx2.Client, path: str) -> str:
    return str(client.get(f"{WEB}/contents/{path}").json()["sha"])


class TestSeveralFiles:
    def test_all_change_in_one_commit(self, client: httpx2.Client, repo: Repo) -> None:
        before = repo.branches["main"]
        index = change("update", ".wiki/index.md", "# New\n", sha=sha(client, ".wiki/index.md"))
        answer = post(client, change("create", ".wiki/a.md", "# A\n"), index, message="wiki: a")
        commit = answer.json()["commit"]
        assert (answer.status_code, [one["sha"] for one in commit["parents"]]) == (201, [before])
        assert (repo.read(".wiki/a.md"), repo.read(".wiki/index.md")) == (b"# A\n", b"# New\n")

    def test_none_changes_when_one_is_stale(self, client: httpx2.Client, repo: Repo) -> None:
        before = repo.branches["main"]
        stale = change("update", ".wiki/index.md", "x", sha="1" * 40)
        assert post(client, change("create", ".wiki/a.md", "# A\n"), stale).status_code == 422
        assert repo.branches["main"] == before

    def test_a_file_is_created_once(self, client: httpx2.Client) -> None:
        assert post(client, change("create", "a.md", "1"), change("create", "a.md", "2")).status_code == 422

    def test_what_is_updated_must_be_there(self, client: httpx2.Client) -> None:
        answer = post(client, change("update", "none.md", "x", sha="1" * 40))
        assert (answer.status_code, "none.md" in answer.json()["message"]) == (404, True)

    def test_a_deleted_file_is_null_in_the_answer(self, client: httpx2.Client, repo: Repo) -> None:
        answer = post(client, change("delete", "README.md", sha=sha(client, "README.md")))
        assert (answer.status_code, answer.json()["files"], repo.read("README.md")) == (201, [None], None)

    def test_a_renamed_file_keeps_its_content(self, client: httpx2.Client, repo: Repo) -> None:
        assert post(client, change("rename", "b.md", from_path="README.md")).status_code == 201
        assert (repo.read("README.md"), repo.read("b.md")) == (None, b"# Web\n")

    @pytest.mark.parametrize(
        ("path", "part"),
        [("README.md/a.md", "a file exists"), (".wiki", "a directory exists"), ("link", "a symbolic link exists")],
    )
    def test_a_path_must_be_free(self, client: httpx2.Client, repo: Repo, path: str, part: str) -> None:
        repo.commit({"link": Symlink("README.md")})
        answer = post(client, change("create", path, "x"))
        assert (answer.status_code, part in answer.json()["message"]) == (422, True)

    def test_a_path_is_cleaned(self, client: httpx2.Client, repo: Repo) -> None:
        assert post(client, change("create", "./x/../a.md", "x")).json()["files"][0]["path"] == "a.md"

    def test_a_branch_that_does_not_exist_is_not_found(self, client: httpx2.Client) -> None:
        assert post(client, change("create", "a.md", "x"), branch="gone").status_code == 404

    def test_a_commit_can_have_another_author_and_date(self, client: httpx2.Client) -> None:
        dates = {"author": "2026-02-03T04:05:06Z", "committer": "2026-02-03T04:05:07Z"}
        form = {"author": {"name": "Somebody", "email": "s@x.test"}, "dates": dates}
        commit = post(client, change("create", "a.md", "x"), **form).json()["commit"]
        assert (commit["author"]["name"], commit["author"]["date"]) == ("Somebody", dates["author"])
        assert (commit["committer"]["name"], commit["committer"]["date"]) == ("alice", dates["committer"])

    def test_a_collaborator_cannot_commit_to_a_protected_branch(self, client: httpx2.Client, repo: Repo) -> None:
        repo.share("bob")
        repo.protect()
        answer = client.post(f"{WEB}/contents", json={"files": [change("create", "a", "x")]}, headers=as_(BOB))
        assert (answer.status_code, answer.json()["message"]) == (403, "user cannot commit to repo [user: bob]")

    def test_who_is_let_push_may_commit_to_a_protected_branch(self, client: httpx2.Client, repo: Repo) -> None:
        repo.protect(pushers=["Alice"])
        assert post(client, change("create", "a", "x")).status_code == 201

    def test_the_first_commit_makes_the_default_branch(self, client: httpx2.Client, forge: FakeGitea) -> None:
        empty = forge.add_repo("acme/empty")
        form = {"branch": "trunk", "files": [change("create", "a", "x")]}
        assert client.post("/repos/acme/empty/contents", json=form).status_code == 201
        assert (empty.default_branch, empty.read("a")) == ("trunk", b"x")


class TestOneFile:
    def test_put_without_a_sha_creates(self, client: httpx2.Client) -> None:
        answer = client.put(f"{WEB}/contents/a.md", json={"content": encoded("# A\n")})
        assert (answer.status_code, answer.json()["content"]["path"]) == (201, "a.md")

    def test_put_with_a_sha_updates(self, client: httpx2.Client, repo: Repo) -> None:
        form = {"content": encoded("new"), "sha": sha(client, "README.md")}
        assert client.put(f"{WEB}/contents/README.md", json=form).status_code == 200
        assert repo.read("README.md") == b"new"

    def test_delete_needs_a_sha(self, client: httpx2.Client, repo: Repo) -> None:
        form = {"sha": sha(client, "README.md")}
        assert client.request("DELETE", f"{WEB}/contents/README.md", json=form).json()["content"] is None

    def test_a_name_of_any_kind_is_written_as_it_is(self, client: httpx2.Client, repo: Repo) -> None:
        client.post(f"{WEB}/contents/%C3%9C%20%23%25%2Fb.md", json={"content": encoded("x")})
        assert repo.read("Ü #%/b.md") == b"x"


class TestIssues:
    def test_labels_of_somebody_who_cannot_write_are_dropped(self, client: httpx2.Client, repo: Repo) -> None:
        label = repo.add_label("knowledge")
        form = {"title": "t", "labels": [label.id]}
        assert client.post(f"{WEB}/issues", json=form, headers=as_(BOB)).json()["labels"] == []
        assert len(client.post(f"{WEB}/issues", json=form).json()["labels"]) == 1

    def test_an_issue_needs_issues_to_be_enabled(self, client: httpx2.Client, repo: Repo) -> None:
        repo.has_issues = False
        assert client.post(f"{WEB}/issues", json={"title": "t"}, headers=as_(BOB)).status_code == 403

    def test_since_counts_from_the_last_change(self, client: httpx2.Client, repo: Repo) -> None:
        repo.add_issue("old")
        new = repo.add_issue("new")
        since = new.updated.strftime("%Y-%m-%dT%H:%M:%SZ")
        shown = client.get(f"{WEB}/issues", params={"since": since, "state": "all"}).json()
        assert [one["title"] for one in shown] == ["new"]

    def test_a_closed_issue_is_listed_when_it_is_asked_for(self, client: httpx2.Client, repo: Repo) -> None:
        repo.add_issue("done").closed = repo.updated
        assert client.get(f"{WEB}/issues").json() == []
        assert len(client.get(f"{WEB}/issues?state=closed").json()) == 1

    def test_the_newest_come_first(self, client: httpx2.Client, repo: Repo) -> None:
        for title in ("a", "b", "c"):
            repo.add_issue(title)
        assert [one["number"] for one in client.get(f"{WEB}/issues?limit=2").json()] == [3, 2]

    def test_labels_are_paged_without_links(self, client: httpx2.Client, repo: Repo) -> None:
        for number in range(51):
            repo.add_label(f"l{number:02}")
        first, second = (client.get(f"{WEB}/labels?limit=50&page={page}") for page in (1, 2))
        assert ("link" in first.headers, len(first.json()), len(second.json())) == (False, 50, 1)


class TestPulls:
    def open(self, client: httpx2.Client) -> httpx2.Response:
        form = {"base": "main", "head": "knowledge/a", "title": "Knowledge: a"}
        return client.post(f"{WEB}/pulls", json=form)

    def test_a_branch_without_changes_is_refused(self, client: httpx2.Client, repo: Repo) -> None:
        repo.branches["knowledge/a"] = repo.branches["main"]
        assert self.open(client).status_code == 422

    def test_a_merged_one_makes_room_for_the_next(self, client: httpx2.Client, repo: Repo) -> None:
        post(client, change("create", "a.md", "# A\n"), new_branch="knowledge/a")
        number = self.open(client).json()["number"]
        repo.commit({"b.md": "meanwhile"})
        repo.merge(number)
        assert (repo.read("a.md"), repo.read("b.md")) == (b"# A\n", b"meanwhile")
        shown = client.get(f"{WEB}/pulls/main/knowledge%2Fa").json()
        assert (shown["state"], shown["merged"], client.get(f"{WEB}/pulls").json()) == ("closed", True, [])
        post(client, change("create", "c.md", "# C\n"), branch="knowledge/a")
        assert self.open(client).status_code == 201

    def test_the_changed_lines_are_counted(self, client: httpx2.Client) -> None:
        text, old = "# Web\n\nMore.\n", sha(client, "README.md")
        post(client, change("update", "README.md", text, sha=old), new_branch="knowledge/a")
        shown = self.open(client).json()
        assert (shown["additions"], shown["deletions"], shown["changed_files"]) == (2, 0, 1)

    def test_a_pull_request_is_an_issue_too(self, client: httpx2.Client, repo: Repo) -> None:
        post(client, change("create", "a.md", "x"), new_branch="knowledge/a")
        self.open(client)
        assert client.get(f"{WEB}/issues?type=issues").json() == []
        assert len(client.get(f"{WEB}/issues?type=pulls").json()) == 1

    def test_a_reader_of_the_repository_may_ask_for_its_pull_requests(self, client: httpx2.Client, repo: Repo) -> None:
        repo.share("bob", Access.READ)
        assert client.get(f"{WEB}/pulls", headers=as_(BOB)).json() == []
