"""``auth.toml`` and the environment, read once into frozen settings.

The file is named by ``--config`` or ``$GATEWAY_CONFIG``, else it is ``auth.toml`` in the user's configuration folder;
never the working directory's: a client may start the gateway inside a foreign repository. Every key is also an
environment variable, which wins: ``[forge] url`` is ``GATEWAY_FORGE__URL``. No error shows a value.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from cache.errors import NotConfigured
from gateway.settings import (
    ENV_NESTED,
    ENV_PREFIX,
    FORGE_KINDS,
    SECTIONS,
    TOKEN_KEYS,
    CacheSection,
    EngineeringSection,
    ForgeSettings,
    GiteaForgeSettings,
    LocalForgeSettings,
    Settings,
    SwarmkitSection,
)
from gateway.wording import near

FILE_NAME: Final = "auth.toml"

_POINTER: Final = "GATEWAY_CONFIG"  # names the file, so it is no key


class InvalidConfig(NotConfigured):
    """The configuration cannot be used; ``problems`` has one line for each thing that is wrong."""

    def __init__(self, problems: Sequence[str]) -> None:
        more = f" (and {len(problems) - 1} more: gateway doctor lists them)" if len(problems) > 1 else ""
        super().__init__(problems[0] + more)
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings and the file they come from, absolute; ``None`` where all come from the environment. ``private``: the
    file holds a secret."""

    settings: Settings
    path: Path | None
    private: bool = False


def named(explicit: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file that was named, by the caller or by ``$GATEWAY_CONFIG``."""
    pointed = environ.get(_POINTER)
    return explicit or (Path(pointed) if pointed else None)


def find(explicit: Path | None, environ: Mapping[str, str], default: Path) -> Path | None:
    """The configuration file to read; ``None`` where none was named and there is none at ``default``.

    Raises :class:`InvalidConfig` when one that was named does not exist.
    """
    chosen = named(explicit, environ)
    path = default if chosen is None else chosen.absolute()
    if path.is_absolute() and path.exists():  # there is no default for somebody without a home
        return path
    if chosen is None:
        return None
    raise InvalidConfig([f"no configuration at {path} — run gateway init --config {path}"])


def load(path: Path | None, environ: Mapping[str, str], home: Path) -> Loaded | None:
    """Read ``path`` and the environment. ``None``: there is no file and no variable is set.

    Relative paths are taken from the file's folder, ``~`` is ``home``. Raises :class:`InvalidConfig`.
    """
    from_file = {} if path is None else _parse(path)
    from_environ = _variables(environ)
    if path is None and not from_environ:
        return None
    return _settle(from_file, from_environ, path, home)


def preview(text: str, path: Path, environ: Mapping[str, str], home: Path) -> Loaded:
    """What :func:`load` will read once ``text``, which is valid TOML, is the content of ``path``.

    Raises :class:`InvalidConfig`.
    """
    return _settle(tomllib.loads(text), _variables(environ), path, home)


def _settle(from_file: Mapping[str, Any], from_environ: Mapping[str, Any], path: Path | None, home: Path) -> Loaded:
    try:
        settings = Settings(**_merged(_without_other_tokens(from_file, from_environ), from_environ))
    except ValidationError as error:
        raise InvalidConfig(_explain(error, path, from_environ)) from None
    return Loaded(_anchored(settings, None if path is None else path.parent, home), path, _holds_token(from_file))


def _variables(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """What the environment sets, by section and key."""
    if problems := _foreign_variables(environ):
        raise InvalidConfig(problems)
    if not any(name.upper().startswith(ENV_PREFIX) for name in environ.keys() - {_POINTER}):
        return {}
    from gateway.environment import variables  # noqa: PLC0415 most set none, and start 20 ms sooner

    return variables(environ)


def _parse(path: Path) -> Mapping[str, Any]:
    """A file's content. An error tells where it is and never what stands there."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise InvalidConfig([f"cannot read {path}: {error.strerror} — see its permissions"]) from None
    except UnicodeDecodeError:
        raise InvalidConfig([f"{path} is not UTF-8 text"]) from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        raise InvalidConfig([f"{path} is not valid TOML{f' at {place[1]}' if place else ''}"]) from None


def _foreign_variables(environ: Mapping[str, str]) -> list[str]:
    """Variables that were meant for us and set nothing. One without ``__`` is somebody else's (an orchestrator sets
    ``GATEWAY_PORT`` for a service called "gateway"), unless only its underscores are off."""
    known = {
        "_".join((section, key)).upper(): f"{ENV_PREFIX}{section}{ENV_NESTED}{key}".upper()
        for section, keys in SECTIONS.items()
        for key in keys
    }
    problems = []
    for name in environ:
        upper = name.upper()
        if not upper.startswith(ENV_PREFIX) or upper == _POINTER:
            continue
        rest = upper.removeprefix(ENV_PREFIX)
        section = rest.partition(ENV_NESTED)[0].lower()
        if ENV_NESTED not in rest:
            if rest in known:
                problems.append(f"{name}: unknown variable — did you mean {known[rest]}?")
        elif section not in Settings.model_fields:
            meant = near(section, Settings.model_fields)
            hint = f" — did you mean {ENV_PREFIX}{meant.upper()}{ENV_NESTED}…?" if meant else ""
            problems.append(f"{name}: unknown variable{hint}")
    return problems


def _holds_token(from_file: Mapping[str, Any]) -> bool:
    forges = (from_file.get("forge", {}), *from_file.get("forges", {}).values())
    return any(forge.get(key) for forge in forges for key in TOKEN_KEYS if key != "token_file")


def _without_other_tokens(low: Mapping[str, Any], high: Mapping[str, Any]) -> Mapping[str, Any]:
    """``low`` without any way to a token of a forge for which ``high`` has one: this wins, whatever key it is."""
    inner = {
        key: _without_other_tokens(low[key], value)
        for key, value in high.items()
        if isinstance(low.get(key), dict) and isinstance(value, dict)
    }
    dropped = TOKEN_KEYS if any(high.get(key) for key in TOKEN_KEYS) else ()
    return {key: value for key, value in {**low, **inner}.items() if key not in dropped}


def _merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(low[key], value)
        for key, value in high.items()
        if isinstance(low.get(key), dict) and isinstance(value, dict)
    }
    return {**low, **high, **both}


