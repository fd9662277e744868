"""Where the user's configuration and cache lie, and the configuration as it is found there."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from platformdirs import PlatformDirs

from cache.errors import NotConfigured
from gateway import DISTRIBUTION, config
from gateway.config import Loaded
from gateway.settings import CacheSection


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie for this user unless the configuration says otherwise. Not absolute: there is no home."""

    home: Path
    config: Path
    cache: Path


def user_places() -> Places:
    """This user's places, as the platform has them."""
    folders = PlatformDirs(DISTRIBUTION, appauthor=False)
    return Places(
        home=Path(os.path.expanduser("~")),  # noqa: PTH111 Path's own raises where there is no home
        config=folders.user_config_path / config.FILE_NAME,
        cache=folders.user_state_path / "cache.db",
    )


def configured(explicit: Path | None) -> Loaded | None:
    """The configuration, if there is one, with the cache that belongs to it. Raises ``InvalidConfig``."""
    places = user_places()
    loaded = config.load(config.find(explicit, os.environ, places.config), os.environ, places.home)
    if loaded is None or loaded.settings.cache.file or loaded.path is None or _same(loaded.path, places.config):
        return loaded
    cache = CacheSection(file=str(_own_cache(loaded.path, places.cache)))
    return replace(loaded, settings=loaded.settings.model_copy(update={"cache": cache}))


def _same(path: Path, other: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def _own_cache(path: Path, default: Path) -> Path:
    """The cache of a configuration file beside the user's own one. Each sync forgets what its configuration does not
    name, so no two may share a cache unless they say so."""
    digest = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:12]
    return default.with_stem(f"{default.stem}-{digest}")


def require(explicit: Path | None) -> Loaded:
    """The configuration, with at least one forge. Raises ``NotConfigured``, ``InvalidConfig``."""
    loaded = configured(explicit)
    if loaded is None:
        raise NotConfigured("no auth.toml — run gateway init")
    if not loaded.settings.fleet:
        raise NotConfigured(f"no forge in {loaded.path or 'the environment'} — add [forge], or run gateway init")
    return loaded


def config_to_write(explicit: Path | None) -> Path:
    """Where a new configuration goes. Raises ``NotConfigured`` where there is no home to put it in."""
    path = config.named(explicit, os.environ) or user_places().config
    if explicit is None and not path.is_absolute():
        raise NotConfigured("no home folder for auth.toml: set HOME, or name a file by --config")
    return path.absolute()
