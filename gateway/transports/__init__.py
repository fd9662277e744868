"""How the protocol reaches a server: standard streams, and HTTP on the loopback interface."""

from gateway.transports.http import serve_http
from gateway.transports.stdio import serve_stdio

__all__ = ["serve_http", "serve_stdio"]
