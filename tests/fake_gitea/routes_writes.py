"""Writing files: several in one commit, or one."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime

from tests.fake_gitea.answers import Answer, Json, json_answer, refused
from tests.fake_gitea.call import Call
from tests.fake_gitea.objects import Authorship, Commit, Entry, Identity
from tests.fake_gitea.render_git import UNSIGNED, file_commit_json
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.routes_contents import batch_json
from tests.fake_gitea.routes_repos import REPO
from tests.fake_gitea.routing import Routes
from tests.fake_gitea.state import Access
from tests.fake_gitea.tree_path import clean_tree_path
from tests.support.git_files import SYMLINK, TREE

ROUTES = Routes()
WRITES = (("repository",),)
OPERATIONS = ("create", "update", "upload", "rename", "delete")


@dataclass(frozen=True, slots=True)
class Change:
    """One operation: ``source`` is the path it takes the file from, ``sha`` what the caller read there."""

    operation: str
    path: str
    source: str
    sha: str
    data: bytes


@ROUTES.on("POST", REPO + "/contents", scopes=WRITES)
def change_files(call: Call) -> Answer:
    repo, form = _writable(call)
    files = form.get("files")
    if not isinstance(files, list) or not files:
        raise refused(call, 422, "[Files]: Required")
    _may_write(call, repo)
    changes = [_change(call, file, str(file.get("path", ""))) for file in files if isinstance(file, dict)]
    commit, branch = _apply(call, repo, form, changes)
    shown = batch_json(call, repo, commit, branch, [change.path for change in changes])
    return json_answer({"files": shown, **_about(call, repo, commit)}, 201)


@ROUTES.on("POST", REPO + "/contents/{filepath}", scopes=WRITES)
def create_file(call: Call) -> Answer:
    return _one(call, "create", 201)


@ROUTES.on("PUT", REPO + "/contents/{filepath}", scopes=WRITES)
def update_file(call: Call) -> Answer:
    """Update a file that the caller read, or without a ``sha`` create it."""
    updates = bool(call.form().get("sha"))
    return _one(call, "update" if updates else "upload", 200 if updates else 201)


@ROUTES.on("DELETE", REPO + "/contents/{filepath}", scopes=WRITES)
def delete_file(call: Call) -> Answer:
    return _one(call, "delete", 200)


def _one(call: Call, operation: str, status: int) -> Answer:
    repo, form = _writable(call)
    required = "sha" if operation == "delete" else "content"
    if not isinstance(form.get(required), str):
        raise refused(call, 422, f"[{'SHA' if required == 'sha' else 'ContentBase64'}]: Required")
    _may_write(call, repo)
    change = _change(call, {**form, "operation": operation}, call.params["filepath"])
    commit, branch = _apply(call, repo, form, [change])
    content = batch_json(call, repo, commit, branch, [change.path])[0]
    return json_answer({"content": content, **_about(call, repo, commit)}, status)


def _about(call: Call, repo: Repo, commit: Commit) -> Json:
    return {"commit": file_commit_json(call.forge, repo, commit), "verification": dict(UNSIGNED)}


def _writable(call: Call) -> tuple[Repo, Json]:
    """The repository and what is asked of it, unless it is archived or nobody asks."""
    repo = call.repo()
    if repo.archived_now:
        raise refused(call, 423, f"{repo.full_name} is not allowed to edit")
    _ = call.me
    return repo, call.form()


def _may_write(call: Call, repo: Repo) -> None:
    if call.access(repo) < Access.WRITE:
        raise refused(call, 403, "user should have a permission to write to the target branch")


def _change(call: Call, file: Json, path: str) -> Change:
    operation = str(file.get("operation", ""))
    if operation not in OPERATIONS:
        raise refused(call, 422, f"[Operation]: In[{','.join(OPERATIONS)}]")
    if not path:
        raise refused(call, 422, "[Path]: Required")
    try:
        data = base64.b64decode(str(file.get("content", "")), validate=True)
    except binascii.Error:
        raise refused(call, 422, "illegal base64 data at input byte 0") from None
    clean, source = clean_tree_path(path), clean_tree_path(str(file.get("from_path") or path))
    if not clean or not source:
        raise refused(call, 422, f"path contains a malformed path component [path: {path}]")
    return Change(operation, clean, source, str(file.get("sha", "")), data)


def _apply(call: Call, repo: Repo, form: Json, changes: list[Change]) -> tuple[Commit, str]:
    """Commit ``changes`` to the branch or the new branch that ``form`` names, all or none."""
    branch = str(form.get("branch") or repo.default_branch)
    target = str(form.get("new_branch") or branch)
    base = repo.tip(branch)
    if base is None and not repo.empty:
        raise refused(call, 404, f"branch does not exist [repo_id: {repo.id} name: {branch}]")
    if target == branch and not repo.may_push(call.me, branch):
        raise refused(call, 403, f"user cannot commit to repo [user: {call.me.login}]")
    if target != branch and target in repo.branches and form.get("force_push") is not True:
        raise refused(call, 422, f"branch already exists [name: {target}]")
    entries = {} if base is None else dict(base.snapshot.files)
    for change in changes:
        if base is not None:
            _check(call, change, base)
        if change.operation == "create" and change.path in entries:
            raise refused(call, 422, f"repository file already exists [path: {change.path}]")
        _edit(repo, entries, change)
    return repo.push(target, base, entries, _authorship(call, form, changes)), target


def _edit(repo: Repo, entries: dict[str, Entry], change: Change) -> None:
    moved = entries.pop(change.source, None)
    if change.operation == "rename" and moved is not None:
        entries[change.path] = Entry(change.path.rpartition("/")[2], moved.mode, moved.sha, moved.size)
    elif change.operation != "delete":
        entries[change.path] = repo.objects.add_content(change.path, change.data)


def _check(call: Call, change: Change, base: Commit) -> None:
    """Refuse a change that does not fit the files of ``base``."""
    before = base.snapshot.entry(change.source)
    if change.operation in {"update", "rename", "delete"} and before is None:
        raise refused(call, 404, f"object does not exist [id: , rel_path: {change.source}]")
    if change.operation != "create" and change.sha and (before is None or before.sha != change.sha):
        expected = "" if before is None else before.sha
        raise refused(call, 422, f"sha does not match [given: {change.sha}, expected: {expected}]")
    if change.operation != "delete":
        _check_target(call, change, base)


def _check_target(call: Call, change: Change, base: Commit) -> None:
    parts = change.path.split("/")
    for length in range(1, len(parts)):
        above = "/".join(parts[:length])
        if above in base.snapshot.files:
            message = f"a file exists where you’re trying to create a subdirectory [path: {above}]"
            raise refused(call, 422, message)
    there = base.snapshot.entry(change.path)
    if there is None:
        return
    kind = {SYMLINK: "symbolic link", TREE: "directory"}.get(there.mode)
    if kind is not None:
        what = "subdirectory" if kind == "symbolic link" else "file"
        message = f"a {kind} exists where you’re trying to create a {what} [path: {change.path}]"
        raise refused(call, 422, message)
    if change.operation == "create" or change.source != change.path:
        raise refused(call, 422, f"repository file already exists [path: {change.path}]")


def _authorship(call: Call, form: Json, changes: list[Change]) -> Authorship:
    me = call.me
    own = Identity(me.full_name or me.login, me.email)
    verbs = {"create": "Add", "delete": "Delete"}
    message = str(form.get("message") or "") or "\n".join(
        f"{verbs.get(change.operation, 'Update')} {change.path}" for change in changes
    )
    now, dates = call.forge.by(own, message), form.get("dates")
    committer, author = _person(form.get("committer"), own), _person(form.get("author"), own)
    authored, committed = (_moment(dates, key, now.committed) for key in ("author", "committer"))
    return Authorship(author, committer, authored, committed, message)


def _person(value: object, own: Identity) -> Identity:
    if not isinstance(value, dict):
        return own
    return Identity(str(value.get("name") or own.name), str(value.get("email") or own.email))


def _moment(dates: object, key: str, now: int) -> int:
    text = dates.get(key) if isinstance(dates, dict) else None
    return int(datetime.fromisoformat(text).timestamp()) if isinstance(text, str) else now
