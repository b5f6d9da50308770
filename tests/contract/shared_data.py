"""Where real data lie that some tests use: beside the project, or where WAYVEIL_DATA says; they skip without them."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["DATA", "GOLDEN"]

TESTS = Path(__file__).parents[1]
DATA = Path(os.environ.get("WAYVEIL_DATA", TESTS.parents[1] / "shared" / "data"))
GOLDEN = TESTS / "golden"
