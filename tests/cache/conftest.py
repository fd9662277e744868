"""A store in a temporary folder, and what it told on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from cache.interface import Store, StoreNotice
from cache.store import SqliteStore
from tests.support.snapshots import NOW

# How long an example takes on a busy machine is no fact about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

OpenStore = Callable[..., SqliteStore]


@pytest.fixture
def notices() -> list[StoreNotice]:
    return []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache.db"


@pytest.fixture
def open_store(file: Path, notices: list[StoreNotice]) -> Iterator[OpenStore]:
    """Opens stores on the same file, or on the one given, and closes them after the test."""
    opened: list[Store] = []

    def open_one(path: Path = file, *, busy_timeout: float = 10.0) -> SqliteStore:
        store = SqliteStore(path, clock=lambda: NOW, on_notice=notices.append, busy_timeout=busy_timeout)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> SqliteStore:
    return open_store()
