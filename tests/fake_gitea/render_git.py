"""Commits, trees, files and branches as the API shows them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from tests.fake_gitea.answers import Json
from tests.fake_gitea.objects import Commit, Entry, Identity
from tests.fake_gitea.render import NEVER, account_json
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.state import Access, Account, rfc3339
from tests.support.git_files import SUBMODULE, SYMLINK, TREE

if TYPE_CHECKING:
    from tests.fake_gitea.forge import FakeGitea

UNSIGNED: Final[Mapping[str, object]] = {
    "verified": False,
    "reason": "gpg.error.not_signed_commit",
    "signature": "",
    "signer": None,
    "payload": "",
}


def escaped(path: str) -> str:
    """A path in a URL, as Go writes it: each segment escaped on its own."""
    return quote(path, safe="/$&+=:@~")


def kind_of(entry: Entry) -> str:
    """The forge's word for what an entry is."""
    return {TREE: "dir", SYMLINK: "symlink", SUBMODULE: "submodule"}.get(entry.mode, "file")


def time_of(seconds: int) -> str | None:
    return rfc3339(datetime.fromtimestamp(seconds, UTC))


def blob_text(forge: FakeGitea, data: bytes) -> tuple[str | None, str | None]:
    """Encoding and content of a file in JSON; neither where it is too big."""
    if len(data) > forge.limits.default_max_blob_size:
        return None, None
    return "base64", base64.b64encode(data).decode()


class ContentsRenderer:
    """Shows the entries of ``commit``, which was asked for as ``ref`` (a branch or a commit)."""

    def __init__(self, forge: FakeGitea, repo: Repo, commit: Commit, ref: str) -> None:
        self._forge, self._repo, self._commit = forge, repo, commit
        self._api = f"{forge.api_url}/repos/{repo.full_name}"
        self._html = f"{forge.root_url}{repo.full_name}"
        self._ref = quote(ref, safe="")
        self._web = f"branch/{escaped(ref)}" if ref in repo.branches else f"commit/{commit.sha}"

    def show(self, path: str, entry: Entry, *, content: bool, history: bool = True) -> Json:
        """One entry; ``content``: with the file's content, ``history``: with its last commit."""
        kind, sha, where = kind_of(entry), entry.sha, escaped(path)
        data = b"" if kind in {"dir", "submodule"} else self._repo.objects.blobs[sha].data
        encoding, text = blob_text(self._forge, data) if content and kind == "file" else (None, None)
        url = f"{self._api}/contents/{where}?ref={self._ref}"
        web = None if kind == "submodule" else f"{self._html}/src/{self._web}/{where}"
        git = None if kind == "submodule" else f"{self._api}/git/blobs/{sha}"
        return {
            "name": entry.name,
            "path": path,
            "sha": sha,
            **(self._last_commit(path) if history else {}),
            "type": kind,
            "size": entry.size,
            "encoding": encoding,
            "content": text,
            "target": data.decode(errors="replace") if kind == "symlink" else None,
            "url": url,
            "html_url": web,
            "git_url": git,
            "download_url": f"{self._html}/raw/{self._web}/{where}" if kind in {"file", "symlink"} else None,
            "submodule_git_url": None,
            "_links": {"self": url, "git": git, "html": web},
        }

    def _last_commit(self, path: str) -> Json:
        last = next(self._repo.objects.touching(self._commit, path))
        return {
            "last_commit_sha": last.sha,
            "last_committer_date": time_of(last.committed),
            "last_author_date": time_of(last.authored),
        }


def tree_entry_json(forge: FakeGitea, repo: Repo, path: str, entry: Entry) -> Json:
    kind = "trees" if entry.mode == TREE else "blobs"
    url = "" if entry.mode == SUBMODULE else f"{forge.api_url}/repos/{repo.full_name}/git/{kind}/{entry.sha}"
    return {
        "path": path,
        "mode": f"{entry.mode:06o}",
        "type": entry.kind,
        "size": entry.size,
        "sha": entry.sha,
        "url": url,
    }


def _signed_by(person: Identity, seconds: int) -> Json:
    return {"name": person.name, "email": person.email, "date": time_of(seconds)}


