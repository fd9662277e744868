"""What every test shares: the one event loop backend."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
