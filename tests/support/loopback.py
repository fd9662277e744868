"""Small servers on loopback that behave badly on purpose, and certificates for them.

``async with serving(answer) as port`` runs ``answer(reader, writer)`` for each connection; ``respond`` is an
``answer`` that takes one request and writes fixed bytes.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Connection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(answer: Connection, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on a free port of 127.0.0.1. Connections still open at the end are cut."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
                await answer(reader, writer)
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def respond(*parts: bytes, forever: bytes = b"") -> Connection:
    """Answer one request with ``parts``, then with ``forever`` again and again, then close."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for part in parts:
            writer.write(part)
        await writer.drain()
        while forever:
            writer.write(forever)
            await writer.drain()

    return answer


def ok(body: bytes, *headers: str) -> bytes:
    """A whole response that keeps the connection open."""
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take the connection, and never say anything."""
    await asyncio.Event().wait()


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take the request and reset the connection."""
    await reader.readuntil(b"\r\n\r\n")
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()


def closed_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class Authority:
    """A private certificate authority: its certificate in a file, and a server's context signed by it."""

    ca_file: Path
    server: ssl.SSLContext


def make_authority(folder: Path, *, host: str = "127.0.0.1", days_old: int = 0) -> Authority:
    """A new authority and a certificate for ``host``, valid for a day from ``days_old`` days ago on."""
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days_old)
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Private test authority")])

    def certificate(subject: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(ca_name).public_key(public)
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(start).not_valid_after(start + datetime.timedelta(days=1))

    ca = certificate(ca_name, ca_key.public_key())
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
    leaf = certificate(name, key.public_key()).add_extension(alternative, critical=False)

    ca_file, chain = folder / "ca.pem", folder / "server.pem"
    ca_file.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    chain.write_bytes(
        leaf.sign(ca_key, hashes.SHA256()).public_bytes(pem)
        + key.private_bytes(pem, pkcs8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(chain)
    return Authority(ca_file, server)
