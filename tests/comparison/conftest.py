"""What the tests of comparisons share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wayveil.comparison.compare import Comparison, compare
from wayveil.engines import LocalEngine


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
