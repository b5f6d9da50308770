"""Points and boxes on a plane: where they are, how far they reach, and the square cells in which they are counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.metrics.visits.aligned import check_times
from wayveil.model import Boxes, Points, parameter
from wayveil.model.accumulators import Maximum, Minimum

__all__ = [
    "Extent",
    "bounding_box",
    "cell_corner",
    "cell_parameter",
    "cell_side",
    "centres",
    "check_comparable",
    "extent",
    "finite",
    "lines_of",
    "longer_side",
    "round_up",
    "sides",
    "usual_box",
    "usual_side",
    "usual_span",
    "with_rows",
]

Array = NDArray[Any]

Extent = tuple[Minimum, Maximum, Minimum, Maximum]
"""The bounding box of a piece, which adds up to that of all."""

_LONGEST = 1e150  # beyond this, squares are not finite


def check_comparable(component: str, original: Any, published: Any, *, matched: bool = False) -> None:
    """Raise InputError where places, times or, with `matched`, trajectories of the two cannot be compared."""
    if original.frame != published.frame:
        raise InputError(
            f"{component}: the original and the published data have different frames of coordinates, so no distance "
            "between "
            "them can be measured. Give both in the same coordinate system."
        )
    check_times(component, original, published)
    if matched and len(original) != len(published):
        raise InputError(
            f"{component}: every trajectory is compared with its own publication, but the original has "
            f"{len(original)} and "
            f"the published data {len(published)}. Leave those that are not published without rows."
        )


def bounding_box(data: Points) -> tuple[float, float, float, float] | None:
    """Return (x_min, x_max, y_min, y_max) of all points; None without points.

    Examples
    --------
    >>> bounding_box(Points.from_records([[(0, 1.0, 5.0)], [(0, 3.0, 4.0)]]))
    (1.0, 3.0, 4.0, 5.0)
    """
    if not data.n_rows:
        return None
    return float(data.x.min()), float(data.x.max()), float(data.y.min()), float(data.y.max())


def extent(data: Points) -> Extent:
    """Return the bounding box as something that adds up over pieces."""
    x_min, x_max, y_min, y_max = bounding_box(data) or (None,) * 4
    return Minimum(x_min), Maximum(x_max), Minimum(y_min), Maximum(y_max)


def sides(box: Extent) -> tuple[float, float]:
    """Return width and height of a bounding box; 0 without points.

    Examples
    --------
    >>> sides(extent(Points.from_records([[(0, 1.0, 5.0)], [(0, 3.0, 4.0)]])))
    (2.0, 1.0)
    """
    x_min, x_max, y_min, y_max = (side.value for side in box)
    return (0.0, 0.0) if x_min is None else (x_max - x_min, y_max - y_min)


def longer_side(data: Points) -> float:
    """Return the longer side of the bounding box; 0 without points."""
    box = bounding_box(data)
    side = max(box[1] - box[0], box[3] - box[2]) if box else 0.0
    if side > _LONGEST:
        raise InputError(f"The coordinates span more than {_LONGEST:g} metres, so areas and distances have no numbers.")
    return side


def with_rows(data: Points | Boxes) -> Array:
    """Return which trajectories have a row; the others were not published."""
    return np.diff(data.offsets) > 0


def centres(data: Points | Boxes) -> tuple[Array, Array, Array]:
    """Return t, x and y of every row as floats; a box stands for the middle of its place and of its time.

    Examples
    --------
    >>> [c.tolist() for c in centres(Boxes.from_records([[(0, 4, 1.0, 3.0, 5.0, 5.0)]]))]
    [[2.0], [2.0], [5.0]]
    """
    if isinstance(data, Points):
        return data.t.astype(np.float64), data.x, data.y
    # Halves are added: the sum of two large numbers could overflow.
    t = data.t_min.astype(np.float64) / 2 + data.t_max.astype(np.float64) / 2
    return t, data.x_min / 2 + data.x_max / 2, data.y_min / 2 + data.y_max / 2


def finite(value: Any) -> float | None:
    """Return a number as a float; None where there is none or where it is too large for one.

    Examples
    --------
    >>> finite(np.float64(2)), finite(np.inf), finite(None)
    (2.0, None, None)
    """
    return float(value) if value is not None and math.isfinite(value) else None


_AUTO_CELLS = 16
_OUTSIDE = 0.025  # of the positions may lie beyond each end of what is called usual
_FAR = 1 << 40  # cells further away than this are one, so that numbers of cells fit


def cell_parameter() -> Any:
    """Declare how large cells are."""
    return parameter(
        kind="number",
        low=0.001,
        choices=("auto",),
        default="auto",
        help="side of a cell in metres; auto: about 1/16 of what the middle 95 % of the positions span, a round number",
    )


def usual_span(values: Array) -> tuple[float, float]:
    """Return between which two values the middle 95 % lie: a few that are far away from all others change little.

    Of up to 40 values these are the smallest and the largest.

    Examples
    --------
    >>> usual_span(np.append(np.arange(100.0), 1e9)), usual_span(np.array([3.0, 5.0]))
    ((2.0, 98.0), (3.0, 5.0))
    """
    # The quantiles are values of the data ("lower", "higher"), so that few values give their own ends.
    low = np.quantile(values, _OUTSIDE, method="lower")
    high = np.quantile(values, 1 - _OUTSIDE, method="higher")
    return float(low), float(high)


def usual_box(data: Points) -> tuple[float, float, float, float] | None:
    """Return (x_min, x_max, y_min, y_max) of where the middle 95 % of the points are, on each axis; None without."""
    return (*usual_span(data.x), *usual_span(data.y)) if data.n_rows else None


def usual_side(data: Points) -> float:
    """Return the longer side of the usual box; 0 without points."""
    box = usual_box(data)
    side = max(box[1] - box[0], box[3] - box[2]) if box else 0.0
    if side > _LONGEST:
        raise InputError(f"The coordinates span more than {_LONGEST:g} metres, so areas and distances have no numbers.")
    return side


def cell_side(cell: float | str, original: Points) -> float:
    """Return the side of a cell in metres; one position far away from all others does not change it.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0), (1, 32.0, 8.0)]])
    >>> cell_side("auto", data), cell_side(5.0, data)
    (2.0, 5.0)
    """
    if not isinstance(cell, str):
        return cell
    # By the usual span and not the bounding box, or one wrong position at the other end of the world would make a city
    # one cell.
    side = usual_side(original) / _AUTO_CELLS
    return round_up(side) if side > 0 else 1.0


def cell_corner(original: Points, cell: float) -> tuple[float, float]:
    """Return where column 0 and row 0 of the cells begin: at multiples of the side, near the usual south-west corner.

    Examples
    --------
    >>> cell_corner(Points.from_records([[(0, 23.0, -1.0)]]), 10.0)
    (20.0, -10.0)
    """
    x_min, _, y_min, _ = usual_box(original) or (0.0, 0.0, 0.0, 0.0)
    with np.errstate(over="ignore"):
        # A multiple of the side: the grid does not move when the data grow a little.
        return float(np.floor(x_min / cell) * cell), float(np.floor(y_min / cell) * cell)


def round_up(value: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below `value`; 1 for next to nothing.

    Examples
    --------
    >>> round_up(0.03), round_up(20.0), round_up(21.0)
    (0.05, 20.0, 50.0)
    """
    if value < 1e-300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((digit * power for digit in (1, 2, 5) if digit * power >= value), 10 * power)


def lines_of(place: NDArray[Any], begin: float, side: float) -> NDArray[np.int64]:
    """Return the column of the cells in which these x are, or the row of these y, counted from `begin`.

    Examples
    --------
    >>> lines_of(np.array([0.0, 19.9, 20.0, -1.0]), 0.0, 10.0).tolist()
    [0, 1, 2, -1]
    """
    return np.clip(np.floor((place - begin) / side), -_FAR, _FAR).astype(np.int64)
