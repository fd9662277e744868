"""The order of the whole session: what looks at everything that was written comes last."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def looks_at_everything(item: pytest.Item) -> bool:
        return "everything_written" in getattr(item, "fixturenames", ())

    items.sort(key=looks_at_everything)
