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
PROFILE = os.environ.get("WAYVEIL_EXAMPLES", "repeated")
settings.load_profile(PROFILE)

MOST_REPEATED = 60
"""So many random examples a test takes at most where they are the same in every run: more of them cost every run the
same time again and find nothing new.  `explored`, and tests that are slow, take as many as they say."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests take no more of the same examples than are of use; those of an @example are always taken."""
    if PROFILE != "repeated":
        return
    for item in items:
        test = getattr(item, "obj", None)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples > MOST_REPEATED and item.get_closest_marker("slow") is None:
            test._hypothesis_internal_use_settings = settings(own, max_examples=MOST_REPEATED)


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
