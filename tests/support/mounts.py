"""File systems that tests make for themselves: small ones, and ones that turn read-only."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Disk:
    """A file system in memory, mounted at ``path``."""

    path: Path

    def resize(self, kib: int) -> None:
        _mount("-o", f"remount,size={kib}k", str(self.path))

    def freeze(self) -> None:
        """Let nothing be written any more."""
        _mount("-o", "remount,ro", str(self.path))

    def thaw(self) -> None:
        _mount("-o", "remount,rw", str(self.path))

    def fill(self) -> None:
        """Leave no space."""
        with (self.path / "ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                return

    def empty(self) -> None:
        (self.path / "ballast").unlink()


@contextmanager
def disk(path: Path, *, kib: int) -> Iterator[Disk]:
    """A disk of so many KiB. Skips the test where nothing may be mounted."""
    path.mkdir(parents=True)
    try:
        _mount("-t", "tmpfs", "-o", f"size={kib}k,mode=700", "tmpfs", str(path))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True, timeout=30)


def _mount(*args: str) -> None:
    subprocess.run(["mount", *args], check=True, capture_output=True, timeout=30)