def file_commit_json(forge: FakeGitea, repo: Repo, commit: Commit) -> Json:
    """The commit of a write."""
    api = f"{forge.api_url}/repos/{repo.full_name}/git"
    tree = commit.snapshot.root.sha
    return {
        "url": f"{api}/commits/{commit.sha}",
        "sha": commit.sha,
        "created": NEVER,
        "html_url": f"{forge.root_url}{repo.full_name}/commit/{commit.sha}",
        "author": _signed_by(commit.author, commit.authored),
        "committer": _signed_by(commit.committer, commit.committed),
        "parents": [{"url": f"{api}/commits/{sha}", "sha": sha, "created": NEVER} for sha in commit.parents],
        "message": commit.message,
        "tree": {"url": f"{api}/trees/{tree}", "sha": tree, "created": NEVER},
    }


def commit_json(forge: FakeGitea, repo: Repo, commit: Commit, wanted: Mapping[str, bool]) -> Json:
    """A commit of a history, with those of ``stat``, ``verification`` and ``files`` that are ``wanted``. (That its
    tree bears the commit's own name is the forge's doing.)"""
    api = f"{forge.api_url}/repos/{repo.full_name}/git"
    files = _touched(repo, commit)
    return {
        "url": f"{api}/commits/{commit.sha}",
        "sha": commit.sha,
        "created": time_of(commit.committed),
        "html_url": f"{forge.root_url}{repo.full_name}/commit/{commit.sha}",
        "commit": {
            "url": f"{api}/commits/{commit.sha}",
            "author": _signed_by(commit.author, commit.authored),
            "committer": _signed_by(commit.committer, commit.committed),
            "message": commit.message,
            "tree": {"url": f"{api}/trees/{commit.sha}", "sha": commit.sha, "created": time_of(commit.committed)},
            "verification": dict(UNSIGNED) if wanted["verification"] else None,
        },
        "author": _known(forge, commit.author),
        "committer": _known(forge, commit.committer),
        "parents": [
            {"url": f"{api}/commits/{sha}", "sha": sha, "created": time_of(repo.objects.commits[sha].committed)}
            for sha in commit.parents
        ],
        "files": files if wanted["files"] else None,
        "stats": {"total": len(files), "additions": len(files), "deletions": 0} if wanted["stat"] else None,
    }


def _known(forge: FakeGitea, person: Identity) -> Json | None:
    account = account_of(forge, person)
    return None if account is None else account_json(forge, account, known=False)


def account_of(forge: FakeGitea, person: Identity) -> Account | None:
    return next((account for account in forge.accounts.values() if account.email == person.email), None)


def _touched(repo: Repo, commit: Commit) -> list[Json]:
    before = repo.objects.commits[commit.parents[0]].snapshot.files if commit.parents else {}
    now = commit.snapshot.files
    changed = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
    word = {(False, True): "added", (True, False): "removed"}
    return [{"filename": path, "status": word.get((path in before, path in now), "modified")} for path in changed]


def branch_json(forge: FakeGitea, repo: Repo, name: str, viewer: Account | None) -> Json:
    commit = repo.objects.commits[repo.branches[name]]
    writes = viewer is not None and forge.access(viewer, repo) >= Access.WRITE
    protected = name in repo.protections
    return {
        "name": name,
        "commit": {
            "id": commit.sha,
            "message": commit.message,
            "url": f"{forge.root_url}{repo.full_name}/commit/{commit.sha}",
            "author": _payload_user(forge, commit.author),
            "committer": _payload_user(forge, commit.committer),
            "verification": dict(UNSIGNED),
            "timestamp": time_of(commit.committed),
            "added": None,
            "removed": None,
            "modified": None,
        },
        "protected": protected,
        "required_approvals": 0,
        "enable_status_check": False,
        "status_check_contexts": [],
        "user_can_push": writes and viewer is not None and repo.may_push(viewer, name),
        "user_can_merge": writes,
        "effective_branch_protection_name": name if protected else "",
    }


def _payload_user(forge: FakeGitea, person: Identity) -> Json:
    account = account_of(forge, person)
    return {"name": person.name, "email": person.email, "username": "" if account is None else account.login}
