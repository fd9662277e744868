"""What a forge knows besides git: accounts, tokens, teams, labels, issues, and how it is set up."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Final

LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)  # how Gitea shows a time that never was
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
ALL: Final = frozenset({"all"})


class Access(IntEnum):
    """What somebody may do in a repository. Its names in lower case are the forge's words."""

    NONE = 0
    READ = 1
    WRITE = 2
    ADMIN = 3
    OWNER = 4


@dataclass
class Clock:
    """The forge's time. It stands still but for pushes, each of which is a second later than the last."""

    now: datetime = START

    def advance(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


@dataclass(frozen=True, slots=True)
class Limits:
    """What ``/settings/api`` tells: entries of a page at most and by default, tree entries of a page at most, and
    the bytes of a file's content and of a whole answer to ``file-contents``."""

    max_response_items: int = 50
    default_paging_num: int = 30
    default_git_trees_per_page: int = 1000
    default_max_blob_size: int = 10 * 1024 * 1024
    default_max_response_size: int = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which forge speaks. ``batches``: it has ``file-contents`` and ``contents-ext``. ``not_found`` is its message
    of a JSON 404, ``no_errors`` what that answer's ``errors`` holds when there is nothing to add. ``tells_scopes``:
    it says which scopes a refused token has."""

    version: str = "development"
    batches: bool = True
    not_found: str = "not found"
    no_errors: tuple[str, ...] | None = None
    tells_scopes: bool = True


GITEA: Final = Dialect()
GITEA_1_22: Final = Dialect("1.22.6", batches=False, not_found="The target couldn't be found.", tells_scopes=False)
FORGEJO: Final = Dialect(
    "11.0.3+gitea-1.22.0",
    batches=False,
    not_found="The target couldn't be found.",
    no_errors=(),
    tells_scopes=False,
)


@dataclass
class Label:
    """A label of a repository, or of the organization ``org``."""

    id: int
    name: str
    color: str = "00aabb"
    description: str = ""
    org: str | None = None


@dataclass
class Team:
    """Some members of an organization; ``repositories`` are ids, ``None`` all of the organization's."""

    name: str
    access: Access
    members: frozenset[str]
    repositories: frozenset[int] | None = None


@dataclass
class Account:
    """A user or an organization."""

    id: int
    login: str
    email: str
    created: datetime
    organization: bool = False
    admin: bool = False
    full_name: str = ""
    teams: list[Team] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Names match without case."""
        return self.login.lower()


@dataclass(frozen=True, slots=True)
class Token:
    """What a token stands for: its user, and scopes such as ``read:user``."""

    user: Account
    scopes: frozenset[str]

    def covers(self, scope: str) -> bool:
        """Whether it may do ``scope``: to write implies to read."""
        return bool({"all", scope, scope.replace("read:", "write:")} & self.scopes)

    @property
    def named(self) -> str:
        """Its scopes as the forge writes them, by category."""
        return ",".join(sorted(self.scopes, key=lambda scope: scope.partition(":")[::-1]))


@dataclass(frozen=True, slots=True)
class Protection:
    """A protected branch: only ``pushers`` (logins in lower case) may push, not even an administrator besides."""

    pushers: frozenset[str] = frozenset()


@dataclass
class Pull:
    """What makes an issue a pull request, within one repository. ``base_sha`` is the base when it was opened."""

    id: int
    base: str
    head: str
    base_sha: str
    merged: bool = False


@dataclass
class Issue:
    """An issue or a pull request."""

    id: int
    number: int
    poster: Account
    title: str
    body: str
    created: datetime
    updated: datetime
    labels: list[Label] = field(default_factory=list)
    closed: datetime | None = None
    pull: Pull | None = None

    @property
    def state(self) -> str:
        return "open" if self.closed is None else "closed"


@dataclass
class Ids:
    """Numbers that only grow, one row for each kind of thing."""

    last: dict[str, int] = field(default_factory=dict)

    def take(self, kind: str, wanted: int | None = None) -> int:
        """The next number of ``kind``, or ``wanted`` where a recording fixes it."""
        number = self.last.get(kind, 0) + 1 if wanted is None else wanted
        self.last[kind] = max(number, self.last.get(kind, 0))
        return number


def rfc3339(moment: datetime | None) -> str | None:
    """A time as the API writes it, to the second and in UTC."""
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
