"""Which branch of a local repository is its default one: there is no forge to say so."""

from __future__ import annotations

from typing import Final

from dulwich.refs import Ref, check_ref_format

from sync.forge.local.repo import Repository

_HEADS: Final = b"refs/heads/"
_ORIGIN: Final = b"refs/remotes/origin/"
_USUAL: Final = ("main", "master")


def default_branch(repository: Repository, checked_out: str | None) -> str:
    """The default branch of a repository that has the branch ``checked_out`` (``None``: a detached HEAD).

    That is what ``init.defaultBranch`` in the repository's own configuration names; else the default branch of what it
    was cloned from (``refs/remotes/origin/HEAD``); else ``main`` or ``master``, where there is one; else the one that
    is checked out, which is what a clone of it would take. Nobody's personal configuration is read."""
    if repository.config.default_branch is not None:
        return repository.config.default_branch
    origin = repository.ref(_ORIGIN + b"HEAD")
    if origin is not None and origin.target is not None and origin.target.startswith(_ORIGIN):
        return origin.target.removeprefix(_ORIGIN).decode("utf-8", "replace")
    for name in _USUAL:
        if repository.ref(_HEADS + name.encode()) is not None:
            return name
    return checked_out or _USUAL[0]


def branch_head(repository: Repository, branch: str) -> str | None:
    """The commit at the tip of ``branch``; ``None``: there is no such branch."""
    name = _HEADS + branch.encode("utf-8", "replace")
    record = repository.ref(name) if check_ref_format(Ref(name)) else None
    return record.object_name if record is not None else None
