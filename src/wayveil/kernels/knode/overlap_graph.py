"""The trajectory graph of one part: who s-overlaps with whom, and how far apart they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.knode.group_boxes import Tracks

__all__ = ["AXES", "NO_EDGE", "edge_weights"]

_EITHER = 0
_BOTH = 1
_ONLY_X = 2
_ONLY_Y = 3

AXES = {"or": _EITHER, "and": _BOTH, "x": _ONLY_X, "y": _ONLY_Y}
"""On which axis a sample must lie between start and end of the other trajectory: either, both, or one of them."""

NO_EDGE = 1e300
"""The weight of a pair without an edge: larger than that of any edge."""


def edge_weights(tracks: Tracks, axes: str) -> NDArray[np.float64]:
    """Return the weights of all edges between trajectories, as a symmetric matrix with `NO_EDGE` elsewhere.

    A pair is compared at the timestamps that both have: the synchronized trajectories of the paper are this part of
    them.  There is an edge where a sample of p lies between the start and the end of q (in the sense of `axes`) and one
    of q between those of p; its weight is the mean distance of the samples at the same time.  Those that share no
    timestamp have no edge.  O(pairs x timestamps) time, O(pairs) memory: cut large classes before.

    Examples
    --------
    >>> x = np.array([0.0, 5.0, 10.0, 7.0, 12.0, 50.0, 55.0, 60.0])
    >>> y = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 9.0, 9.0, 9.0])
    >>> first, start, end = np.array([0, 3, 5]), np.array([0, 1, 0]), np.array([2, 2, 2])
    >>> weights = edge_weights(Tracks(first, start, end, np.arange(3), x, y), "x")
    >>> float(weights[0, 1]) == 5**0.5, bool(weights[0, 2] == NO_EDGE)
    (True, True)
    """
    return _weights(tracks, AXES[axes])


@kernel
def _weights(tracks, axes):
    """As `edge_weights`, with the number of `axes`."""
    n = tracks.first.size
    weights = np.empty((n, n), np.float64)
    # Algorithm 1 for all pairs: an edge where both s-overlap with each other (Definition 4), which the paper's order of
    # vertices does not change.  Its weight is Definition 3 as a true average.  Both are of the pair's own time.
    for p in range(n):
        weights[p, p] = NO_EDGE
        for q in range(p):
            weight = NO_EDGE
            low = max(tracks.start[p], tracks.start[q])
            m = min(tracks.end[p], tracks.end[q]) - low + 1
            if m > 0:
                a = tracks.first[p] + low - tracks.start[p]
                b = tracks.first[q] + low - tracks.start[q]
                if _overlaps(tracks, a, b, m, axes) and _overlaps(tracks, b, a, m, axes):
                    weight = 0.0
                    for j in range(m):
                        across = tracks.x[a + j] - tracks.x[b + j]
                        along = tracks.y[a + j] - tracks.y[b + j]
                        weight += np.sqrt(across * across + along * along)
                    weight /= m
            weights[p, q] = weight
            weights[q, p] = weight
    return weights


@inner
def _overlaps(tracks, a, b, m, axes):
    """Return whether one of the m samples from row a on lies between the first and the last of those from row b on."""
    x = tracks.x
    y = tracks.y
    west = min(x[b], x[b + m - 1])
    east = max(x[b], x[b + m - 1])
    south = min(y[b], y[b + m - 1])
    north = max(y[b], y[b + m - 1])
    for j in range(a, a + m):
        across = west <= x[j] <= east
        along = south <= y[j] <= north
        if axes == _EITHER:
            overlaps = across or along
        elif axes == _BOTH:
            overlaps = across and along
        else:
            overlaps = across if axes == _ONLY_X else along
        if overlaps:
            return True
    return False
