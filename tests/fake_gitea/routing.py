"""Which handler answers which request: templates as the API description writes them, and what each may ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from starlette.routing import compile_path

from tests.fake_gitea.answers import Answer
from tests.fake_gitea.call import Call

Handler = Callable[[Call], Answer]
Scopes = tuple[tuple[str, ...], ...]  # groups of categories: "issue", "organization", "repository", "user"
WRITING = {"POST", "PUT", "PATCH", "DELETE"}
DEEP = {"filepath", "head", "branch"}  # path parameters that may hold slashes


@dataclass(frozen=True)
class Endpoint:
    """One method of one template.

    ``scopes`` are checked one group after the other, each group whole; ``query`` names the parameters that the
    handler reads. ``batch`` marks what older forges do not have.
    """

    method: str
    template: str
    handler: Handler
    scopes: Scopes = ()
    query: frozenset[str] = frozenset()
    batch: bool = False

    def required(self) -> list[list[str]]:
        """The scopes that a token needs; what changes things or is a POST needs to write."""
        level = "write" if self.method in WRITING else "read"
        return [[f"{level}:{category}" for category in group] for group in self.scopes]


@dataclass(frozen=True)
class Routes:
    """The endpoints of one part of the API; :meth:`on` declares one."""

    endpoints: list[Endpoint] = field(default_factory=list)

    def on(
        self,
        methods: str,
        template: str,
        *,
        scopes: Scopes = (),
        query: Iterable[str] = (),
        batch: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Let the decorated function answer ``methods`` (separated by blanks) of ``template``."""

        def declare(handler: Handler) -> Handler:
            for method in methods.split():
                self.endpoints.append(Endpoint(method, template, handler, scopes, frozenset(query), batch))
            return handler

        return declare


@dataclass(frozen=True)
class Match:
    """A path that fits a template: its endpoints by method, and the decoded parameters."""

    template: str
    by_method: dict[str, Endpoint]
    params: dict[str, str]


class Router:
    """Finds the endpoint of an escaped path, so that an encoded slash is part of a name."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._methods: dict[str, dict[str, Endpoint]] = {}
        for endpoint in endpoints:
            self._methods.setdefault(endpoint.template, {})[endpoint.method] = endpoint
        self._patterns = [(_pattern(template), template) for template in self._methods]

    def match(self, path: str) -> Match | None:
        if any(part in {".", ".."} for part in path.split("/")):
            return None
        for pattern, template in self._patterns:
            if found := pattern.match(path):
                params = {name: unquote(value) for name, value in found.groupdict().items()}
                return Match(template, self._methods[template], params)
        return None


def _pattern(template: str) -> re.Pattern[str]:
    typed = re.sub(r"\{(\w+)\}", lambda found: f"{{{found[1]}:path}}" if found[1] in DEEP else found[0], template)
    return compile_path(typed)[0]
