"""Which repositories there are below the configured roots, and which folder a repository's name means.

Names are ``local/<path below the root>``; with several roots the root's folder name comes first, and a root that is
itself a repository is ``local/<its folder name>``. Symbolic links are never followed, except those that a configured
path has. A folder belongs to the innermost root that holds it, so that nested roots list nothing twice.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cache.errors import InvalidArgument, NotConfigured, NotFound, Unavailable
from sync.files.opening import enter, folder, open_folder
from sync.forge.local.layout import GIT, gitfile_target, has_git, is_bare

HOST: Final = "local"
PREFIX: Final = "local/"
MAX_NAME: Final = 1_000  # code points of a project's name; no caller may give a longer one

_BARE: Final = frozenset({"HEAD", "objects", "refs"})
_TELLING: Final = _BARE | {GIT}  # names that tell a repository
_NO_PARTS: Final = frozenset({"", ".", "..", GIT})
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK})  # or swapped for a link
# What no name can hold, since it goes into terminals, JSON and a database of Unicode text: controls, line separators,
# signs that turn the direction of what follows, surrogates.
_UNNAMEABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Found:
    """A repository's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """The name of a folder that could not be looked into."""

    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """The open ``folder`` that a name means, and its real path."""

    folder: int
    path: Path

    @property
    def project_id(self) -> int:
        """A positive number of 63 bits that stays the same as long as the path does."""
        hashed = hashlib.sha256(os.fsencode(self.path)).digest()
        return int.from_bytes(hashed[:8], "big") >> 1 or 1


@dataclass(frozen=True, slots=True)
class _Root:
    path: Path  # absolute, as configured
    label: str  # its folder name

    @property
    def real(self) -> Path:
        return Path(os.path.realpath(self.path))


@dataclass(frozen=True, slots=True)
class _Look:
    """What the entries of one folder tell."""

    is_repository: bool
    folders: tuple[str, ...]  # to look into, sorted
    control: Path | None = None  # the real path of what its .git file names


