"""A response's body as it arrives: bounded, its content coding undone. Pure.

Decoded here and not by the HTTP library because that takes a gzip stream that ends early for a whole one, and
inflates a chunk without a bound.
"""

from __future__ import annotations

import zlib

_GZIP = 16 + zlib.MAX_WBITS  # zlib's name for: with a gzip header and trailer
_OVERHEAD = 64 * 1024  # bytes that a coding may add to what does not compress


class BodyTooLarge(ValueError):
    """More bytes than the limit."""


class BodyGarbled(ValueError):
    """Not what the content coding says; the message is why."""


class BoundedBody:
    """Collects at most ``limit`` bytes of a body that is in ``coding``, a value of ``Content-Encoding``
    (RFC 9110, section 8.4): only gzip is asked for, so only gzip is taken."""

    def __init__(self, limit: int, coding: str = "") -> None:
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip"):
            raise BodyGarbled("a content coding that was not asked for")
        self._limit = limit
        self._received = 0
        self._size = 0
        self._parts: list[bytes] = []
        self._gzipped = coding.endswith("gzip")
        self._inflater = zlib.decompressobj(_GZIP)

    def add(self, chunk: bytes) -> None:
        """Take the next bytes off the wire. Raises ``BodyTooLarge`` or ``BodyGarbled``."""
        self._received += len(chunk)
        if not self._gzipped:
            self._keep(chunk)
            return
        if self._received > self._limit + _OVERHEAD:
            raise BodyTooLarge
        while chunk:
            if self._inflater.eof:  # a further member (RFC 1952, section 2.2)
                self._inflater = zlib.decompressobj(_GZIP)
            try:
                self._keep(self._inflater.decompress(chunk, self._limit - self._size + 1))
            except zlib.error:
                raise BodyGarbled("damaged gzip") from None
            chunk = self._inflater.unconsumed_tail or self._inflater.unused_data

    def finish(self) -> bytes:
        """The whole body. Raises ``BodyGarbled`` when a compressed one ended early."""
        if self._gzipped and self._received and not self._inflater.eof:
            raise BodyGarbled("gzip that ends early")
        return b"".join(self._parts)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            raise BodyTooLarge
        self._parts.append(part)
