"""Writers that are killed, or disturbed, at each of the calls by which they change the file system."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Final

import pytest

CALLS: Final = ("mkdir", "write", "fsync", "link", "unlink", "rename")


def die_at(step: int) -> None:
    """Have this process killed at the call after so many that change the file system."""
    left = step

    def mortal(call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*args: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), 9)
            return call(*args, **options)

        return wrapped

    for name in CALLS:
        setattr(os, name, mortal(getattr(os, name)))


def forked(act: Callable[[int, str], object], folders: Iterable[str]) -> list[int]:
    """Let ``act`` do something with each folder and its number, in a process of its own; how each ended."""
    ends = []
    for number, folder in enumerate(folders):
        child = os.fork()
        if not child:
            act(number, folder)
            os._exit(0)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return ends


class Interference:
    """Does something just before a call: the first time, or each time."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, call: str, act: Callable[[], object], *, always: bool = False
    ) -> None:
        self._real: Callable[..., None] = getattr(os, call)
        self._act = act
        self._always = always
        self._done = False
        monkeypatch.setattr(os, call, self)

    def __call__(self, *args: object, **options: object) -> None:
        if self._always or not self._done:
            self._done = True
            self._act()
        self._real(*args, **options)
