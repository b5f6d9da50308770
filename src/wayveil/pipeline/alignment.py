"""Which trajectory of a publication is which of the original: known to whoever publishes, to nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.io import as_published
from wayveil.model import Data
from wayveil.model.data.ragged import IntArray

__all__ = ["aligned", "join_owners"]


def join_owners(readback: Data, written: Data, source: IntArray, owner: IntArray) -> Any:
    """Return the data read back with the true owners, or None where the file does not hold what was written."""
    expected = as_published(written.take(source))
    if not readback.same_content(expected):
        return None
    return replace(readback, owner=owner[source], owners=written.owners)


def aligned(readback: Any, source: IntArray, original: Data) -> Any:
    """Return published data with one trajectory per original one, in its order; without rows if not published."""
    nobody = len(readback)
    position = np.full(len(original), nobody, np.int64)
    position[source] = np.arange(nobody)
    return replace(readback.with_empty().take(position), owner=original.owner)
