"""One HTTP request and its response as plain data, and why there may be no response. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from cache.errors import Unavailable

_VISIBLE = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Request:
    """``url`` is absolute and encoded. ``limit`` bounds the response's body, decoded, in bytes. What is not
    ``idempotent`` is sent at most once. Headers are left out of the representation: one may be a credential."""

    method: str
    url: str
    limit: int
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    idempotent: bool = True


@dataclass(frozen=True, slots=True)
class Response:
    """Names of ``headers`` are in lower case; ``body`` is whole, with any content coding undone."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


class Trouble(StrEnum):
    """At what an exchange failed."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    UNTRUSTED = "untrusted"  # the certificate is of an authority that is not known here
    EXPIRED = "expired"  # the certificate is not valid at this time, by this machine's clock
    MISNAMED = "misnamed"  # the certificate is for another host
    PROXY = "proxy"
    LOST = "lost"  # the connection broke after it was made
    GARBLED = "garbled"  # what came is not HTTP, or not in its declared coding
    BUSY = "busy"  # the host asks not to be asked now
    WRONG = "wrong"  # it answers, but not as a forge does


BY_TLS = frozenset({Trouble.TLS, Trouble.UNTRUSTED, Trouble.EXPIRED, Trouble.MISNAMED})
CONNECTING = frozenset({Trouble.DNS, Trouble.CONNECT, Trouble.PROXY}) | BY_TLS


class Unreachable(Unavailable):
    """``host`` gave no usable answer: ``<host> unreachable: <why>``."""

    def __init__(self, host: str, trouble: Trouble, why: str) -> None:
        super().__init__(f"{host} unreachable: {why}", host=host)
        self.trouble = trouble
        self.why = why

    @property
    def unsent(self) -> bool:
        """Whether it failed before any request could be sent."""
        return self.trouble in CONNECTING


def host_of(url: str) -> str:
    """What an error calls the host of ``url``: its name, with the port where the URL has one, without user names."""
    return urlsplit(url).netloc.rpartition("@")[2]


def is_http_url(url: str) -> bool:
    """Whether ``url`` names a server to speak HTTP with."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return named and parts.scheme in ("http", "https") and _VISIBLE.fullmatch(url) is not None
