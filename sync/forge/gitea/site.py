"""Where a forge is, as its configuration names it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from cache.errors import NotConfigured
from sync.exchange import is_http_url
from sync.forge.gitea.calls import API

MOST_PARTS = 12  # of a pasted path that are looked at

_SSH = re.compile(r"(?:ssh://)?[\w.-]+@(\[[^\]]+\]|[^:/]+)[:/].*|ssh://([^:/]+).*")
_LOOPBACK = re.compile(r"(localhost|127\.[\d.]+|\[::1\])(:\d+)?(/.*)?", re.IGNORECASE)


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


def addresses(pasted: str) -> tuple[str, ...]:
    """The roots that may be meant by what somebody pasted, to be tried in this order: a forge's address, that of its
    API, of a repository or of any page of it, or one to clone from. Empty for what is no address at all."""
    text = pasted.strip()
    if found := _SSH.fullmatch(text):
        text = f"https://{found[1] or found[2]}"
    elif "://" not in text:
        text = f"{'http' if _LOOPBACK.fullmatch(text) else 'https'}://{text}"
    if not is_http_url(text):
        return ()
    parts = urlsplit(text)
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"
    path = f"{parts.path}/".partition("/api/")[0]
    names = [name for name in path.split("/") if name][:MOST_PARTS]
    return tuple("/".join([origin, *names[:count]]) for count in range(len(names), -1, -1))
