"""Where the user's configuration and cache lie, and the configuration as it is found there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from platformdirs import PlatformDirs

from cache.errors import NotConfigured
from gateway import DISTRIBUTION, config
from gateway.config import Loaded


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
    """The configuration, if there is one. Raises ``InvalidConfig``."""
    places = user_places()
    return config.load(config.find(explicit, os.environ, places.config), os.environ, places.home)


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
