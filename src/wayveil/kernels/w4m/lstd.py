"""The linear spatio-temporal distance (LSTD) of W4M-L: one greedy walk along two trajectories.

A point has x, y and s, its time as a length.  A pair of points costs the number of whole units between them, at most
`cap`.  The walk starts with the two first points.  At each step it goes on in both trajectories, in the second only, or
in the first only, whichever costs least (in this order among equals).  When one is at its end, the rest of the other
is paired with its last point.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["lstd", "lstd_of"]


@kernel
def lstd_of(points, measure, p, q):
    """Return (cost, largest planar distance of a pair, position in q for every position in p).

    `points` is a `TimedPoints`, `measure` a `Measure`; p and q are the numbers of two trajectories.  O(length of both).
    """
    match = np.empty(points.offsets[p + 1] - points.offsets[p], np.int64)
    cost, widest = lstd(points, measure, p, q, match)
    return cost, widest, match


@inner
def lstd(points, measure, p, q, match):
    """As `lstd_of`, but `match` (int64, one per point of p or more) is filled; returns cost and largest distance."""
    p_begin = points.offsets[p]
    p_end = points.offsets[p + 1]
    q_begin = points.offsets[q]
    q_end = points.offsets[q + 1]
    # From here on a pair costs the cap whatever its exact distance: a square root is not worth it.
    beyond = (measure.cap * measure.unit) * (measure.cap * measure.unit) * (1.0 + 1e-12)
    i = p_begin
    j = q_begin
    total, widest = _pair(points, measure, beyond, i, j)
    match[0] = 0

    # The greedy walk (step 3 of LSTD).  Before each round points i and j are paired, and the pairs up to them cost
    # `total`.  A round compares three pairs that may be next, in the order that decides among equals: both go on, only
    # q does, only p does.  A pair that costs nothing cannot be beaten, so the others are not looked at.
    # It ends when one trajectory is at its last point, after at most as many rounds as both have points.
    while i + 1 < p_end and j + 1 < q_end:
        least, planar = _pair(points, measure, beyond, i + 1, j + 1)
        p_goes_on = True
        q_goes_on = True
        if least > 0:
            cost, other_planar = _pair(points, measure, beyond, i, j + 1)
            if cost < least:
                least = cost
                planar = other_planar
                p_goes_on = False
            cost, other_planar = _pair(points, measure, beyond, i + 1, j)
            if cost < least:
                least = cost
                planar = other_planar
                p_goes_on = True
                q_goes_on = False
        if q_goes_on:
            j += 1
        if p_goes_on:
            i += 1
            match[i - p_begin] = j - q_begin  # the first point that it is paired with; later ones do not change it
        total += least
        widest = max(widest, planar)

    # The rest of the longer one is paired with the last point of the other.
    while i + 1 < p_end:
        i += 1
        cost, planar = _pair(points, measure, beyond, i, j)
        total += cost
        widest = max(widest, planar)
        match[i - p_begin] = j - q_begin
    while j + 1 < q_end:
        j += 1
        cost, planar = _pair(points, measure, beyond, i, j)
        total += cost
        widest = max(widest, planar)
    return total, np.sqrt(widest)


@inner
def _pair(points, measure, beyond, i, j):
    """Return the cost of a pair of points and its squared planar distance (step 2 of LSTD)."""
    dx = points.x[i] - points.x[j]
    dy = points.y[i] - points.y[j]
    ds = points.s[i] - points.s[j]
    planar = dx * dx + dy * dy
    distance = planar + ds * ds
    if distance >= beyond:
        return measure.cap, planar
    return min(np.int64(np.sqrt(distance) / measure.unit), measure.cap), planar
