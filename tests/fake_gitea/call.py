"""A request as a handler sees it: routed, its token known, its parameters decoded."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.fake_gitea.answers import Answer, Json, Refused, not_found, refused, text_answer
from tests.fake_gitea.log import Exchange
from tests.fake_gitea.objects import Commit
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.state import Access, Account, Token

if TYPE_CHECKING:
    from tests.fake_gitea.forge import FakeGitea


@dataclass(frozen=True)
class Call:
    """One request. ``params`` are the path's, decoded; ``readable`` names the query parameters that its endpoint
    declares, since no other may be read."""

    forge: FakeGitea
    exchange: Exchange
    params: Mapping[str, str]
    readable: frozenset[str]
    token: Token | None

    @property
    def viewer(self) -> Account | None:
        return None if self.token is None else self.token.user

    @property
    def me(self) -> Account:
        """Who asks, where the route needs somebody."""
        if self.token is None:
            raise refused(self, 401, "token is required")
        return self.token.user

    def text(self, name: str) -> str:
        """A query parameter, empty where it is missing."""
        if name not in self.readable:
            raise LookupError(f"{self.exchange.key} does not declare the parameter {name!r}")
        return next((value for key, value in self.exchange.query if key == name), "")

    def number(self, name: str) -> int:
        value = self.text(name)
        return int(value) if value.lstrip("-").isascii() and value.lstrip("-").isdigit() else 0

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.text(name).lower()
        return default if not value else value in {"1", "t", "true", "on"}

    def form(self) -> Json:
        """The body as a JSON object."""
        try:
            value = json.loads(self.exchange.body or b"{}")
        except ValueError:
            raise refused(self, 422, "invalid character in the body") from None
        if not isinstance(value, dict):
            raise refused(self, 422, "the body must be an object")
        return value

    def repo(self) -> Repo:
        """The repository of the path, if the caller may see it; a former name redirects to the present one."""
        owner, name = self.params["owner"], self.params["repo"]
        repo = self.forge.find(owner, name)
        if repo is not None and self.access(repo) > Access.NONE:
            return repo
        moved = self.forge.moved(owner, name) if repo is None else None
        if moved is None or self.access(moved) is Access.NONE:
            raise not_found(self)
        raise Refused(self._moved(owner, name, moved))

    def _moved(self, owner: str, name: str, repo: Repo) -> Answer:
        """``301`` to the same request under the repository's present name; a GET also gets a line of HTML."""
        old, new = f"{quote(owner)}/{quote(name)}", f"{quote(repo.owner.login)}/{quote(repo.name)}"
        location = f"{self.forge.sub_path}/api/v1{self.exchange.target.replace(old, new, 1)}"
        if self.exchange.method != "GET":
            return Answer(301, {"location": location, "content-length": "0"})
        page = f'<a href="{html.escape(location)}">Moved Permanently</a>.\n\n'
        return text_answer(page, 301, {"location": location, "content-type": "text/html; charset=utf-8"})

    def access(self, repo: Repo) -> Access:
        return self.forge.access(self.viewer, repo)

    def commit(self, repo: Repo, ref: str) -> Commit:
        """The commit of ``ref`` (empty: the default branch); a JSON 404 names what is missing."""
        name = ref or repo.default_branch
        commit = repo.resolve(name)
        if commit is None:
            raise not_found(self, None, [f"object does not exist [id: {name}, rel_path: ]"])
        return commit
