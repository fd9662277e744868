"""HTTP for everything that asks a server: one pool, bounded and adaptive concurrency, retries, deadlines, bodies
with a limit. The only importer of httpx2.

Redirects are never followed, cookies never kept, and nothing is read from the process's environment: what to trust
and which proxy to use is passed in. The transport is used without httpx2's client, which would do all three.
"""

from __future__ import annotations

import logging
import os
import socket
import ssl
from collections.abc import AsyncIterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2

from cache.errors import NotConfigured, TimedOut, TooLarge
from sync import retry
from sync.admission import Admission, Ticket, Timing, remaining
from sync.body import BodyGarbled, BodyTooLarge, BoundedBody
from sync.exchange import BY_TLS, Request, Response, Trouble, Unreachable, host_of, is_http_url
from sync.proxy import proxy_for

logger = logging.getLogger(__name__)

USER_AGENT = "gitea-knowledge-gateway"
MOST_CONNECTIONS = 10  # tried by one request, of a host that is up and down by turns
ERROR_PAGE = 64 * 1024  # bytes of an answer that is no success, whatever the limit
KEEP_ALIVE = 30.0  # seconds that an idle connection is kept
CERTIFICATES: Mapping[int, Trouble] = {  # by the codes that OpenSSL has for them (X509_V_ERR_…)
    **dict.fromkeys((2, 18, 19, 20, 21), Trouble.UNTRUSTED),
    **dict.fromkeys((9, 10), Trouble.EXPIRED),
    **dict.fromkeys((62, 64), Trouble.MISNAMED),
}


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How requests are sent. Durations in seconds.

    ``max_in_flight`` bounds the requests that one host is sent at once. ``ca_file`` holds certificates to trust
    besides the system's. ``patience`` is how long a host that goes down is waited for, from then on and by all
    together: little where somebody waits for the answer, more where a sync can sit a restart out. ``idle_timeout``
    bounds the time without a byte, ``attempt_timeout`` that of a whole exchange. ``environ`` names proxies, of which
    one may hold a password, and perhaps authorities to trust.
    """

    max_in_flight: int = 8
    ca_file: Path | None = None
    patience: float = 1.0
    connect_timeout: float = 5.0
    idle_timeout: float = 30.0
    attempt_timeout: float = 60.0
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class _Route:
    """Where connections go, and through which proxy."""

    origin: str
    proxy: str | None = field(repr=False)

    @property
    def tls(self) -> bool:
        return self.origin.startswith("https:")


@dataclass(frozen=True, slots=True)
class _Host:
    """A host, as errors call it, the way to it and its gate."""

    name: str
    route: _Route
    gate: Admission


class HttpClient:
    """Sends requests to any number of hosts and tells each one's failures apart.

    ``transport`` stands in for the network in tests.
    """

    def __init__(
        self,
        settings: HttpSettings | None = None,
        *,
        timing: Timing | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = settings or HttpSettings()
        self._timing = timing or Timing()
        self._lines = _Lines(self._settings, transport)
        self._hosts: dict[str, _Host] = {}

    @property
    def max_in_flight(self) -> int:
        """How many requests one host is sent at once."""
        return self._settings.max_in_flight

    async def send(self, request: Request) -> Response:
        """One exchange, tried again where that is safe and the caller's deadline leaves time.

        Any status is a response. Raises ``Unreachable``, ``TimedOut``, ``TooLarge`` (the body) or ``NotConfigured``
        (a CA file or proxy that cannot be used).
        """
        host = self._host(request.url)
        gate = host.gate
        attempt = 1
        while True:
            async with gate.slot() as ticket:
                outcome = await self._attempt(request, host, ticket)
            logger.debug("%s %s: %s", request.method, request.url, outcome)
            if isinstance(outcome, Response) and outcome.status not in retry.TRANSIENT:
                return outcome
            pause = self._pause(outcome, attempt, gate) if request.idempotent else None
            if pause is not None:
                await self._timing.sleep(pause)
            elif isinstance(outcome, Response):
                return outcome
            else:
                raise outcome
            attempt += 1

    async def aclose(self) -> None:
        """Close all connections. A client may be used again afterwards."""
        await self._lines.aclose()

    def _pause(self, outcome: Response | Unreachable | TimedOut, attempt: int, gate: Admission) -> float | None:
        """Seconds until the next attempt, ``None`` if there is to be none."""
        dice = self._timing.dice()
        if isinstance(outcome, Unreachable) and outcome.unsent:  # the gate knows how long a host is waited for
            return retry.backoff(1, dice) if gate.may_come_back and attempt < MOST_CONNECTIONS else None
        asked = retry.retry_after(outcome.headers, self._timing.now()) if isinstance(outcome, Response) else None
        return retry.wait(attempt, asked=asked, remaining=remaining(), dice=dice)

    def _host(self, url: str) -> _Host:
        """By scheme, host name and port as an absolute ``url`` has them."""
        end = url.find("/", url.find("://") + 3)
        origin = url if end < 0 else url[:end]
        host = self._hosts.get(origin)
        if host is None:
            name, settings = host_of(url), self._settings
            route = _Route(origin, proxy_for(url, settings.environ))
            gate = Admission(name, most=settings.max_in_flight, patience=settings.patience, timing=self._timing)
            host = self._hosts[origin] = _Host(name, route, gate)
        return host

    async def _attempt(self, request: Request, host: _Host, ticket: Ticket) -> Response | Unreachable | TimedOut:
        gate, route = host.gate, host.route
        try:
            with anyio.move_on_after(self._settings.attempt_timeout):
                line = await self._lines.take(route)
                try:
                    return await self._exchange(request, line, gate, ticket)
                finally:
                    self._lines.give_back(route, line)
            gate.silent(ticket)
            return TimedOut(self._settings.attempt_timeout)
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            gate.silent(ticket)
            return TimedOut(self._settings.idle_timeout)
        except BodyTooLarge:
            raise TooLarge(f"the answer of {host.name}", request.limit) from None
        except BodyGarbled as garbled:
            return Unreachable(host.name, Trouble.GARBLED, str(garbled))
        except httpx2.InvalidURL:
            raise NotConfigured(f"{host.name} is no address that can be asked") from None
        except (httpx2.HTTPError, OSError) as error:
            failure = _failure(host.name, error, route)
            if failure.unsent:
                gate.failed(ticket, failure, slow=isinstance(error, httpx2.ConnectTimeout))
            return failure

    async def _exchange(
        self, request: Request, line: httpx2.AsyncBaseTransport, gate: Admission, ticket: Ticket
    ) -> Response:
        response = await line.handle_async_request(self._message(request))
        try:
            headers = {name.lower(): value for name, value in response.headers.items()}
            status = response.status_code
            asked = retry.retry_after(headers, self._timing.now()) or 0.0
            gate.answered(ticket, overloaded=status in retry.OVERLOAD, pause=asked)
            limit = request.limit if status < 400 else max(request.limit, ERROR_PAGE)
            return Response(status, headers, await _body(response, headers, limit))
        finally:
            with anyio.CancelScope(shield=True):  # a connection that is not given back is lost
                await response.aclose()

    def _message(self, request: Request) -> httpx2.Request:
        settings = self._settings
        timeout = {
            "connect": settings.connect_timeout,
            "read": settings.idle_timeout,
            "write": settings.idle_timeout,
            "pool": None,  # who has a line need not wait for it
        }
        headers = [("User-Agent", USER_AGENT), ("Accept-Encoding", "gzip"), *request.headers]
        return httpx2.Request(
            request.method, request.url, headers=headers, content=request.body, extensions={"timeout": timeout}
        )


class _Lines:
    """Transports of one connection each, to be lent to one request at a time. A pool of httpx2 looks at each of its
    connections at the begin and at the end of every request, which costs more than all else a request does.

    ``shared`` stands in for them all."""

    def __init__(self, settings: HttpSettings, shared: httpx2.AsyncBaseTransport | None) -> None:
        self._settings = settings
        self._shared = shared
        self._idle: dict[_Route, list[httpx2.AsyncBaseTransport]] = {}
        self._all: list[httpx2.AsyncBaseTransport] = []
        self._trust: ssl.SSLContext | None = None
        self._opening = anyio.Lock()

    async def take(self, route: _Route) -> httpx2.AsyncBaseTransport:
        """The line that was given back last, which most likely still is connected, or a new one."""
        if self._shared is not None:
            return self._shared
        idle = self._idle.get(route)
        return idle.pop() if idle else await self._open(route)

    def give_back(self, route: _Route, line: httpx2.AsyncBaseTransport) -> None:
        if line in self._all:
            self._idle.setdefault(route, []).append(line)

    async def aclose(self) -> None:
        """Those that are lent, too: nobody gets an answer any more."""
        lines, self._all = self._all, []
        self._idle.clear()
        for line in lines:
            await line.aclose()

    async def _open(self, route: _Route) -> httpx2.AsyncBaseTransport:
        if route.proxy is not None and not is_http_url(route.proxy):
            raise NotConfigured("the proxy that the environment names is no http:// or https:// address")
        context = await self._authorities() if route.tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEP_ALIVE)
        line = httpx2.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits, proxy=route.proxy)
        self._all.append(line)
        return line

    async def _authorities(self) -> ssl.SSLContext:
        """Read once, which takes tens of milliseconds."""
        async with self._opening:
            if self._trust is None:
                self._trust = await anyio.to_thread.run_sync(_trust, self._settings)
            return self._trust


def _trust(settings: HttpSettings) -> ssl.SSLContext:
    """The system's authorities (or those that ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` name) and ``ca_file``'s."""
    file, folder = settings.environ.get("SSL_CERT_FILE"), settings.environ.get("SSL_CERT_DIR")
    try:
        if file or folder:
            context = ssl.create_default_context(cafile=file or None, capath=folder or None)
        else:
            context = httpx2.create_ssl_context(trust_env=False)
    except OSError:
        raise NotConfigured("SSL_CERT_FILE or SSL_CERT_DIR cannot be read") from None
    if settings.ca_file is not None:
        try:
            context.load_verify_locations(settings.ca_file)
        except ssl.SSLError:
            raise NotConfigured("ca_file holds no certificates in PEM form") from None
        except OSError as error:
            raise NotConfigured(f"ca_file cannot be read: {error.strerror}") from None
        # Private authorities often lack what RFC 5280 wants and Python insists on from 3.13 on.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


async def _body(response: httpx2.Response, headers: Mapping[str, str], limit: int) -> bytes:
    body = BoundedBody(limit, headers.get("content-encoding", ""))
    declared = headers.get("content-length", "")
    if "content-encoding" not in headers and declared.isdecimal() and int(declared[:20]) > limit:
        raise BodyTooLarge
    if not isinstance(response.stream, AsyncIterable):
        raise TypeError("the transport is not asynchronous")
    async for chunk in response.stream:
        body.add(chunk)
    return body.finish()


def _failure(host: str, error: Exception, route: _Route) -> Unreachable:
    """What an exception of the HTTP library means."""
    proxy = "" if route.proxy is None else f"proxy {host_of(route.proxy)}"
    match error:
        case httpx2.ProxyError():
            return Unreachable(host, Trouble.PROXY, f"{proxy} refuses: {_printable(str(error))}")
        case httpx2.ConnectError() | httpx2.ConnectTimeout():
            trouble, why = _why_no_connection(error)
            if proxy and trouble not in BY_TLS:
                return Unreachable(host, Trouble.PROXY, f"{proxy}: {why}")
            return Unreachable(host, trouble, why)
        case httpx2.RemoteProtocolError() if "disconnected" in str(error) or "closed connection" in str(error):
            return Unreachable(host, Trouble.LOST, "connection closed before the answer was whole")
        case httpx2.ProtocolError():
            return Unreachable(host, Trouble.GARBLED, "the answer is not HTTP")
        case _:
            return Unreachable(host, Trouble.LOST, "connection lost")


def _why_no_connection(error: Exception) -> tuple[Trouble, str]:
    for cause in _causes(error):
        match cause:
            case httpx2.ConnectTimeout():
                return Trouble.CONNECT, "no connection in time"
            case ssl.SSLCertVerificationError(verify_code=code, verify_message=message):
                trouble = CERTIFICATES.get(code, Trouble.TLS)
                return trouble, f"TLS certificate not accepted: {_printable(message)}"
            case ssl.SSLError(reason=reason):
                return Trouble.TLS, f"TLS failed: {(reason or 'handshake').replace('_', ' ').lower()}"
            case socket.gaierror():
                return Trouble.DNS, "no such host name (DNS)"
            case OSError(errno=int(number)):
                return Trouble.CONNECT, os.strerror(number).lower()
    return Trouble.CONNECT, "connection closed while it was made"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exceptions behind ``error``, nearest first; of a group, its members."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _causes(member)
        error = error.__cause__ or error.__context__


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)[:200]
