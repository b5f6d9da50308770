"""Data shared by the tests of `run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.fixture(scope="session")
def table1() -> Path:
    """Table 1 of the (K,C)_L-privacy paper."""
    return RECIPES / "table1.csv"


@pytest.fixture
def content(table1: Path, tmp_path: Path) -> dict[str, Any]:
    """A recipe that publishes Table 1."""
    return {
        "seed": 7,
        "input": {"path": str(table1)},
        "method": {"name": "kcl", "k": 2, "c": 0.5, "l": 2, "sensitive": {"diagnosis": ["HIV", "Hepatitis"]}},
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }
