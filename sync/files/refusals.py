"""What a file system says while something is written, as the line that its user needs."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cache.errors import Denied, Unavailable, shown

MAX_MESSAGE: Final = 1_000  # code points

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN: Final = frozenset({errno.EACCES, errno.EPERM})
_UNNAMEABLE: Final = frozenset({errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})


@contextmanager
def refusing(what: str, *, host: str = "") -> Iterator[None]:
    """Turn an ``OSError`` of the block, in which ``what`` is written, into ``Denied`` or ``Unavailable``."""
    try:
        yield
    except OSError as error:
        raise _refusal(error, what, host) from error


def _refusal(error: OSError, what: str, host: str) -> Denied | Unavailable:
    if error.errno in _FULL:
        return _denied(f"no space is left to write {what} — free some; nothing was written", host)
    if error.errno == errno.EROFS:
        return _denied(f"{what} is on a read-only file system — mount it for writing", host)
    if error.errno in _FORBIDDEN:
        return _denied(f"no permission to write {what} — let the gateway's user write its folders", host)
    if error.errno in _UNNAMEABLE:
        return _denied(f"a name is too long or not allowed where {what} is — choose another name", host)
    return Unavailable(f"{what} cannot be written: {error.strerror or 'output error'}", host=host)


def _denied(message: str, host: str) -> Denied:
    return Denied(shown(message, MAX_MESSAGE), host=host)
