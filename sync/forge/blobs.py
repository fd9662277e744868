"""Git's names of blobs. Pure."""

from __future__ import annotations

import hashlib

SHA256_DIGITS = 64  # of an object's name in a repository whose object format is sha256


def blob_sha(data: bytes) -> str:
    """Git's name for a blob, in a SHA-1 repository."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def blob_name(data: bytes, like: str) -> str:
    """Git's name for a blob in the repository that has an object called ``like``."""
    if len(like) == SHA256_DIGITS:
        return hashlib.sha256(b"blob %d\0" % len(data) + data).hexdigest()
    return blob_sha(data)
