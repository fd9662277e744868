"""Why a local repository is not written, each on its own line with the remedy. What decides is pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from dulwich.index import validate_path, validate_path_element_hfs, validate_path_element_ntfs

from cache.errors import Denied, shown
from sync.files.refusals import MAX_MESSAGE
from sync.forge.base import Absent, Answer, File, Refused
from sync.forge.local.discovery import HOST
from sync.forge.local.files import is_safe
from sync.forge.local.index import Hold
from sync.forge.local.view import OVERLAID
from sync.forge.local.worktree import MAX_DEPTH
from sync.forge.writing import Change, Edit, Moved

_REMEDIES: Final = {
    "a symbolic link": "put a real file or folder in its place",
    "a submodule": "write to the repository that it is",
    "a directory": "choose another name",
    "a file": "choose another name",
}
_HOLDS: Final = {
    Hold.UNMERGED: "has a merge conflict — settle it and git add it first",
    Hold.SUBMODULE: "belongs to a submodule — write to the repository that it belongs to",
}


def denied(message: str) -> Denied:
    """A refusal, in which names of any kind may be repeated."""
    return Denied(shown(message, MAX_MESSAGE), host=HOST)


def in_the_way(project: str, path: str, what: str) -> Denied:
    """``what`` is at ``path`` or on the way to it, so that no file can be there."""
    return denied(f"{what} is in the way of {path} in {project} — {_REMEDIES[what]}")


def demand_paths(project: str, edit: Edit) -> None:
    """Raise ``Denied`` where ``edit`` goes elsewhere than to files of the folders that are written."""
    if edit.new_branch is not None:
        raise denied(f"{project} is a local repository, where no branches are made — write to the one checked out")
    for change in edit.changes:
        path = change.path
        if not path.startswith(OVERLAID):
            raise denied(f"{path} is not below {' or '.join(OVERLAID)}, the only folders that are written")
        if not (is_safe(path) and path.isprintable() and _is_nobodys_git(path)) or path.count("/") > MAX_DEPTH:
            raise denied(f"{path} cannot be the name of a file — choose another")


def demand_branch(project: str, edit: Edit, *, checked_out: str | None, default: str) -> None:
    """Raise ``Denied`` unless the ``default`` branch is ``checked_out`` (``None``: a detached HEAD) and meant."""
    remedy = f"check out {default} first"
    if checked_out is None:
        raise denied(f"{project} has no branch checked out, but a commit — {remedy}")
    if checked_out != default:
        raise denied(
            f"{project} has {checked_out} checked out, not its default branch {default} — {remedy}, or set"
            " init.defaultBranch in the repository's own git configuration"
        )
    if edit.branch not in (None, checked_out):
        raise denied(f"{project} has {checked_out} checked out, not {edit.branch} — write to {checked_out}")


def demand_free(project: str, holds: Mapping[str, Hold]) -> None:
    """Raise ``Denied`` for the first path that git's index holds."""
    for path, why in holds.items():
        raise denied(f"{path} in {project} {_HOLDS[why]}")


def demand_unmoved(project: str, changes: Sequence[Change], answers: Iterable[Answer]) -> None:
    """Compare what is read now with what each change is over. Raises ``Moved``; ``Denied`` where no file can be."""
    moved = []
    for change, answer in zip(changes, answers, strict=True):
        if isinstance(answer, Refused):
            raise in_the_way(project, change.path, answer.reason)
        same = answer.sha == change.sha if isinstance(answer, File) else change.sha is None
        if not same or not isinstance(answer, File | Absent):  # what is too large was never read
            moved.append(change.path)
    if moved:
        raise Moved(tuple(moved))


def other_spelling(name: str, names: Iterable[str]) -> str | None:
    """How a folder that opens as ``name`` is spelled among ``names``, where the file system takes both for one;
    ``None`` if it is spelled so. Unicode forms alone do not count: some file systems have but one."""
    wanted = unicodedata.normalize("NFC", name)
    spelled = [unicodedata.normalize("NFC", listed) for listed in names]
    if wanted in spelled:
        return None
    return next((listed for listed in spelled if listed.casefold() == wanted.casefold()), None)


def _is_nobodys_git(path: str) -> bool:
    """Whether no system takes a part of ``path`` for ``.git``."""
    name = path.encode()
    return validate_path(name, validate_path_element_ntfs) and validate_path(name, validate_path_element_hfs)
