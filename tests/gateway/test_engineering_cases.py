"""The executable cases of toolset ``engineering``, each over the protocol and on real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.engineering import Run, cases

CASES = cases()


@pytest.mark.anyio
@pytest.mark.parametrize("name", CASES)
async def test_each_case_passes(name: str, tmp_path: Path) -> None:
    await Run(CASES[name], tmp_path).steps()


def test_all_of_them_are_here() -> None:
    assert len(CASES) == 11
