"""The trajectory graph of one part: who s-overlaps with whom, and how far apart they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["AXES", "NO_EDGE", "edge_weights"]

_EITHER = 0
_BOTH = 1
_ONLY_X = 2
_ONLY_Y = 3

AXES = {"or": _EITHER, "and": _BOTH, "x": _ONLY_X, "y": _ONLY_Y}
"""On which axis a sample must lie between start and end of the other trajectory: either, both, or one of them."""

NO_EDGE = 1e300
"""The weight of a pair without an edge: larger than that of any edge."""


def edge_weights(x: Any, y: Any, axes: str) -> NDArray[np.float64]:
    """Return the weights of all edges of synchronized trajectories, as a symmetric matrix with `NO_EDGE` elsewhere.

    Row p of x and y are the positions of trajectory p.  There is an edge where a sample of p lies between the start
    and the end of q (in the sense of `axes`) and one of q between those of p; its weight is the mean distance
    of the samples at the same time.  O(pairs x log timestamps + edges x timestamps) time, O(pairs) memory: cut large
    classes before.

    Examples
    --------
    >>> x = np.array([[0.0, 5.0, 10.0], [2.0, 7.0, 12.0], [50.0, 55.0, 60.0]])
    >>> y = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [9.0, 9.0, 9.0]])
    >>> weights = edge_weights(x, y, "x")
    >>> float(weights[0, 1]) == 5**0.5, bool(weights[0, 2] == NO_EDGE)
    (True, True)
    """
    x, y = (np.require(a, np.float64, ["C", "W"]) for a in (x, y))
    return _weights(x, y, np.sort(x, axis=1), np.sort(y, axis=1), AXES[axes])


@kernel
def _weights(x, y, x_sorted, y_sorted, axes):
    """As `edge_weights`; all four arrays are float64, trajectories x timestamps, each row of the last two ascending."""
    n, m = x.shape
    weights = np.empty((n, n), np.float64)
    # Algorithm 1 for all pairs: an edge where both s-overlap with each other (Definition 4), which the paper's order of
    # vertices does not change.  Its weight is Definition 3 as a true average.
    for p in range(n):
        weights[p, p] = NO_EDGE
        for q in range(p):
            weight = NO_EDGE
            if _overlaps(x, y, x_sorted, y_sorted, p, q, axes) and _overlaps(x, y, x_sorted, y_sorted, q, p, axes):
                weight = 0.0
                for j in range(m):
                    across = x[p, j] - x[q, j]
                    along = y[p, j] - y[q, j]
                    weight += np.sqrt(across * across + along * along)
                weight /= m
            weights[p, q] = weight
            weights[q, p] = weight
    return weights


@inner
def _overlaps(x, y, x_sorted, y_sorted, p, q, axes):
    """Return whether a sample of p lies between start and end of q."""
    last = x.shape[1] - 1
    west = min(x[q, 0], x[q, last])
    east = max(x[q, 0], x[q, last])
    south = min(y[q, 0], y[q, last])
    north = max(y[q, 0], y[q, last])
    if axes == _EITHER:
        return _has_between(x_sorted[p], west, east) or _has_between(y_sorted[p], south, north)
    if axes == _ONLY_X:
        return _has_between(x_sorted[p], west, east)
    if axes == _ONLY_Y:
        return _has_between(y_sorted[p], south, north)
    if not (_has_between(x_sorted[p], west, east) and _has_between(y_sorted[p], south, north)):
        return False
    # Both axes: each has a sample between, but it must be the same one.
    found = False
    for j in range(last + 1):
        found |= west <= x[p, j] <= east and south <= y[p, j] <= north
    return found


@inner
def _has_between(values, low, high):
    """Return whether one of the ascending values is in [low, high]; O(log values)."""
    # A binary search for the first that is not below.
    left = np.int64(0)
    right = np.int64(values.size)
    while left < right:
        middle = (left + right) // 2
        if values[middle] < low:
            left = middle + 1
        else:
            right = middle
    return left < values.size and values[left] <= high
