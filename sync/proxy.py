"""Which proxy the environment names for a URL, by curl's rules. Pure: the environment is passed in.

``https_proxy``, ``http_proxy`` and ``all_proxy``, in small letters or capitals, small ones first; ``no_proxy`` lists
what is reached directly: host names (with all that is below them), addresses, networks (``10.0.0.0/8``), each perhaps
with a port, or ``*`` for everything.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy's URL, ``None`` for a direct connection."""
    parts = urlsplit(url)
    proxy = _variable(environ, f"{parts.scheme}_proxy") or _variable(environ, "all_proxy")
    if not proxy:
        return None
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    if any(_fits(parts.hostname or "", port, item) for item in _variable(environ, "no_proxy").split(",")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(environ: Mapping[str, str], name: str) -> str:
    if name == "http_proxy" and "REQUEST_METHOD" in environ:
        # In a CGI program HTTP_PROXY is the client's own "Proxy" header (CVE-2016-5385).
        return environ.get(name, "").strip()
    return (environ.get(name) or environ.get(name.upper(), "")).strip()


def _fits(host: str, port: int | None, item: str) -> bool:
    item = item.strip().lower()
    if item == "*":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(item.strip("[]"), strict=False)
    except ValueError:  # one of the two is a name, or the item has a port
        return _names(item, host, port)


def _names(item: str, host: str, port: int | None) -> bool:
    try:
        split = urlsplit(f"//{item}")
        wanted = split.port
    except ValueError:
        return False
    name = (split.hostname or "").removeprefix("*").removeprefix(".")
    if not name or (wanted is not None and wanted != port):
        return False
    return host == name or host.endswith(f".{name}")
