"""The linear spatio-temporal distance: one greedy walk along two trajectories.

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
def lstd_of(x, y, s, p_begin, p_end, q_begin, q_end, unit, cap):
    """Return (cost, largest planar distance of a pair, position in q for every position in p).

    Rows ``p_begin:p_end`` and ``q_begin:q_end`` are the two trajectories.  O(length of both).
    """
    match = np.empty(p_end - p_begin, np.int64)
    cost, wide = lstd(x, y, s, p_begin, p_end, q_begin, q_end, unit, cap, match)
    return cost, wide, match


@inner
def lstd(x, y, s, p_begin, p_end, q_begin, q_end, unit, cap, match):
    """As `lstd_of`, with `match` to be filled; returns cost and largest planar distance."""
    beyond = (cap * unit) * (cap * unit) * (1.0 + 1e-12)  # from here on a square root is not worth it
    i, j = p_begin, q_begin
    total, widest = _pair(x, y, s, i, j, unit, cap, beyond)
    match[0] = 0
    while i + 1 < p_end and j + 1 < q_end:
        least, wide = _pair(x, y, s, i + 1, j + 1, unit, cap, beyond)
        go_p, go_q = np.int64(1), np.int64(1)
        if least > 0:
            cost, planar = _pair(x, y, s, i, j + 1, unit, cap, beyond)
            if cost < least:
                least, wide, go_p = cost, planar, np.int64(0)
            cost, planar = _pair(x, y, s, i + 1, j, unit, cap, beyond)
            if cost < least:
                least, wide, go_p, go_q = cost, planar, np.int64(1), np.int64(0)
        i += go_p
        j += go_q
        total += least
        widest = max(widest, wide)
        if go_p == 1:
            match[i - p_begin] = j - q_begin
    while i + 1 < p_end:
        i += 1
        cost, wide = _pair(x, y, s, i, j, unit, cap, beyond)
        total, widest = total + cost, max(widest, wide)
        match[i - p_begin] = j - q_begin
    while j + 1 < q_end:
        j += 1
        cost, wide = _pair(x, y, s, i, j, unit, cap, beyond)
        total, widest = total + cost, max(widest, wide)
    return total, np.sqrt(widest)


@inner
def _pair(x, y, s, i, j, unit, cap, beyond):
    """Return the cost of a pair and its squared planar distance."""
    dx, dy, ds = x[i] - x[j], y[i] - y[j], s[i] - s[j]
    planar = dx * dx + dy * dy
    far = planar + ds * ds
    if far >= beyond:
        return cap, planar
    return min(np.int64(np.sqrt(far) / unit), cap), planar
