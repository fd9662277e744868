"""The forge that the recordings were made on, as far as they tell: for replaying them.

What no recording shows is made up: the content of a file of which only name, size and object name are known is
filler of that size, so that the names of such objects, and of the trees and commits above them, differ.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any, Final

from tests.fake_gitea.forge import FakeGitea
from tests.fake_gitea.objects import Identity
from tests.fake_gitea.recordings import exchanges, load
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.state import Access
from tests.support.git_files import FileContent, Symlink

TOKENS: Final = {
    "alice": "fake-token-alice",
    "bob": "fake-token-bob",
    "bob_readonly": "fake-token-bob-readonly",
    "bob_repo_scope_only": "fake-token-bob-repository",
    "invalid": "fake-token-of-nobody",
}
ALICE: Final = Identity("alice", "a@x.test")
GIT_DATE: Final = datetime(2001, 1, 1, tzinfo=UTC)
LISTINGS: Final = (
    "user-repos-limit-100-is-capped",
    "user-repos-page-2",
    "user-repos-page-3",
    "org-repos",
    "user-repos-collaborator",
)
PROTECTED, TRANSFERRED = "alice/proj-005", "bob/proj-010"
LONG_WIKI, ODD, PRIVATE = "alice/proj-001", "alice/odd", "acme/node-utils"


def recorded_world() -> FakeGitea:
    """Users, organizations and repositories as they were when the recordings began."""
    forge = FakeGitea()
    forge.git_date = GIT_DATE
    _add_accounts(forge)
    contents = _known_contents()
    shown = {one["id"]: one for name in LISTINGS for one in load(name).json}
    for number in sorted(shown):
        one = shown[number]
        parent = forge.repo(one["parent"]["full_name"]) if one["fork"] else None
        repo = forge.add_repo(one["full_name"], private=one["private"], parent=parent, id=number)
        repo.default_branch = one["default_branch"]
        if not one["empty"] and parent is None:
            _fill(repo, contents)
    forge.redirects["alice", "proj-010"] = forge.repo(TRANSFERRED).id
    _share(forge)
    for one in shown.values():
        _date(forge.repo(one["full_name"]), one)
    return forge


def _add_accounts(forge: FakeGitea) -> None:
    forge.add_user("alice", email="a@x.test", token=TOKENS["alice"], admin=True)
    forge.add_user("bob", email="b@x.test", token=TOKENS["bob"])
    forge.add_token("bob", TOKENS["bob_readonly"], ["read:repository", "read:user"])
    forge.add_token("bob", TOKENS["bob_repo_scope_only"], ["read:repository"])
    forge.ids.take("account")  # somebody whom no recording shows
    forge.add_org("acme", owners=["alice"])
    forge.add_org("wikis", owners=["alice"])
    repo = load("repo").json
    for login, shown in (
        ("alice", load("user").json),
        ("bob", load("user-of-token").json),
        ("acme", repo["owner"]),
    ):
        forge.account(login).created = datetime.fromisoformat(shown["created"])


def _known_contents() -> dict[str, bytes]:
    """The content of every blob that some recording shows, by name."""
    known: dict[str, bytes] = {}

    def look(value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                look(one)
        elif isinstance(value, dict):
            if value.get("encoding") == "base64":
                known[value["sha"]] = base64.b64decode(value["content"])
            for one in value.values():
                look(one)

    for recording in exchanges():
        look(recording.json)
        if recording.raw is not None and "etag" in recording.headers and recording.status == 200:
            known[recording.headers["etag"].strip('"')] = recording.raw
    return known


def _fill(repo: Repo, contents: dict[str, bytes]) -> None:
    """Give ``repo`` the commits that the recordings know of."""
    trees = {
        PRIVATE: (load("tree-wiki-recursive"), ".wiki/"),
        ODD: (load("tree-with-symlink"), ""),
        LONG_WIKI: (load("tree-recursive-page-3"), ""),
    }
    if repo.full_name not in trees:
        repo.commit({"README.md": f"# {repo.name}\n"}, author=ALICE, message="init")
        return
    recording, prefix = trees[repo.full_name]
    files: dict[str, FileContent | None] = {
        prefix + entry["path"]: contents.get(entry["sha"]) or _filler(entry["size"])
        for entry in recording.json["tree"]
        if entry["type"] == "blob" and entry["mode"] != "120000"
    }
    for name in ("file-contents-batch", "file-contents-batch-is-truncated-at-30"):
        batch = load(name)
        if f"/repos/{repo.full_name}/" in batch.target:
            missing = {path for path, one in zip(batch.sent["files"], batch.json, strict=False) if one is None}
            files |= {path: files.get(path) or _filler(2000) for path in batch.sent["files"] if path not in missing}
            files |= {one["path"]: contents[one["sha"]] for one in batch.json if one is not None}
    later = {"n.md": files.pop("n.md")} if repo.full_name == LONG_WIKI else {}
    repo.commit(files, author=ALICE, message="init")
    if later:
        repo.commit(later, author=ALICE, message="m")
    if repo.full_name == ODD:
        linked = datetime.fromisoformat(load("file-contents-symlink").json[0]["last_committer_date"])
        repo.commit({".wiki/link.md": Symlink("../../../etc/passwd")}, author=ALICE, message="link", at=linked)


def _filler(size: int) -> bytes:
    return b"x" * (size - 1) + b"\n"


def _share(forge: FakeGitea) -> None:
    forge.repo("alice/proj-003").share("bob", Access.WRITE)
    forge.repo("alice/proj-000").share("bob", Access.READ)
    forge.repo(PROTECTED).protect("main")
    knowledge, everywhere = load("labels-list").json[0], load("org-labels-list").json[0]
    forge.repo("alice/proj-000").add_label(knowledge["name"], knowledge["color"])
    forge.add_org_label("acme", everywhere["name"], everywhere["color"])
    forge.repo("alice/proj-000").add_issue("One that was there before")


def _date(repo: Repo, shown: Any) -> None:
    """What a listing shows and the forge would otherwise count or tell by itself."""
    repo.created = datetime.fromisoformat(shown["created_at"])
    repo.updated = datetime.fromisoformat(shown["updated_at"])
    repo.archived = datetime.fromisoformat(shown["archived_at"]) if shown["archived"] else None
    repo.has_issues = shown["has_issues"]
    repo.size, repo.language = shown["size"], shown["language"]