def _explain(error: ValidationError, path: Path | None, from_environ: Mapping[str, Any]) -> list[str]:
    """One line for each place that is wrong."""
    lines: dict[tuple[str, ...], str] = {}
    for detail in error.errors(include_input=False, include_url=False):
        place, kind = _place(tuple(map(str, detail["loc"])))
        message = detail["msg"].removeprefix("Value error, ").replace("Input should", "should")
        if detail["type"] == "extra_forbidden":
            message = _unknown(place, kind)
        elif detail["type"] == "missing":
            message = "missing"
        lines.setdefault(place, f"{_label(place, path, from_environ)}{message}")
    return list(lines.values())


def _place(loc: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Section and key of a problem, and of which kind the forge is whose problem it is."""
    depth = {"forge": 1, "forges": 2}.get(loc[0]) if loc else None
    if depth is None:
        return loc[:2], None
    kind = next((word for word in loc[depth : depth + 1] if word in FORGE_KINDS), None)
    rest = loc[depth + (kind is not None) :]
    return (*loc[:depth], *rest[:1]), kind


def _unknown(place: tuple[str, ...], kind: str | None) -> str:
    """What to say of a key that nobody knows, or that belongs to another ``kind`` of forge."""
    key = place[-1]
    if kind is not None:
        for other, model in FORGE_KINDS.items():
            if key in model.model_fields:
                return f"is a key of {other} forges, and this one is {kind}"
    known = FORGE_KINDS[kind].model_fields if kind else Settings.model_fields if len(place) == 1 else SECTIONS[place[0]]
    meant = near(key.lower(), known)
    return "unknown key" + (f" — did you mean {meant}?" if meant else f" — known are: {', '.join(known)}")


def _label(place: tuple[str, ...], path: Path | None, from_environ: Mapping[str, Any]) -> str:
    """What to call the place of a problem: a variable if it is set by one, else file, section and key."""
    found: Any = from_environ
    for part in place:
        found = found.get(part) if isinstance(found, dict) else None
    if place and found is not None:
        return f"{ENV_PREFIX}{ENV_NESTED.join(place)}".upper() + ": "
    *section, key = place or ("",)
    where = [str(path)] if path else ["environment"]
    name = f"[{'.'.join(section)}] {key}" if section else f"[{key}]" if key in Settings.model_fields else key
    return ": ".join([*where, *([name] if name else [])]) + ": "


def _anchored(settings: Settings, base: Path | None, home: Path) -> Settings:
    """``settings`` with every path absolute."""

    def anchor(path: str | Path, key: str) -> Path:
        first, *rest = Path(path).parts or ("",)
        if not first or "\0" in str(path):
            raise InvalidConfig([f"{key}: write a path"])
        if first == "~":
            return home.joinpath(*rest)
        if first.startswith("~"):
            raise InvalidConfig([f"{key}: write the whole path instead of ~name"])
        if base is None and not Path(path).is_absolute():
            raise InvalidConfig([f"{key}: without a configuration file, a path starts with / or ~"])
        return (base or home) / path

    def whole(path: str, key: str) -> str:
        return path and str(anchor(path, key))

    def anchored(forge: ForgeSettings, section: str) -> ForgeSettings:
        match forge:
            case LocalForgeSettings():
                return forge.model_copy(
                    update={"roots": tuple(anchor(root, f"{section} roots") for root in forge.roots)}
                )
            case GiteaForgeSettings():
                token_file = whole(forge.token_file, f"{section} token_file")
                return forge.model_copy(
                    update={"token_file": token_file, "ca_file": whole(forge.ca_file, f"{section} ca_file")}
                )

    return settings.model_copy(
        update={
            "forge": settings.forge and anchored(settings.forge, "[forge]"),
            "forges": {name: anchored(forge, f"[forges.{name}]") for name, forge in settings.forges.items()},
            "cache": CacheSection(file=whole(settings.cache.file, "[cache] file")),
            "swarmkit": SwarmkitSection(
                repo=whole(settings.swarmkit.repo, "[swarmkit] repo"),
                python=whole(settings.swarmkit.python, "[swarmkit] python"),
            ),
            "engineering": EngineeringSection(root=whole(settings.engineering.root, "[engineering] root")),
        }
    )
