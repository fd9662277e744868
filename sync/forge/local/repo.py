"""Opening one repository on disk: where its parts are, and the settings that decide how they are read.

The parts (gitrepository-layout): the *folder* that people see; the *control* folder (``.git``, or what a ``.git``
file names, or the folder itself where the repository is bare); and the *common* folder with objects and references,
which linked working trees share (``commondir``). These may lie anywhere; they are only ever read as git's own files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from sync.files.opening import Irregular, Oversized, open_folder, read_regular
from sync.forge.local.config import RepoConfig, parse_config
from sync.forge.local.layout import GIT, MAX_POINTER, Damaged, NoRepository, gitfile_target, has_git, is_bare
from sync.forge.local.objects import Objects
from sync.forge.local.refs import RefFolders, Tip, read_ref, resolve_head
from sync.forge.local.reftable import Record
from sync.forge.local.worktree import WorkingTree

MAX_CONFIG: Final = 1024 * 1024  # bytes; they take longer to read than any other


@dataclass(frozen=True, slots=True)
class Repository:
    """An open repository, with its working tree where it has one."""

    working_tree: WorkingTree | None
    refs: RefFolders
    config: RepoConfig
    objects: Objects

    def tip(self) -> Tip:
        """Where HEAD points now."""
        return resolve_head(self.refs, reftable=self.config.reftable, name_size=self.config.object_format.oid_length)

    def ref(self, name: bytes) -> Record | None:
        """The reference ``name``, not followed."""
        size = self.config.object_format.oid_length
        return read_ref(self.refs, name, reftable=self.config.reftable, name_size=size)


@contextmanager
def opened(folder: int) -> Iterator[Repository]:
    """The repository in the open folder ``folder``, for the length of a block.

    Raises :class:`NoRepository`, :class:`Damaged` and ``OSError``."""
    with ExitStack() as stack:
        control, has_working_tree = _open_control(folder, stack)
        common = _open_common(control, stack)
        config = _read_config(control, common)
        if common == control and config.bare:  # a linked working tree shares the setting, which is not about it
            has_working_tree = False
        try:
            objects = Objects(common, config.object_format)
        except FileNotFoundError:
            raise Damaged("its objects folder is missing") from None
        stack.callback(objects.close)
        working_tree = WorkingTree(folder) if has_working_tree else None
        if working_tree is not None:
            stack.callback(working_tree.close)
        yield Repository(working_tree, RefFolders(control, common), config, objects)


def _open_control(folder: int, stack: ExitStack) -> tuple[int, bool]:
    """The control folder, and whether the repository is laid out with a working tree."""
    if not has_git(folder):
        if not is_bare(folder):
            raise NoRepository
        return folder, False
    if stat.S_ISDIR(os.stat(GIT, dir_fd=folder).st_mode):
        return _enter(GIT, folder, stack), True
    target = gitfile_target(folder)
    if target is None:
        raise NoRepository
    try:
        return _enter(target, folder, stack), True
    except (FileNotFoundError, NotADirectoryError):
        raise Damaged("its .git file names a folder that is not there (git worktree repair may mend it)") from None


def _open_common(control: int, stack: ExitStack) -> int:
    try:
        text = read_regular("commondir", at=control, limit=MAX_POINTER)
    except FileNotFoundError:
        return control
    except (Irregular, Oversized):
        raise Damaged("its commondir file is malformed") from None
    path = text.rstrip(b"\r\n")
    if not path or b"\0" in path:
        raise Damaged("its commondir file is malformed")
    return _enter(os.fsdecode(path), control, stack)


def _read_config(control: int, common: int) -> RepoConfig:
    try:
        text = _read_optional("config", common)
        config = parse_config(text)
        if config.per_worktree:
            config = parse_config(text, _read_optional("config.worktree", control))
    except (ValueError, IndexError, Irregular, Oversized) as error:
        raise Damaged("its config is malformed") from error
    return config


def _read_optional(name: str, at: int) -> bytes:
    try:
        return read_regular(name, at=at, limit=MAX_CONFIG)
    except FileNotFoundError:
        return b""


def _enter(path: str, at: int, stack: ExitStack) -> int:
    descriptor = open_folder(path, at=at, follow=True)
    stack.callback(os.close, descriptor)
    return descriptor
