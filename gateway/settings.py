"""The configuration's sections, their keys, defaults and bounds. Frozen; :mod:`gateway.config` reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    Tag,
    model_validator,
)

ENV_PREFIX: Final = "GATEWAY_"
ENV_NESTED: Final = "__"
ONLY_FORGE: Final = "default"  # the name of the forge that is configured as [forge]

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION: Final = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)", re.ASCII)
_FORGE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


def seconds(text: object) -> float:
    """A duration such as ``"20s"``, ``"5m"`` or ``"1.5h"``, in seconds. Raises ``ValueError``."""
    match = _DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ValueError('should be a duration such as "20s", "5m" or "24h"')
    return float(match[1]) * _UNITS[match[2]]


def _positive(duration: float) -> float:
    if duration <= 0:
        raise ValueError("should be longer than nothing")
    return duration


def _words(value: object) -> object:
    """A list; as one text (the environment's form) its items stand between commas, or it is JSON."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError("should be a list: JSON, or items with commas between") from None
    return [item.strip() for item in value.split(",") if item.strip()]


def _table(value: object) -> object:
    """A table; as one text (the environment's form) it is JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError("should be a table: JSON in the environment") from None


def _pages(value: object) -> object:
    return value if value in ("index", "all") else _words(value)


def _forge_name(name: str) -> str:
    if not _FORGE_NAME.fullmatch(name):
        raise ValueError("a forge's name is made of lower-case letters, digits, - and _")
    return name


def _forge_url(url: str) -> str:
    """The rules of :class:`sync.forge.gitea.site.Site`, which a start would have to import."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ValueError("should be an address such as https://git.example.com")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("should stand without user name, query and fragment — use token_file")
    return url


Seconds = Annotated[float, BeforeValidator(seconds)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Paths = Annotated[tuple[Path, ...], BeforeValidator(_words)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class LocalForgeSettings(_Section):
    """Repositories on this machine. ``roots`` are absolute once loaded; every git repository below one is a project."""

    kind: Literal["local"] = "local"
    roots: Paths = Field(min_length=1)
    max_in_flight: int = Field(default=8, ge=1, le=64)


class GiteaForgeSettings(_Section):
    """A Gitea or Forgejo server. ``token_file`` and ``ca_file`` are absolute once loaded, or empty. At most one of the
    three ways to a token is set; an empty ``user`` stands for all that the token lists."""

    kind: Literal["gitea"] = "gitea"
    url: Annotated[str, AfterValidator(_forge_url)]
    user: str = ""
    token: SecretStr = SecretStr("")
    token_file: str = ""
    token_command: SecretStr = SecretStr("")  # one may hold a password
    ca_file: str = ""
    max_in_flight: int = Field(default=8, ge=1, le=64)

    @model_validator(mode="after")
    def _one_way_to_a_token(self) -> Self:
        if sum(map(bool, (self.token, self.token_file, self.token_command))) > 1:
            raise ValueError("set one of token, token_file and token_command")
        return self


def _kind(forge: object) -> object:
    """Which kind of forge is meant: the one that it says, or what its keys tell."""
    if not isinstance(forge, dict):
        return getattr(forge, "kind", None)
    return forge.get("kind") or ("gitea" if "url" in forge else "local" if "roots" in forge else None)


ForgeSettings: TypeAlias = Annotated[
    Annotated[GiteaForgeSettings, Tag("gitea")] | Annotated[LocalForgeSettings, Tag("local")],
    Discriminator(
        _kind,
        custom_error_type="kind_of_forge",
        custom_error_message="set url for a Gitea or Forgejo server, or roots for repositories on this machine; "
        'kind, where it is set, is "gitea" or "local"',
    ),
]


class SyncSection(_Section):
    """What a sync looks at and keeps; see :class:`sync.plan.SyncSettings`. ``orgs`` are listed beside what a Gitea
    forge lists of itself."""

    pages: Annotated[Literal["index", "all"] | tuple[str, ...], BeforeValidator(_pages)] = "index"
    include: Words = ()
    exclude: Words = ()
    orgs: Words = ()
    archived: bool = True
    forks: bool = True
    status_paths: Words = (".tasks/STATUS.md", "STATUS.md")


class CacheSection(_Section):
    """``file``, absolute once loaded, is the cache; empty means ``cache.db`` in the user's state folder."""

    file: str = ""


class WikiSection(_Section):
    """``shared`` is the project whose wiki belongs to everybody."""

    shared: str = ""


ToolsetName: TypeAlias = Literal["federation", "swarmkit", "engineering"]


class GatewaySection(_Section):
    """How questions are answered. Durations are in seconds. Empty ``tool_names``: dotted over stdio, underscores over
    HTTP. Empty ``toolsets``: all that are configured."""

    toolsets: Annotated[tuple[ToolsetName, ...], BeforeValidator(_words)] = ()
    tool_names: Literal["", "dotted", "underscore"] = ""
    deadline: Annotated[Seconds, AfterValidator(_positive)] = 20.0
    max_age: Seconds = 0.0
    stale_after: Annotated[Seconds, AfterValidator(_positive)] = 86400.0
    read_only: bool = False


class WriteSection(_Section):
    """What may be written. ``allow`` are globs on ``owner/name`` (with several forges also on ``FORGE:owner/name``);
    without any nothing is written."""

    allow: Words = ("*",)
    allow_secrets: bool = False


Filing: TypeAlias = Literal["auto", "issue", "file"]


class TasksSection(_Section):
    """What tasks are filed as; ``projects`` has those of which that is known better, by name."""

    filing: Filing = "auto"
    projects: Annotated[dict[str, Filing], BeforeValidator(_table)] = Field(default_factory=dict)


class SwarmkitSection(_Section):
    """``repo`` is the checkout that is served, ``python`` an interpreter that has swarmkit-runtime, where this one has
    not; both are absolute once loaded, or empty."""

    repo: str = ""
    python: str = ""


class EngineeringSection(_Section):
    """``root``, absolute once loaded, is the folder of the engineering knowledge base; empty: there is none."""

    root: str = ""

    def at(self, root: Path | None) -> EngineeringSection:
        """The same with ``root``, where one is given, in the place of what is configured."""
        return self if root is None else EngineeringSection(root=str(root.absolute()))


class Settings(_Section):
    """The whole configuration. Either ``forge`` or ``forges`` is set, or neither: see :attr:`fleet`."""

    forge: ForgeSettings | None = None
    forges: dict[Annotated[str, AfterValidator(_forge_name)], ForgeSettings] = Field(default_factory=dict)
    sync: SyncSection = SyncSection()
    cache: CacheSection = CacheSection()
    wiki: WikiSection = WikiSection()
    gateway: GatewaySection = GatewaySection()
    write: WriteSection = WriteSection()
    tasks: TasksSection = TasksSection()
    swarmkit: SwarmkitSection = SwarmkitSection()
    engineering: EngineeringSection = EngineeringSection()

    @property
    def fleet(self) -> Mapping[str, ForgeSettings]:
        """Every configured forge by its name."""
        return self.forges if self.forge is None else {ONLY_FORGE: self.forge}

    @model_validator(mode="after")
    def _one_way_to_name_forges(self) -> Self:
        if self.forge is not None and self.forges:
            raise ValueError("use [forge] for one forge or [forges.NAME] for several, not both")
        return self


FORGE_KINDS: Final[Mapping[str, type[BaseModel]]] = {"gitea": GiteaForgeSettings, "local": LocalForgeSettings}
TOKEN_KEYS: Final = ("token", "token_file", "token_command")
_SECTIONS: Final[Mapping[str, type[BaseModel]]] = {
    "sync": SyncSection,
    "cache": CacheSection,
    "wiki": WikiSection,
    "gateway": GatewaySection,
    "write": WriteSection,
    "tasks": TasksSection,
    "swarmkit": SwarmkitSection,
    "engineering": EngineeringSection,
}
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "forge": tuple(dict.fromkeys(key for model in FORGE_KINDS.values() for key in model.model_fields)),
    **{name: tuple(model.model_fields) for name, model in _SECTIONS.items()},
}
"""The keys of each section of the file; ``forge`` has those of every kind."""