class Roots:
    """The configured folders. Raises :class:`NotConfigured` without any, :class:`InvalidArgument` where two have the
    same name."""

    def __init__(self, roots: Sequence[Path]) -> None:
        paths = dict.fromkeys(Path(os.path.normpath(root.absolute())) for root in roots)
        self._roots = [_Root(path, path.name or "root") for path in paths]
        if not self._roots:
            raise NotConfigured('no folder with repositories — set roots under [forge], such as roots = ["~/src"]')
        labels = [root.label.casefold() for root in self._roots]
        for label in labels:
            if labels.count(label) > 1:
                raise InvalidArgument(
                    f"two roots under [forge] have the folder name {label}, so their projects could not be told apart"
                    " — rename one of the folders, or give the folder that holds both",
                    argument="roots",
                )
            if _UNNAMEABLE.search(label):
                raise InvalidArgument(
                    f"the root {_shown(label)} under [forge] has a name that is no text — rename the folder",
                    argument="roots",
                )

    def walk(self) -> Iterator[Found | Hidden]:
        """All repositories, depth first, by name. Blocks. Raises :class:`Unavailable` when a root cannot be read."""
        before = [_identity(root) for root in self._roots]
        walked: set[Path] = set()
        for root in self._roots:
            if root.real not in walked:  # two paths may lead to one folder
                walked.add(root.real)
                yield from self._walk(root)
        if [_identity(root) for root in self._roots] != before:  # unmounted, most likely: all seemed to be gone
            raise Unavailable("a root under [forge] was replaced while it was listed", host=HOST)

    @contextmanager
    def open(self, name: str) -> Iterator[Place]:
        """The folder that ``name`` means, for the length of a block. Blocks.

        Raises :class:`NotFound`, :class:`Unavailable` when its root cannot be read, ``PermissionError``."""
        root, parts = self._locate(name)
        if not parts and not self._is_repository(root):
            parts = (root.label,)
        path = root.real
        inner = self._inner(root)
        with _root_folder(root) as top:
            current = os.dup(top)
            try:
                for part in parts:
                    path /= part
                    try:
                        current = enter(part, at=current)
                    except OSError as error:
                        if error.errno in _GONE or error.errno == errno.ENAMETOOLONG:
                            raise _unknown(name) from None
                        raise
                    if inner and path in inner:
                        raise _unknown(name)
                yield Place(current, path)
            finally:
                os.close(current)

    def _locate(self, name: str) -> tuple[_Root, tuple[str, ...]]:
        """A root, and the parts of the path below it; none where the name may mean the root itself."""
        parts = tuple(name.removeprefix(PREFIX).split("/"))
        if not name.startswith(PREFIX) or _UNNAMEABLE.search(name) or any(part in _NO_PARTS for part in parts):
            raise _unknown(name)
        if len(self._roots) == 1:
            root = self._roots[0]
            return root, () if parts == (root.label,) else parts
        for root in self._roots:
            if root.label == parts[0]:
                return root, parts[1:]
        raise _unknown(name)

    def _name(self, root: _Root, parts: tuple[str, ...]) -> str:
        labelled = len(self._roots) > 1 or not parts
        return PREFIX + "/".join((root.label, *parts) if labelled else parts)

    def _inner(self, root: _Root) -> set[Path]:
        """The other roots, which are theirs where they lie inside this one."""
        others = [other.real for other in self._roots if other is not root]
        return set(others) - {root.real} if others else set()

    def _is_repository(self, root: _Root) -> bool:
        if len(self._roots) > 1:
            return True  # no other folder can have its name
        with _root_folder(root) as descriptor:
            return has_git(descriptor) or is_bare(descriptor)

    def _walk(self, root: _Root) -> Iterator[Found | Hidden]:
        real = root.real
        inner = self._inner(root)
        controls: set[Path] = set()
        names: set[str] = set()
        to_do: list[tuple[str, ...]] = [()]
        while to_do:
            parts = to_do.pop()
            name, path = self._name(root, parts), real.joinpath(*parts)
            if _UNNAMEABLE.search(name):
                yield Hidden(_shown(name))
                continue
            if len(name) > MAX_NAME or path in controls or path in inner:
                continue
            try:
                look = _look_into(path)
            except OSError as error:
                if not parts:
                    raise _unreadable(root, error) from error
                if error.errno not in _GONE:
                    yield Hidden(name)
                continue
            if look.control is not None:
                controls.add(look.control)
            if look.is_repository and name not in names:
                names.add(name)
                yield Found(name)
            to_do += [(*parts, below) for below in reversed(look.folders)]


def _look_into(path: Path) -> _Look:
    with folder(str(path)) as descriptor:
        telling: dict[str, bool] = {}
        below: list[str] = []  # folders alone: there may be any number of files
        with os.scandir(descriptor) as scan:
            for entry in scan:
                is_folder = _may_be_folder(entry)
                if entry.name in _TELLING:
                    telling[entry.name] = is_folder
                if is_folder and entry.name != GIT:
                    below.append(entry.name)
        if telling.keys() == _BARE and is_bare(descriptor):
            return _Look(is_repository=True, folders=())
        is_repository = GIT in telling and has_git(descriptor)
        control = _named_control(descriptor, path) if is_repository and not telling[GIT] else None
    return _Look(is_repository, tuple(sorted(below)), control)


def _named_control(descriptor: int, path: Path) -> Path | None:
    try:
        target = gitfile_target(descriptor)
    except OSError:
        return None  # reading the repository tells
    return Path(os.path.realpath(path / target)) if target is not None else None


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return True  # opening it tells


@contextmanager
def _root_folder(root: _Root) -> Iterator[int]:
    try:
        descriptor = open_folder(str(root.path), follow=True)
    except OSError as error:
        raise _unreadable(root, error) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _identity(root: _Root) -> tuple[int, int]:
    try:
        status = root.path.stat()
    except OSError as error:
        raise _unreadable(root, error) from error
    return status.st_dev, status.st_ino


def _unreadable(root: _Root, error: OSError) -> Unavailable:
    why = os.strerror(error.errno).lower() if error.errno else "unknown error"
    return Unavailable(f"the root {root.label} cannot be read: {why} — mend roots under [forge]", host=HOST)


def _unknown(name: str) -> NotFound:
    return NotFound(f"no repository {_shown(name)} below the roots")


def _shown(name: str) -> str:
    """``name`` with U+FFFD for what no name can hold."""
    return _UNNAMEABLE.sub("\N{REPLACEMENT CHARACTER}", name)
