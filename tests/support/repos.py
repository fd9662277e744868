"""Small real git repositories, made with dulwich: no git executable, no user configuration, fixed dates.

``make_repo(path, {"STATUS.md": "# Status\n", ".wiki/a.md": b"..."})`` makes one with one commit;
``commit_files(path, {"STATUS.md": "new", ".wiki/a.md": None})`` adds a commit that changes one file and removes
another. In a working repository both also write the working tree and the index.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dulwich.index import Index, commit_tree, index_entry_from_stat
from dulwich.object_store import iter_tree_contents
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import HEADREF
from dulwich.repo import Repo

from tests.support.git_files import FILE, SUBMODULE, SYMLINK, FileContent, Submodule, Symlink

FIRST_COMMIT_AT: Final = 1_700_000_000  # seconds since the UTC epoch; each further commit is a minute later
AUTHOR: Final = b"A U Thor <author@example.test>"


def make_repo(
    path: Path,
    files: Mapping[str, FileContent],
    *,
    bare: bool = False,
    branch: str = "main",
    object_format: str = "sha1",
) -> Path:
    """Make a repository at ``path`` whose ``branch`` has one commit with ``files`` (no commit where there are none)."""
    path.mkdir(parents=True, exist_ok=True)
    init = Repo.init_bare if bare else Repo.init
    init(path, default_branch=branch.encode(), object_format=object_format).close()
    if files:
        commit_files(path, files)
    return path


def commit_files(path: Path, files: Mapping[str, FileContent | None], *, at: int | None = None) -> str:
    """Commit ``files`` (``None`` removes one) on top of HEAD and return the commit's name.

    ``at`` is its date in seconds since the UTC epoch; by default a minute after its parent's.
    """
    with Repo(path) as repo:
        parent = _tip(repo)
        entries = {} if parent is None else _contents(repo, parent)
        for file, content in files.items():
            entries.pop(file.encode(), None)
            if content is not None:
                entries[file.encode()] = _store(repo, content)
        blobs = [(file, sha, mode) for file, (mode, sha) in entries.items()]
        commit = Commit()
        commit.tree = commit_tree(repo.object_store, blobs, repo.object_format)
        commit.parents = [] if parent is None else [ObjectID(parent.get_id(repo.object_format))]
        commit.author = commit.committer = AUTHOR
        commit.author_time = commit.commit_time = at if at is not None else _next_time(parent)
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = b"Change some files\n"
        repo.object_store.add_object(commit)
        name = ObjectID(commit.get_id(repo.object_format))
        _move_head(repo, name)
        if not repo.bare:
            _write_working_tree(Path(repo.path), files)
            _write_index(repo, entries)
        return name.decode()


def _tip(repo: Repo) -> Commit | None:
    try:
        tip = repo[repo.refs[HEADREF]]
    except KeyError:
        return None
    assert isinstance(tip, Commit)
    return tip


def _next_time(parent: Commit | None) -> int:
    return FIRST_COMMIT_AT if parent is None else parent.commit_time + 60


def _contents(repo: Repo, commit: Commit) -> dict[bytes, tuple[int, ObjectID]]:
    entries = iter_tree_contents(repo.object_store, commit.tree)
    return {entry.path: (entry.mode, entry.sha) for entry in entries}


def _store(repo: Repo, content: FileContent) -> tuple[int, ObjectID]:
    if isinstance(content, Submodule):
        return SUBMODULE, ObjectID(content.commit.encode())
    data = content.target if isinstance(content, Symlink) else content
    blob = Blob.from_string(data.encode() if isinstance(data, str) else data)
    repo.object_store.add_object(blob)
    return SYMLINK if isinstance(content, Symlink) else FILE, ObjectID(blob.get_id(repo.object_format))


def _move_head(repo: Repo, commit: ObjectID) -> None:
    """Move the branch that HEAD names, or a detached HEAD itself; no reflog, which would need a user."""
    chain, _ = repo.refs.follow(HEADREF)
    repo.refs.set_if_equals(chain[-1], None, commit, committer=AUTHOR, timestamp=FIRST_COMMIT_AT, timezone=0)


def _write_working_tree(root: Path, files: Mapping[str, FileContent | None]) -> None:
    for name, content in files.items():
        file = root / name
        file.unlink(missing_ok=True)
        if content is None or isinstance(content, Submodule):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Symlink):
            file.symlink_to(content.target)
        else:
            file.write_bytes(content.encode() if isinstance(content, str) else content)


def _write_index(repo: Repo, entries: Mapping[bytes, tuple[int, ObjectID]]) -> None:
    index = Index(repo.index_path(), read=False, object_format=repo.object_format)
    for name, (mode, sha) in entries.items():
        file = Path(repo.path) / name.decode()
        if mode != SUBMODULE and (file.is_symlink() or file.exists()):
            index[name] = index_entry_from_stat(file.lstat(), sha, mode)
    index.write()
