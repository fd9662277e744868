"""The fake forge itself: what tests make, change and look at."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from starlette.types import ASGIApp

from tests.fake_gitea.app import application
from tests.fake_gitea.faults import Effect, Faults, When
from tests.fake_gitea.log import Exchange, Log
from tests.fake_gitea.objects import Authorship, Identity
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.state import ALL, GITEA, Access, Account, Clock, Dialect, Ids, Label, Limits, Team, Token
from tests.support.git_files import FileContent

ROOT_URL: Final = "https://git.example.test/"


class FakeGitea:
    """A Gitea in memory that answers what the recordings of a real one show.

    ``forge.app`` is its ASGI application; :func:`tests.fake_gitea.serve` puts it on loopback in a process of its
    own, :func:`tests.fake_gitea.listen` in a thread of this one. ``root_url`` is its address for people, with a
    path where it lives below one. ``delay`` is what every request takes, in seconds; while the forge is ``held``
    none is answered. ``date_skew`` is by how many seconds its ``Date`` is wrong. ``overcount`` repositories are
    counted in every listing, and in the links between its pages, that the caller may not see. ``git_date`` fixes
    the date of the commits that it makes.
    """

    def __init__(
        self,
        *,
        root_url: str = ROOT_URL,
        dialect: Dialect = GITEA,
        limits: Limits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.root_url = root_url if root_url.endswith("/") else root_url + "/"
        self.dialect = dialect
        self.limits = limits or Limits()
        self.clock = clock or Clock()
        self.delay = 0.0
        self.held = False
        self.date_skew = 0.0
        self.overcount = 0
        self.git_date: datetime | None = None
        self.faults = Faults()
        self.log = Log()
        self.ids = Ids()
        self.accounts: dict[str, Account] = {}
        self.tokens: dict[str, Token] = {}
        self.repos: dict[int, Repo] = {}
        self.names: dict[tuple[str, str], int] = {}
        self.redirects: dict[tuple[str, str], int] = {}
        self._by_name: list[Repo] | None = None
        self.lock = threading.RLock()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self.lock = threading.RLock()
        self.log.forget()

    # What a test looks at

    @property
    def app(self) -> ASGIApp:
        return application(self)

    @property
    def api_url(self) -> str:
        return self.root_url + "api/v1"

    @property
    def sub_path(self) -> str:
        """The path below which the forge lives, without a slash at its end."""
        return "/" + "/".join(self.root_url.split("/")[3:-1]) if self.root_url.count("/") > 3 else ""

    @property
    def requests(self) -> list[Exchange]:
        """What was asked since the last reset, in order of arrival."""
        return self.log.exchanges

    @property
    def counts(self) -> dict[str, int]:
        """How often each route was asked: ``{"GET /user/repos": 3}``."""
        return self.log.counts

    @property
    def max_in_flight(self) -> int:
        """The most requests that were under way at once since the last reset."""
        return self.log.max_in_flight

    def reset_counts(self) -> None:
        self.log.reset()

    # Accounts

    def add_user(
        self,
        login: str,
        *,
        token: str | None = None,
        scopes: Iterable[str] = ALL,
        email: str | None = None,
        admin: bool = False,
    ) -> Account:
        """Add a user, with a token of all scopes unless ``scopes`` says which."""
        account = Account(
            self.ids.take("account"),
            login,
            email or f"{login.lower()}@example.test",
            self.clock.now,
            admin=admin,
        )
        self.accounts[account.key] = account
        if token is not None:
            self.add_token(login, token, scopes)
        return account

    def add_token(self, login: str, token: str, scopes: Iterable[str] = ALL) -> None:
        self.tokens[token] = Token(self.account(login), frozenset(scopes))

    def revoke(self, token: str) -> None:
        del self.tokens[token]

    def add_org(self, login: str, *, owners: Iterable[str] = ()) -> Account:
        org = Account(self.ids.take("account"), login, "", self.clock.now, organization=True)
        self.accounts[org.key] = org
        self.add_team(login, "Owners", owners, Access.OWNER)
        return org

    def add_team(
        self,
        org: str,
        name: str,
        members: Iterable[str],
        access: Access = Access.READ,
        repos: Iterable[str] | None = None,
    ) -> None:
        """Give ``members`` some ``access`` to ``repos`` (full names; all of the organization's by default)."""
        ids = None if repos is None else frozenset(self.repo(repo).id for repo in repos)
        self.account(org).teams.append(Team(name, access, frozenset(login.lower() for login in members), ids))

    def add_org_label(self, org: str, name: str, color: str = "112233") -> Label:
        label = Label(self.ids.take("label"), name, color, org=self.account(org).login)
        self.account(org).labels.append(label)
        return label

    def account(self, login: str) -> Account:
        return self.accounts[login.lower()]

    # Repositories

    def add_repo(
        self,
        full_name: str,
        files: Mapping[str, FileContent] | None = None,
        *,
        private: bool = False,
        archived: bool = False,
        default_branch: str = "main",
        parent: Repo | None = None,
        id: int | None = None,  # noqa: A002 (the forge's word)
    ) -> Repo:
        """Add a repository with one commit of ``files`` (none: an empty one, or with ``parent`` a fork). An owner
        that is not known yet becomes an organization of the forge's first user."""
        login, name = full_name.split("/")
        owner = self._owner(login)
        with self.lock:
            now = self.clock.now
            number = self.ids.take("repo", id)
            repo = Repo(self, number, owner, name, now, now, private, default_branch, parent)
            self.repos[number], self._by_name = repo, None
            self.names[_key(full_name)] = number
            self.redirects.pop(_key(full_name), None)
            if parent is not None:
                repo.objects, repo.branches = parent.objects.copy(), dict(parent.branches)
                repo.default_branch, repo.language, repo.size = parent.default_branch, parent.language, parent.size
                parent.forks += 1
            if files:
                repo.commit(files, message="init")
            if archived:
                repo.archive()
        return repo

    def _owner(self, login: str) -> Account:
        first = next((account.login for account in self.accounts.values() if not account.organization), None)
        return self.accounts.get(login.lower()) or self.add_org(login, owners=[] if first is None else [first])

    def repo(self, full_name: str) -> Repo:
        """A repository by its present name."""
        return self.repos[self.names[_key(full_name)]]

    def find(self, owner: str, name: str) -> Repo | None:
        number = self.names.get((owner.lower(), name.lower()))
        return None if number is None else self.repos[number]

    def moved(self, owner: str, name: str) -> Repo | None:
        """The repository that once had this name."""
        number = self.redirects.get((owner.lower(), name.lower()))
        return None if number is None else self.repos.get(number)

    def commit(self, full_name: str, files: Mapping[str, FileContent | None], branch: str | None = None) -> str:
        """Push a commit to a repository (see :meth:`Repo.commit`)."""
        return self.repo(full_name).commit(files, branch=branch)

    def rename(self, full_name: str, new_name: str) -> None:
        """Rename or transfer a repository; its old name redirects until another repository takes it."""
        login, name = new_name.split("/")
        with self.lock:
            repo = self.repo(full_name)
            self.redirects[_key(full_name)] = repo.id
            self.redirects.pop(_key(new_name), None)
            del self.names[_key(full_name)]
            repo.owner = self._owner(login)
            repo.name, self._by_name = name, None
            self.names[_key(new_name)] = repo.id
            repo.updated = self.clock.advance(1)

    def remove(self, full_name: str) -> None:
        """Delete a repository."""
        with self.lock:
            repo, self._by_name = self.repos.pop(self.names.pop(_key(full_name))), None
            if repo.parent is not None:
                repo.parent.forks -= 1
            for old in [key for key, number in self.redirects.items() if number == repo.id]:
                del self.redirects[old]

    def add_fault(self, effect: Effect, when: When | None = None) -> None:
        """Add a fault (see :class:`Faults`), in a form that can be sent to a forge in another process."""
        self.faults.rules.append((effect, when or When()))

    def by(self, author: Identity | None, message: str, at: datetime | None = None) -> Authorship:
        """Who makes a commit and when: ``at``, ``git_date`` or now."""
        who = author or Identity("Somebody", "somebody@example.test")
        when = int((at or self.git_date or self.clock.now).astimezone(UTC).timestamp())
        return Authorship(who, who, when, when, message)

    # Who may do what

    def access(self, account: Account | None, repo: Repo) -> Access:
        """What ``account`` (``None``: nobody in particular) may do in ``repo``."""
        public = Access.NONE if repo.private else Access.READ
        if account is None:
            return public
        if account is repo.owner or account.admin:
            return Access.OWNER
        granted = [team.access for team in repo.owner.teams if _has(team, account, repo)]
        return max([public, repo.collaborators.get(account.key, Access.NONE), *granted])

    def belongs(self, account: Account, repo: Repo) -> bool:
        """Whether ``repo`` is in ``account``'s own listing: owned, shared with, or by a team."""
        mine = account is repo.owner or account.key in repo.collaborators
        return mine or any(_has(team, account, repo) for team in repo.owner.teams)

    def by_id(self) -> list[Repo]:
        """All repositories, the oldest first."""
        return [self.repos[number] for number in sorted(self.repos)]

    def by_name(self) -> list[Repo]:
        """All repositories by bare name, capitals first. (Kept, since every page of a listing needs it.)"""
        if self._by_name is None:
            self._by_name = sorted(self.repos.values(), key=lambda repo: (repo.name.encode(), repo.id))
        return self._by_name


def _key(full_name: str) -> tuple[str, str]:
    owner, name = full_name.lower().split("/")
    return owner, name


def _has(team: Team, account: Account, repo: Repo) -> bool:
    return account.key in team.members and (team.repositories is None or repo.id in team.repositories)
