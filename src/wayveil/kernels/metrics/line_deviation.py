"""How far a trajectory is from the line through what is left of it."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["deviation_of", "deviations", "embedded"]


@kernel
def deviations(offsets, x, y, is_kept, nothing_left):
    """Return `deviation_of` every trajectory; 0 for those without rows.  O(rows).

    Trajectory i has the rows ``offsets[i]:offsets[i + 1]`` of `x`, `y` (float64) and `is_kept` (1 for rows left).

    Examples
    --------
    >>> x, y = np.array([0.0, 5.0, 10.0, 3.0]), np.array([0.0, 3.0, 0.0, 0.0])
    >>> deviations(np.array([0, 3, 4]), x, y, np.array([1, 0, 1, 0]), 9.0).tolist()
    [1.0, 9.0]
    """
    largest = np.zeros(offsets.size - 1)
    for i in range(largest.size):
        if offsets[i] < offsets[i + 1]:
            largest[i] = deviation_of(offsets[i], offsets[i + 1], x, y, is_kept, nothing_left)
    return largest


@kernel
def embedded(offsets, row, other_offsets, other_row):
    """Return 1 for each row of a trajectory that is found again in the other one, in the same order, else 0.

    Trajectory i has the rows ``offsets[i]:offsets[i + 1]`` of `row`, and those of `other_offsets` of `other_row`; equal
    rows have equal numbers (all int64).  Each row of the other one takes the first equal one that is left.  O(rows).

    Examples
    --------
    >>> embedded(np.array([0, 4]), np.array([7, 8, 7, 9]), np.array([0, 2]), np.array([7, 9])).tolist()
    [1, 0, 0, 1]
    """
    is_inside = np.zeros(row.size, np.int64)
    for i in range(offsets.size - 1):
        at = offsets[i]
        for j in range(other_offsets[i], other_offsets[i + 1]):
            ahead = at
            while ahead < offsets[i + 1] and row[ahead] != other_row[j]:
                ahead += 1
            if ahead < offsets[i + 1]:
                is_inside[ahead] = 1
                at = ahead + 1
    return is_inside


@inner
def deviation_of(start, end, x, y, is_kept, nothing_left):
    """Return the mean distance of the rows from `start` to `end` to the line through those that are kept.

    For a row between two kept ones it is the distance to the segment between these, before the first or after the last
    it is the distance to that one; where none is kept it is `nothing_left`.  O(rows).
    """
    # From one kept row to the next, and as if there were one behind the end.  Before each round, `total` counts the
    # rows before the kept row `last`.
    total = 0.0
    last = np.int64(-1)
    for row in range(start, end + 1):
        if row < end and is_kept[row] == 0:
            continue
        if row == end and last < 0:
            return nothing_left
        a = row if last < 0 else last
        b = last if row == end else row
        for lost in range(start if last < 0 else last + 1, row):
            total += _to_segment(x[lost], y[lost], x[a], y[a], x[b], y[b])
        last = row
    return total / (end - start)


@inner
def _to_segment(px, py, ax, ay, bx, by):
    """Return the distance of the point p to the segment from a to b."""
    dx = bx - ax
    dy = by - ay
    square = dx * dx + dy * dy
    along = 0.0
    if square > 0.0:
        along = min(1.0, max(0.0, ((px - ax) * dx + (py - ay) * dy) / square))
    ex = ax + along * dx - px
    ey = ay + along * dy - py
    return np.sqrt(ex * ex + ey * ey)
