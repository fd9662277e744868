"""Whether a token stands anywhere that it must not: the one that whole processes are configured with, or the one of
most tests in this process."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path

from tests.support.gitea_client import ALICE
from tests.support.installation import TOKEN


def forms(token: str) -> tuple[bytes, ...]:
    """As which a token may stand in a file: as it is, in UTF-16, in base64 (wherever in a longer text it begins)."""
    plain = token.encode()
    coded = (base64.b64encode(b"\0" * before + plain)[before and 4 : -4] for before in range(3))
    return (plain, token.encode("utf-16-le"), *coded)


FORMS = (*forms(TOKEN), *forms(ALICE))


def holding(files: Iterable[Path]) -> list[Path]:
    """Those of ``files`` in which the token stands."""
    return [file for file in files if any(form in file.read_bytes() for form in FORMS)]


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
