"""What the gateway asks of a forge: each call as the forge's API description (``swagger.json``) has it. Pure.

A path is kept as its parts, so that each is encoded once, whatever it holds.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode

from sync.forge.writing import Edit

API = "/api/v1"
MAX_JSON = 16 * 1024 * 1024  # bytes of an answer that is read into memory at once
REPO_PAGE = 50  # repositories, issues, labels… asked for at once: the usual most, see max_response_items
TREE_PAGE = 1000  # tree entries, likewise
FILES_AT_ONCE = 30  # files of one batch: the usual default_paging_num
NOWHERE = "-/-"  # a repository that cannot be: names of owners start with a letter or a digit

_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Call:
    """One call below the API's root. ``segments`` and ``query`` are not encoded yet; ``body`` is JSON. ``accept`` is
    what the answer is in, ``limit`` the most bytes of it, ``known`` the sha of the blob that the caller has."""

    method: str
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    accept: str = "application/json"
    limit: int = MAX_JSON
    known: str | None = None
    idempotent: bool = True

    @property
    def target(self) -> str:
        """Path and query, encoded (RFC 3986, section 3.3)."""
        path = "/".join([API, *map(_encoded, self.segments)])
        return f"{path}?{urlencode(self.query, quote_via=quote, safe='')}" if self.query else path

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that the call itself needs."""
        content = (("Content-Type", "application/json"),) if self.body else ()
        condition = (("If-None-Match", f'"{self.known}"'),) if self.known else ()
        return (("Accept", self.accept), *content, *condition)

    def of(self, name: str) -> Call:
        """The same call to the repository ``name`` (``owner/name``) instead."""
        return replace(self, segments=("repos", *name.split("/"), *self.segments[3:]))

    @property
    def repo(self) -> str | None:
        """The repository it is about, if any."""
        return "/".join(self.segments[1:3]) if self.segments[0] == "repos" else None


def is_full_name(name: str) -> bool:
    """Whether ``name`` is ``owner/name``, two parts that can be asked for."""
    parts = name.split("/")
    return len(parts) == 2 and all(part.strip(".") and part.isprintable() for part in parts)


def is_path(path: str) -> bool:
    """Whether ``path`` can name a file in git, and be sent: what cannot need not be asked for."""
    parts = path.split("/")
    return "\0" not in path and is_text(path) and all(part not in ("", ".", "..") for part in parts)


def is_text(word: str) -> bool:
    """Whether ``word`` has whole characters only: half a surrogate pair cannot be encoded."""
    return word.isascii() or _HALF_PAIR.search(word) is None


def version() -> Call:
    """Which version of which forge answers. It needs no token."""
    return Call("GET", ("version",))


def api_settings() -> Call:
    """The API's limits. It needs a token only where everything does."""
    return Call("GET", ("settings", "api"))


def current_user() -> Call:
    """Whose token it is."""
    return Call("GET", ("user",))


def one_repo() -> Call:
    """A repository, whichever: what reading alone needs the permission for."""
    return Call("GET", ("repos", "search"), (("limit", "1"),))


def no_commit() -> Call:
    """What needs the permission to write files, and writes none: there is no file in it, and no such repository."""
    return Call("POST", (*_repo(NOWHERE), "contents"), body=b'{"files": []}')


def no_issue() -> Call:
    """What needs the permission to file an issue, and files none: it has no title, and there is no such repository."""
    return Call("POST", (*_repo(NOWHERE), "issues"), body=b'{"title": ""}')


def user_repos(page: int) -> Call:
    """The repositories that the token's user owns, or has access to."""
    return Call("GET", ("user", "repos"), _page(page))


def repos_of_user(user: str, page: int) -> Call:
    """The repositories that ``user`` owns."""
    return Call("GET", ("users", user, "repos"), _page(page))


def repos_of_org(org: str, page: int) -> Call:
    """The repositories of an organization."""
    return Call("GET", ("orgs", org, "repos"), _page(page))


def repo(name: str) -> Call:
    """One repository."""
    return Call("GET", _repo(name))


def tree(name: str, sha: str, *, page: int = 1, recursive: bool = False) -> Call:
    """A tree by the name of a branch, a commit or a tree."""
    query = (("recursive", "true"),) if recursive else ()
    return Call("GET", (*_repo(name), "git", "trees", sha), (*query, ("per_page", str(TREE_PAGE)), ("page", str(page))))


