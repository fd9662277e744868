"""The version of the installed distribution."""

from __future__ import annotations

from importlib import metadata

from gateway import DISTRIBUTION


def version() -> str:
    """As the package index knows it."""
    return metadata.version(DISTRIBUTION)
