"""Git's objects: trees, blobs, and files as they are."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import quote

from tests.fake_gitea.answers import NOT_CACHED, Answer, Json, json_answer, not_found, page_headers, refused
from tests.fake_gitea.call import Call
from tests.fake_gitea.objects import Commit
from tests.fake_gitea.render_git import blob_text, kind_of, tree_entry_json
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.routes_repos import READS, REPO
from tests.fake_gitea.routing import Routes
from tests.support.git_files import SUBMODULE, TREE

ROUTES = Routes()
RAW_CACHE = "max-age=21600, no-transform"
HEX = set("0123456789abcdef")


@ROUTES.on("GET", REPO + "/git/trees/{sha}", scopes=READS, query=("recursive", "page", "per_page"))
def get_tree(call: Call) -> Answer:
    """A tree by its name, or that of a commit or branch, whose commit the answer then names instead."""
    repo, name = call.repo(), call.params["sha"]
    commit = repo.resolve(name)
    tree = repo.objects.trees.get(name) if commit is None else commit.snapshot.root
    if tree is None:
        raise refused(call, 400, f"sha not found [{name}]")
    sha = tree.sha if commit is None else commit.sha
    entries = list(repo.objects.walk(tree)) if call.flag("recursive") else [(e.name, e) for e in tree.entries]
    largest = call.forge.limits.default_git_trees_per_page
    size = call.number("per_page") if 0 < call.number("per_page") <= largest else largest
    number = max(call.number("page"), 1)
    shown = entries[(number - 1) * size : number * size]
    body: Json = {
        "sha": sha,
        "url": f"{call.forge.api_url}/repos/{repo.full_name}/git/trees/{sha}",
        "tree": [tree_entry_json(call.forge, repo, path, entry) for path, entry in shown] or None,
        "truncated": bool(shown) and number * size < len(entries),
        "page": number,
        "total_count": len(entries),
    }
    return json_answer(body, 200, page_headers(call, len(entries)))


@ROUTES.on("GET", REPO + "/git/blobs/{sha}", scopes=READS)
def get_blob(call: Call) -> Answer:
    repo, sha = call.repo(), call.params["sha"]
    blob = repo.objects.blobs.get(sha)
    if blob is None:
        raise refused(call, 400, f"object does not exist [id: {sha}, rel_path: ]")
    encoding, content = blob_text(call.forge, blob.data)
    url = f"{call.forge.api_url}/repos/{repo.full_name}/git/blobs/{sha}"
    body = {"content": content, "encoding": encoding, "url": url, "sha": sha, "size": len(blob.data)}
    return json_answer(body)


@ROUTES.on("GET", REPO + "/raw/{filepath}", scopes=READS, query=("ref",))
def get_raw(call: Call) -> Answer:
    """A file's bytes. A ``ref`` that is no branch is not an error: the default branch is served."""
    repo = call.repo()
    if repo.empty:
        raise not_found(call, "repository is empty")
    commit, path = _locate(call, repo)
    entry = commit.snapshot.entry(path)
    if entry is None:
        raise not_found(call)
    if entry.mode in {TREE, SUBMODULE}:
        raise not_found(call, "getBlobForEntry")
    data, changed = repo.objects.blobs[entry.sha].data, next(repo.objects.touching(commit, path)).committed
    headers = {
        "etag": f'"{entry.sha}"',
        "last-modified": format_datetime(datetime.fromtimestamp(changed, UTC), usegmt=True),
        "x-gitea-object-type": kind_of(entry),
    }
    if f'"{entry.sha}"' in call.exchange.headers.get("if-none-match", ""):
        return Answer(304, {"cache-control": NOT_CACHED, **headers})
    saved_as = f"inline; filename=\"{entry.name}\"; filename*=UTF-8''{quote(entry.name, safe='$&+=:@')}"
    cache = f"{'private' if repo.private else 'public'}, {RAW_CACHE}"
    sent = {
        "cache-control": cache,
        "content-disposition": saved_as,
        "content-length": str(len(data)),
        "content-type": _media_type(data),
    }
    return Answer(200, headers | sent, data)


def _locate(call: Call, repo: Repo) -> tuple[Commit, str]:
    """The commit and path that ``ref`` and path name together: ``ref`` is put before the path, and the shortest
    beginning that is a branch is one; else a first part that looks like a commit must be one."""
    path = call.params["filepath"].strip("/")
    parts = "/".join(part for part in (call.text("ref").strip(), path) if part).split("/")
    for length in range(1, len(parts) + 1):
        tip = repo.tip("/".join(parts[:length]))
        if tip is not None:
            return tip, "/".join(parts[length:])
    if 7 <= len(parts[0]) <= 40 and set(parts[0]) <= HEX:
        commit = repo.resolve(parts[0])
        if commit is None:
            raise not_found(call, "unable to find a git ref")
        return commit, "/".join(parts[1:])
    return call.commit(repo, ""), path


def _media_type(data: bytes) -> str:
    """The forge's guess: text unless there is a NUL; an encoding it cannot tell it guesses wrongly."""
    if b"\0" in data[:1024]:
        return "application/octet-stream"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "text/plain; charset=shift_jis"
    return "text/plain; charset=utf-8"
