"""Where a forge is, as its configuration names it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from cache.errors import NotConfigured
from sync.exchange import is_http_url
from sync.forge.gitea.calls import API


@dataclass(frozen=True, slots=True)
class Site:
    """``url`` is the forge's root without a slash at its end, perhaps under a sub-path; ``origin`` the scheme, host
    and port of it; ``host`` is what an error calls it."""

    url: str
    origin: str
    host: str

    @classmethod
    def of(cls, url: str) -> Site:
        """The site at ``url``. The API's own path at its end is tolerated.

        Raises ``NotConfigured``, without repeating the value: it may hold a password.
        """
        url = url.strip()
        if not is_http_url(url):
            raise NotConfigured("[forge] url is no address such as https://git.example.com")
        parts = urlsplit(url)
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise NotConfigured("[forge] url has to stand without user name, query and fragment — use token_file")
        origin = f"{parts.scheme}://{parts.netloc.lower()}"
        path = parts.path.rstrip("/").removesuffix(API).rstrip("/")
        return cls(origin + path, origin, parts.netloc.lower())