def raw(name: str, path: str, *, ref: str | None, limit: int, known: str | None = None) -> Call:
    """A file's bytes, at most ``limit`` of them, or "not modified" for the blob that is ``known``."""
    segments = (*_repo(name), "raw", *path.split("/"))
    return Call("GET", segments, _ref(ref), accept="*/*", limit=limit, known=known)


def file_contents(name: str, paths: Sequence[str], *, ref: str | None, by_get: bool = False) -> Call:
    """Many files at once. A forge wants a writer's token for the POST, though it reads; ``by_get`` asks the same
    within the length that a URL may have."""
    segments = (*_repo(name), "file-contents")
    body = json.dumps({"files": list(paths)}, ensure_ascii=False, separators=(",", ":"))
    if by_get:
        return Call("GET", segments, (*_ref(ref), ("body", body)))
    return Call("POST", segments, _ref(ref), body.encode())


def branch(name: str, branch: str) -> Call:
    """A branch: its tip, and who may push to it. Its slashes stay as they are, which no proxy takes offence at."""
    return Call("GET", (*_repo(name), "branches", *branch.split("/")))


def history(name: str, path: str, *, branch: str | None) -> Call:
    """The commits that touched a path, newest first, without what costs the forge more than the commits do."""
    few = (("limit", "1"), ("stat", "false"), ("verification", "false"), ("files", "false"))
    start = () if branch is None else (("sha", branch),)
    return Call("GET", (*_repo(name), "commits"), (("path", path), *few, *start))


def commit(name: str, edit: Edit) -> Call:
    """Write files in one commit. Without a branch the forge takes the one that is the default now."""
    files = [
        {
            "operation": "create" if change.sha is None else "update",
            "path": change.path,
            "content": base64.b64encode(change.data).decode("ascii"),
            **({} if change.sha is None else {"sha": change.sha}),
        }
        for change in edit.changes
    ]
    branches = {"branch": edit.branch, "new_branch": edit.new_branch}
    named = {key: value for key, value in branches.items() if value is not None}
    return _once((*_repo(name), "contents"), {**named, "message": edit.message, "files": files})


def pull(name: str, base: str, head: str) -> Call:
    """The pull request from one branch into another, open or not."""
    return Call("GET", (*_repo(name), "pulls", base, head))


def open_pulls(name: str, base: str, page: int) -> Call:
    """The open pull requests into a branch."""
    return Call("GET", (*_repo(name), "pulls"), (("state", "open"), ("base_branch", base), *_page(page)))


def propose(name: str, *, base: str, head: str, title: str, body: str) -> Call:
    """Open a pull request."""
    return _once((*_repo(name), "pulls"), {"base": base, "head": head, "title": title, "body": body})


def labels_of_repo(name: str, page: int) -> Call:
    """The labels of a repository alone."""
    return Call("GET", (*_repo(name), "labels"), _page(page))


def labels_of_org(org: str, page: int) -> Call:
    """The labels that an organization's repositories share. There is no such list of a user."""
    return Call("GET", ("orgs", org, "labels"), _page(page))


def file_issue(name: str, *, title: str, body: str, labels: Sequence[int]) -> Call:
    """File an issue with labels by id."""
    return _once((*_repo(name), "issues"), {"title": title, "body": body, "labels": list(labels)})


def issues(name: str, since: str, page: int) -> Call:
    """Issues, open and closed, that changed ``since`` (RFC 3339), newest first."""
    query = (("state", "all"), ("type", "issues"), ("since", since))
    return Call("GET", (*_repo(name), "issues"), (*query, *_page(page)))


def _once(segments: tuple[str, ...], form: Mapping[str, object]) -> Call:
    """What writes, and so is never sent again by itself. (JSON in ASCII: there is nothing that cannot be sent.)"""
    return Call("POST", segments, body=json.dumps(form).encode("ascii"), idempotent=False)


def _repo(name: str) -> tuple[str, ...]:
    return ("repos", *name.split("/"))


def _page(page: int) -> tuple[tuple[str, str], ...]:
    return (("limit", str(REPO_PAGE)), ("page", str(page)))


def _ref(ref: str | None) -> tuple[tuple[str, str], ...]:
    return () if ref is None else (("ref", ref),)


def _encoded(segment: str) -> str:
    # Dots alone would be taken for the folder above, by this side or by a proxy on the way.
    return quote(segment, safe="") if segment.strip(".") else segment.replace(".", "%2E")
