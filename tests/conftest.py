"""What all tests share: none is timed, and all take the same random examples everywhere, however often they run."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

RECIPES = Path(__file__).parents[1] / "recipes"

settings.register_profile("repeated", deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("explored", deadline=None, derandomize=False, print_blob=True)
# scripts/explore looks for new counter-examples; whatever it finds becomes an @example of the test.
settings.load_profile(os.environ.get("WAYVEIL_EXAMPLES", "repeated"))


@pytest.fixture(scope="session")
def table1() -> Path:
    """Table 1 of the (K,C)_L-privacy paper."""
    return RECIPES / "table1.csv"


@pytest.fixture
def content(table1: Path, tmp_path: Path) -> dict[str, Any]:
    """A recipe that publishes Table 1."""
    return {
        "seed": 7,
        "input": {"path": str(table1), "owners": "each-trajectory"},
        "method": {"name": "kcl", "k": 2, "c": 0.5, "l": 2, "sensitive": {"diagnosis": ["HIV", "Hepatitis"]}},
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two hundred people with three visits each, to few places, at times from 0 to 11."""
    random.seed(3)
    rows = ["traj_id,t,location"]
    for person in range(200):
        for t in sorted(random.sample(range(12), 3)):
            rows.append(f"p{person},{t},{random.choice('aaabbcd')}")
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(rows) + "\n")
    return path
