"""What can go wrong between a forge and its client, as data: an effect, and when it strikes.

``forge.faults.add(Reply(503, headers={"retry-after": "1"}), route="/user/repos", times=2)``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tests.fake_gitea.log import Exchange


@dataclass(frozen=True)
class Delay:
    """Everything takes ``seconds`` longer. (Delays add up, and another effect may strike too.)"""

    seconds: float


@dataclass(frozen=True)
class Reply:
    """Somebody else answers, such as a proxy: the forge never hears of the request."""

    status: int
    body: str = ""
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Json:
    """The forge's answer, but with ``value`` as its body."""

    value: object


@dataclass(frozen=True)
class NullEntries:
    """The forge's answer, but with a ``null`` in its list before each of ``positions``."""

    positions: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Headers:
    """The forge's answer with more ``headers``, such as a proxy's about its limits."""

    headers: Mapping[str, str]


@dataclass(frozen=True)
class Gzip:
    """The forge's answer, compressed; the last ``cut`` bytes are missing although the length is right."""

    cut: int = 0


@dataclass(frozen=True)
class CutBody:
    """The forge's answer, of which half arrives before the connection ends."""


@dataclass(frozen=True)
class Trickle:
    """The forge's answer in pieces of ``size`` bytes, with ``pause`` seconds before each."""

    pause: float = 0.01
    size: int = 1


@dataclass(frozen=True)
class Endless:
    """Status 200 and a body that never ends."""

    chunk: str = " " * 65536
    content_type: str = "application/json;charset=utf-8"


@dataclass(frozen=True)
class Reset:
    """The connection is reset: before the forge hears of the request, or ``after`` it did as asked."""

    after: bool = False


@dataclass(frozen=True)
class Hang:
    """No answer ever comes: ``after`` says whether the forge did as asked."""

    after: bool = False


Effect = Delay | Reply | Json | NullEntries | Headers | Gzip | CutBody | Trickle | Endless | Reset | Hang


@dataclass
class When:
    """Which requests an effect strikes: patterns (with ``*``) of the method, the route's template and the escaped
    path, whose token it is, how many such requests to leave alone first, and how many to strike (``None``: all)."""

    method: str = "*"
    route: str = "*"
    path: str = "*"
    user: str | None = None
    skip: int = 0
    times: int | None = None

    def strikes(self, exchange: Exchange) -> bool:
        """Whether it strikes this request; each one that fits counts."""
        fits = (
            fnmatchcase(exchange.method, self.method)
            and fnmatchcase(exchange.route, self.route)
            and fnmatchcase(exchange.path, self.path)
            and self.user in {None, exchange.user}
        )
        if not fits or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True


@dataclass
class Faults:
    """The effects in force. The first that strikes a request wins, besides delays."""

    rules: list[tuple[Effect, When]] = field(default_factory=list)

    def add(
        self,
        effect: Effect,
        *,
        method: str = "*",
        route: str = "*",
        path: str = "*",
        user: str | None = None,
        skip: int = 0,
        times: int | None = None,
    ) -> None:
        """Let ``effect`` strike the requests that fit (see :class:`When`)."""
        self.rules.append((effect, When(method, route, path, user, skip, times)))

    def clear(self) -> None:
        self.rules.clear()

    def on(self, exchange: Exchange) -> tuple[float, Effect | None]:
        """The seconds by which a request is delayed, and what else happens to it."""
        delay, struck = 0.0, None
        for effect, when in self.rules:
            if (isinstance(effect, Delay) or struck is None) and when.strikes(exchange):
                if isinstance(effect, Delay):
                    delay += effect.seconds
                else:
                    struck = effect
        return delay, struck


def too_many(retry_after: str) -> Reply:
    """``429`` as a hosted instance's proxy sends it; ``retry_after`` is seconds or an HTTP date."""
    return Reply(429, "Too Many Requests\n", "text/plain; charset=utf-8", {"retry-after": retry_after})


def unavailable(retry_after: str | None = None) -> Reply:
    """``503`` while a forge restarts."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Reply(503, "<html><body><h1>503 Service Unavailable</h1></body></html>", headers=headers)


def web_page(status: int = 200) -> Reply:
    """A proxy's page for people, where JSON was expected."""
    return Reply(status, "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in</body></html>\n")


def redirect(location: str, status: int = 302) -> Reply:
    """A redirect, maybe to another host."""
    return Reply(status, headers={"location": location})
