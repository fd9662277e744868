"""What a file of a repository may be, in git's terms, for all who make repositories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FILE: Final = 0o100644
EXECUTABLE: Final = 0o100755
SYMLINK: Final = 0o120000
SUBMODULE: Final = 0o160000
TREE: Final = 0o040000


@dataclass(frozen=True, slots=True)
class Symlink:
    """A file that is a symbolic link to ``target``."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """An entry that is the ``commit`` of another repository (in the tree only)."""

    commit: str


FileContent = str | bytes | Symlink | Submodule
