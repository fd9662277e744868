"""The local forge: every git repository below some folders, read without a git executable. ``driver`` is its face."""

from sync.forge.local.driver import LocalForge

__all__ = ["LocalForge"]
