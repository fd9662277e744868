"""Files and folders in JSON, one by one and in batches."""

from __future__ import annotations

import json

from tests.fake_gitea.answers import Answer, Json, json_answer, not_found, refused
from tests.fake_gitea.call import Call
from tests.fake_gitea.objects import Commit
from tests.fake_gitea.render_git import ContentsRenderer
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.routes_repos import READS, REPO
from tests.fake_gitea.routing import Routes
from tests.fake_gitea.tree_path import clean_tree_path
from tests.support.git_files import TREE

ROUTES = Routes()


@ROUTES.on("GET", REPO + "/contents", scopes=READS, query=("ref",))
@ROUTES.on("GET", REPO + "/contents/{filepath}", scopes=READS, query=("ref",))
def get_contents(call: Call) -> Answer:
    """A file with its content, or a folder's entries without theirs."""
    found = _entries(call, call.params.get("filepath", ""), content=True, history=True)
    return json_answer(found)


@ROUTES.on("GET", REPO + "/contents-ext/{filepath}", scopes=READS, query=("ref", "includes"), batch=True)
def get_contents_ext(call: Call) -> Answer:
    """The same under one of two keys, with content and last commit only where ``includes`` asks for them."""
    includes = set(filter(None, call.text("includes").split(",")))
    path = call.params["filepath"]
    found = _entries(
        call,
        "" if path == "." else path,
        content="file_content" in includes,
        history="commit_metadata" in includes,
    )
    return json_answer({"dir_contents" if isinstance(found, list) else "file_contents": found})


def _entries(call: Call, filepath: str, *, content: bool, history: bool) -> Json | list[Json]:
    repo, ref = call.repo(), call.text("ref").strip()
    commit = call.commit(repo, ref)
    path = clean_tree_path(filepath)
    entry = None if path is None else commit.snapshot.entry(path)
    if path is None or entry is None:
        missing = [f"object does not exist [id: , rel_path: {filepath}]"]
        raise not_found(call, "GetContentsOrList", missing)
    renderer = ContentsRenderer(call.forge, repo, commit, ref or repo.default_branch)
    if entry.mode != TREE:
        return renderer.show(path, entry, content=content, history=history)
    prefix = f"{path}/" if path else ""
    inside = commit.snapshot.trees[path].entries
    return [renderer.show(prefix + e.name, e, content=False, history=history) for e in inside]


@ROUTES.on("GET", REPO + "/file-contents", scopes=READS, query=("ref", "body"), batch=True)
def get_file_contents(call: Call) -> Answer:
    try:
        wanted = json.loads(call.text("body"))
    except ValueError:
        raise refused(call, 400, "invalid body parameter") from None
    return _batch(call, wanted)


@ROUTES.on("POST", REPO + "/file-contents", scopes=READS, query=("ref",), batch=True)
def post_file_contents(call: Call) -> Answer:
    """The same. As a POST it needs a token that may write, though it only reads."""
    return _batch(call, call.form())


def _batch(call: Call, form: object) -> Answer:
    """Many files in their order, ``null`` for a missing one, and no more than fit, without saying so."""
    repo, ref = call.repo(), call.text("ref").strip()
    commit = call.commit(repo, ref)
    files = form.get("files") if isinstance(form, dict) else None
    paths = [path for path in files or [] if isinstance(path, str)] if isinstance(files, list) else []
    return json_answer(batch_json(call, repo, commit, ref or repo.default_branch, paths))


def batch_json(call: Call, repo: Repo, commit: Commit, ref: str, paths: list[str]) -> list[Json | None]:
    """The files at ``paths``, as many as the forge's limits on number and size allow."""
    limits, renderer = call.forge.limits, ContentsRenderer(call.forge, repo, commit, ref)
    shown: list[Json | None] = []
    size = 0
    for asked in paths[: limits.default_paging_num]:
        path = clean_tree_path(asked)
        entry = None if not path else commit.snapshot.entry(path)
        one = None if path is None or entry is None else renderer.show(path, entry, content=True)
        size += len(str(one["content"])) if one is not None and one["content"] else 0
        if size > limits.default_max_response_size:
            break
        shown.append(one)
    return shown
