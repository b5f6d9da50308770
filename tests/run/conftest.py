"""Data shared by the tests of `run`."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayveil.compare.compare import Comparison, compare
from wayveil.engines import LocalEngine

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


@pytest.fixture(scope="session")
def write() -> Callable[..., Path]:
    """A function that writes a plan of a comparison into a folder."""

    def write(folder: Path, text: str, *, source: str = "visits.csv", title: str = "") -> Path:
        path = folder / "compare.toml"
        if "[output]" not in text:
            text += '[output]\npath = "out"\n'
        path.write_text(f'title = "{title}"\n[input]\npath = "{source}"\nowners = "each-trajectory"\n{text}')
        return path

    return write


@pytest.fixture(scope="session")
def run() -> Callable[..., Comparison]:
    """A function that makes a comparison on one core."""
    return lambda path, **options: compare(path, engine=LocalEngine(workers=1), **options)
