"""Distances from a known position to a trajectory of boxes in space and time; for the kernels of attacks.

A point is a box without extent, so points and regions share all of this.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner

__all__ = ["BoxSides", "around_cost", "cost_at", "first_ending", "outside", "way"]

Ints = NDArray[Any]
Floats = NDArray[Any]


class BoxSides(NamedTuple):
    """When and where, one box per row; inside a trajectory the times never fall."""

    t_min: Ints
    t_max: Ints
    x_min: Floats
    x_max: Floats
    y_min: Floats
    y_max: Floats


@inner
def cost_at(rows: BoxSides, first: int, last: int, t: int, x: float, y: float, speed: float) -> float:
    """Return the squared distance from (x, y) at `t` to the trajectory ``first:last``.

    Between two boxes the sides move evenly from one to the other.  Before the first and after the last box, time counts
    as the way that `speed` makes of it.  O(log rows), plus the boxes that hold `t`.
    """
    row = first_ending(rows.t_max, first, last, t)
    if row == last:
        return outside(rows, last - 1, x, y) + (speed * _time(rows.t_max[last - 1], t)) ** 2
    if rows.t_min[row] <= t:
        nearest = np.inf
        while row < last and rows.t_min[row] <= t:
            nearest = min(nearest, outside(rows, row, x, y))
            row += 1
        return nearest
    if row == first:
        return outside(rows, first, x, y) + (speed * _time(t, rows.t_min[first])) ** 2
    share = _time(rows.t_max[row - 1], t) / _time(rows.t_max[row - 1], rows.t_min[row])
    dx = _beyond(x, _between(rows.x_min, row, share), _between(rows.x_max, row, share))
    dy = _beyond(y, _between(rows.y_min, row, share), _between(rows.y_max, row, share))
    return dx * dx + dy * dy


@inner
def around_cost(around: BoxSides, slot: int, t: int, x: float, y: float, speed: float) -> float:
    """Return a lower bound of `cost_at` for a trajectory inside the box ``around[slot]``."""
    gap = 0.0
    if t < around.t_min[slot]:
        gap = speed * _time(t, around.t_min[slot])
    elif t > around.t_max[slot]:
        gap = speed * _time(around.t_max[slot], t)
    return outside(around, slot, x, y) + gap * gap


@inner
def outside(boxes: BoxSides, row: int, x: float, y: float) -> float:
    """Return the squared distance from (x, y) to a box; 0 inside."""
    dx = _beyond(x, boxes.x_min[row], boxes.x_max[row])
    dy = _beyond(y, boxes.y_min[row], boxes.y_max[row])
    return dx * dx + dy * dy


@inner
def way(rows: BoxSides, row: int, start: int, stop: int, x: float, y: float) -> float:
    """Return the squared distance from (x, y) to the straight way from the point `row` to the next, of which only what
    lies from `start` to `stop` counts (they overlap the way)."""
    begin = rows.t_min[row]
    end = rows.t_min[row + 1]
    low = _time(begin, start) / _time(begin, end) if start > begin else 0.0
    high = _time(begin, stop) / _time(begin, end) if stop < end else 1.0
    dx = rows.x_min[row + 1] - rows.x_min[row]
    dy = rows.y_min[row + 1] - rows.y_min[row]
    px = x - rows.x_min[row]
    py = y - rows.y_min[row]
    length = dx * dx + dy * dy
    share = min(max((px * dx + py * dy) / length, low), high) if length > 0 else low
    return (px - share * dx) ** 2 + (py - share * dy) ** 2


@inner
def first_ending(t_max: Ints, first: int, last: int, t: int) -> int:
    """Return the first row of ``first:last`` that does not end before `t`, or `last`."""
    while first < last:
        middle = (first + last) >> 1
        if t_max[middle] < t:
            first = middle + 1
        else:
            last = middle
    return first


@inner
def _beyond(at: float, low: float, high: float) -> float:
    """Return how far a number is outside an interval; 0 inside."""
    return max(low - at, at - high, 0.0)


@inner
def _between(side: Floats, row: int, share: float) -> float:
    """Return where a side is after a share of its way from the row before to this one."""
    return side[row - 1] + share * (side[row] - side[row - 1])


@inner
def _time(early: int, late: int) -> float:
    """Return late - early; in halves, as the times of a file may be further apart than an int64 can say."""
    return 2.0 * ((late >> 1) - (early >> 1)) + ((late & 1) - (early & 1))
