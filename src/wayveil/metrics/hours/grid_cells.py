"""Square cells over the area of the original, in which places before and after are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.movement import longer_side
from wayveil.model import Points, parameter

__all__ = ["cell_parameter", "cell_side", "lines_of"]

_AUTO_CELLS = 16
_FAR = 1 << 40  # cells further away than this are one, so that numbers of cells fit


def cell_parameter() -> Any:
    """Declare how large cells are."""
    return parameter(
        kind="number",
        low=0.001,
        choices=("auto",),
        default="auto",
        help="side of a cell in metres; auto: 1/16 of the longer side of the bounding box",
    )


def cell_side(cell: float | str, original: Points) -> float:
    """Return the side of a cell in metres.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0), (1, 32.0, 8.0)]])
    >>> cell_side("auto", data), cell_side(5.0, data)
    (2.0, 5.0)
    """
    return longer_side(original) / _AUTO_CELLS or 1.0 if isinstance(cell, str) else cell


def lines_of(place: NDArray[Any], begin: float, side: float) -> NDArray[np.int64]:
    """Return the column of the cells in which these x are, or the row of these y, counted from `begin`.

    Examples
    --------
    >>> lines_of(np.array([0.0, 19.9, 20.0, -1.0]), 0.0, 10.0).tolist()
    [0, 1, 2, -1]
    """
    return np.clip(np.floor((place - begin) / side), -_FAR, _FAR).astype(np.int64)
