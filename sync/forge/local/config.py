"""The few settings of a repository that decide how it is read. Pure.

Nothing that a configuration names is run, included or followed: neither hooks nor filters, ``include.path`` or
``core.worktree``.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Final

from dulwich.config import ConfigFile
from dulwich.object_format import OBJECT_FORMATS, SHA1, ObjectFormat

from sync.forge.local.layout import Damaged

_TRUE = frozenset({b"true", b"yes", b"on", b"1"})
_DECISIVE: Final = (b"extensions", b"repositoryformatversion", b"bare", b"autocrlf", b"defaultbranch")
_ORDINARY: Final = (b"repositoryformatversion = 0\n", b"bare = false\n")


@dataclass(frozen=True, slots=True)
class RepoConfig:
    """``bare``: ``core.bare`` is set. ``reftable``: references are stored in tables. ``line_ends``: text may have
    other line ends in the working tree than in commits (``core.autocrlf``). ``default_branch``: what the repository's
    own ``init.defaultBranch`` names."""

    object_format: ObjectFormat = SHA1
    reftable: bool = False
    bare: bool = False
    line_ends: bool = False
    per_worktree: bool = False
    default_branch: str | None = None


def parse_config(common: bytes, own: bytes = b"") -> RepoConfig:
    """The settings in the bytes of ``config`` and, below it, of ``config.worktree``.

    Raises :class:`Damaged` for a format that cannot be read, ``ValueError`` for text that is no configuration."""
    plain = (common + own).lower()
    for line in _ORDINARY:
        plain = plain.replace(line, b"\n")
    if not any(word in plain for word in _DECISIVE):
        return RepoConfig()  # most repositories: parsing would be a fifth of what listing one costs
    files = [ConfigFile.from_file(BytesIO(data), expand_includes=False) for data in (own, common) if data]

    def value(section: bytes, name: bytes) -> bytes:
        for file in files:
            try:
                return file.get((section,), name)
            except KeyError:
                continue
        return b""

    version = value(b"core", b"repositoryformatversion")
    if version not in (b"", b"0", b"1"):
        raise Damaged("it has a newer repository format")
    storage = value(b"extensions", b"refstorage").lower()
    if storage not in (b"", b"files", b"reftable"):
        raise Damaged("it has an unknown way to store references")
    named_format = value(b"extensions", b"objectformat").lower().decode("ascii", "replace")
    object_format = OBJECT_FORMATS.get(named_format or "sha1")
    if object_format is None:
        raise Damaged("it has an unknown object format")
    return RepoConfig(
        object_format=object_format,
        reftable=storage == b"reftable",
        bare=value(b"core", b"bare").lower() in _TRUE,
        line_ends=value(b"core", b"autocrlf").lower() in _TRUE | {b"input"},
        per_worktree=value(b"extensions", b"worktreeconfig").lower() in _TRUE,
        default_branch=value(b"init", b"defaultbranch").decode("utf-8", "replace") or None,
    )
