"""The engineering knowledge base as it is configured."""

from __future__ import annotations

import time
from pathlib import Path

from cache.errors import NotConfigured
from gateway.settings import EngineeringSection
from sync.corpora.engineering.base import KnowledgeBase

NO_ROOT = "no knowledge folder — set [engineering] root, or name one with --root"


def open_engineering(section: EngineeringSection) -> KnowledgeBase:
    """The knowledge base in the folder that is configured. Raises ``NotConfigured``."""
    if not section.root:
        raise NotConfigured(NO_ROOT)
    return KnowledgeBase(Path(section.root), clock=time.time)
