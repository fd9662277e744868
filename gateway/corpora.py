"""The corpora that lie on this machine, opened for the toolsets that serve them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cache.errors import NotConfigured
from gateway.settings import SwarmkitSection
from gateway.tools.swarmkit import NO_CHECKOUT
from sync.corpora.swarmkit.corpus import Corpus
from sync.corpora.swarmkit.layout import find_checkout
from sync.corpora.swarmkit.validation import Validator


@contextmanager
def open_swarmkit(section: SwarmkitSection, *, anywhere: bool) -> Iterator[Corpus]:
    """The SwarmKit checkout that is configured, else the one that the working directory is in, open for the block.

    ``anywhere``: workspaces outside of it are looked at too. Raises ``NotConfigured``."""
    root = Path(section.repo) if section.repo else find_checkout(Path.cwd())
    if root is None:
        raise NotConfigured(NO_CHECKOUT)
    if not root.is_dir():
        raise NotConfigured("[swarmkit] repo is no folder — name a SwarmKit checkout")
    corpus = Corpus(root, Validator(section.python, os.environ), clock=time.time, anywhere=anywhere)
    try:
        yield corpus
    finally:
        corpus.close()
