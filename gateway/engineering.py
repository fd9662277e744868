"""The engineering knowledge base as it is configured, or named on the command line."""

from __future__ import annotations

import time
from pathlib import Path

from cache.errors import NotConfigured
from gateway import places
from gateway.settings import EngineeringSection, Settings
from sync.corpora.engineering.base import KnowledgeBase


def open_engineering(section: EngineeringSection) -> KnowledgeBase:
    """The knowledge base in the folder that is configured. Raises ``NotConfigured``."""
    return KnowledgeBase(_folder(section), clock=time.time)


def knowledge_folder(config: Path | None, root: Path | None) -> Path:
    """The folder ``root``, else what the configuration (``config``, where one is named) has.

    Raises ``NotConfigured``, ``InvalidConfig``."""
    loaded = places.configured(config)
    settings = Settings() if loaded is None else loaded.settings
    return _folder(settings.engineering.at(root))


def _folder(section: EngineeringSection) -> Path:
    if not section.root:
        raise NotConfigured("no knowledge folder — set [engineering] root, or name one with --root")
    return Path(section.root)
