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
from urllib.parse import urlsplit

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
    """How a host is reached: connections of one pool go the same way."""

    tls: bool
    proxy: str | None = field(repr=False)


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
        self._transport = transport
        self._pools: dict[_Route, httpx2.AsyncBaseTransport] = {}
        self._opening = anyio.Lock()
        self._gates: dict[str, Admission] = {}

    @property
    def max_in_flight(self) -> int:
        """How many requests one host is sent at once."""
        return self._settings.max_in_flight

    async def send(self, request: Request) -> Response:
        """One exchange, tried again where that is safe and the caller's deadline leaves time.

        Any status is a response. Raises ``Unreachable``, ``TimedOut``, ``TooLarge`` (the body) or ``NotConfigured``
        (a CA file or proxy that cannot be used).
        """
        gate = self._gate(request.url)
        attempt = 1
        while True:
            async with gate.slot() as ticket:
                outcome = await self._attempt(request, gate, ticket)
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
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    def _pause(self, outcome: Response | Unreachable | TimedOut, attempt: int, gate: Admission) -> float | None:
        """Seconds until the next attempt, ``None`` if there is to be none."""
        dice = self._timing.dice()
        if isinstance(outcome, Unreachable) and outcome.unsent:  # the gate knows how long a host is waited for
            return retry.backoff(1, dice) if gate.may_come_back and attempt < MOST_CONNECTIONS else None
        asked = retry.retry_after(outcome.headers, self._timing.now()) if isinstance(outcome, Response) else None
        return retry.wait(attempt, asked=asked, remaining=remaining(), dice=dice)

    def _gate(self, url: str) -> Admission:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._gates:
            most, patience = self._settings.max_in_flight, self._settings.patience
            self._gates[origin] = Admission(host_of(url), most=most, patience=patience, timing=self._timing)
        return self._gates[origin]

    async def _attempt(self, request: Request, gate: Admission, ticket: Ticket) -> Response | Unreachable | TimedOut:
        host = host_of(request.url)
        route = _Route(request.url.startswith("https:"), proxy_for(request.url, self._settings.environ))
        try:
            with anyio.move_on_after(self._settings.attempt_timeout):
                return await self._exchange(request, await self._pool(route), gate, ticket)
            gate.silent(ticket)
            return TimedOut(self._settings.attempt_timeout)
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            gate.silent(ticket)
            return TimedOut(self._settings.idle_timeout)
        except BodyTooLarge:
            raise TooLarge(f"the answer of {host}", request.limit) from None
        except BodyGarbled as garbled:
            return Unreachable(host, Trouble.GARBLED, str(garbled))
        except httpx2.InvalidURL:
            raise NotConfigured(f"{host} is no address that can be asked") from None
        except (httpx2.HTTPError, OSError) as error:
            failure = _failure(host, error, route)
            if failure.unsent:
                gate.failed(ticket, failure, slow=isinstance(error, httpx2.ConnectTimeout))
            return failure

    async def _exchange(
        self, request: Request, pool: httpx2.AsyncBaseTransport, gate: Admission, ticket: Ticket
    ) -> Response:
        response = await pool.handle_async_request(self._message(request))
        try:
            headers = {name.lower(): value for name, value in response.headers.items()}
            status = response.status_code
            asked = retry.retry_after(headers, self._timing.now()) or 0.0
            gate.answered(ticket, overloaded=status in retry.OVERLOAD, pause=asked)
            limit = request.limit if status < 400 else max(request.limit, ERROR_PAGE)
            return Response(status, headers, await _body(response, headers, limit))
        finally:
            with anyio.CancelScope(shield=True):  # a connection that is not given back is lost to the pool
                await response.aclose()

    def _message(self, request: Request) -> httpx2.Request:
        settings = self._settings
        timeout = {
            "connect": settings.connect_timeout,
            "read": settings.idle_timeout,
            "write": settings.idle_timeout,
            "pool": None,  # the gate lets no more in than the pool has room for
        }
        headers = [("User-Agent", USER_AGENT), ("Accept-Encoding", "gzip"), *request.headers]
        return httpx2.Request(
            request.method, request.url, headers=headers, content=request.body, extensions={"timeout": timeout}
        )

    async def _pool(self, route: _Route) -> httpx2.AsyncBaseTransport:
        if self._transport is not None:
            return self._transport
        async with self._opening:
            if route not in self._pools:
                # Reading the system's certificates takes tens of milliseconds.
                self._pools[route] = await anyio.to_thread.run_sync(_open_pool, self._settings, route)
            return self._pools[route]


def _open_pool(settings: HttpSettings, route: _Route) -> httpx2.AsyncHTTPTransport:
    context = _trust(settings) if route.tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=settings.max_in_flight, keepalive_expiry=KEEP_ALIVE
    )
    if route.proxy is not None and not is_http_url(route.proxy):
        raise NotConfigured("the proxy that the environment names is no http:// or https:// address")
    return httpx2.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits, proxy=route.proxy)


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
