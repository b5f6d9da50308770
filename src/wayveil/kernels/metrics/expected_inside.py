"""How many trajectories are to be expected inside each of many regions, on average over its interval of time."""

from __future__ import annotations

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["expect_inside"]

_MOMENTS = 5  # of the interval at which it is looked
_LINES = 8  # of sample points along each side of a box, for discs


@kernel
def expect_inside(b, q, disc, expected):
    """Add to `expected`, one float64 per query, the mean number of trajectories inside at five moments of its interval.

    `b` are BoxColumns and `q` Queries of ``range_predicates``.  At a moment a trajectory is inside with the share of
    its box that lies in the region; a point is inside or not, borders included; before its first and after its last row
    a trajectory is nowhere.  Of a disc the share is that of 8 x 8 points of the box.

    O(trajectories x queries) time for looking at extents, and O(log rows) for each pair that is near; no memory.
    """
    for trajectory in range(b.offsets.size - 1):
        first = b.offsets[trajectory]
        last = b.offsets[trajectory + 1] - 1
        if first > last:
            continue
        west = b.x_min[first]
        east = b.x_max[first]
        south = b.y_min[first]
        north = b.y_max[first]
        for row in range(first + 1, last + 1):
            west = min(west, b.x_min[row])
            east = max(east, b.x_max[row])
            south = min(south, b.y_min[row])
            north = max(north, b.y_max[row])
        born = float(b.t_min[first])
        dies = float(b.t_max[last])
        for i in range(q.x.size):
            if q.end[i] < born or q.begin[i] > dies:
                continue
            half = q.half[i]
            if q.x[i] - half > east or q.x[i] + half < west or q.y[i] - half > north or q.y[i] + half < south:
                continue
            step = (q.end[i] - q.begin[i]) / _MOMENTS
            total = 0.0
            for turn in range(_MOMENTS):
                moment = q.begin[i] + (turn + 0.5) * step
                if born <= moment <= dies:
                    total += _share_inside(b, first, last, moment, q.x[i], q.y[i], half, disc)
            expected[i] += total / _MOMENTS


@inner
def _share_inside(b, first, last, moment, x, y, half, disc):
    """The share of the box of a trajectory at a moment of its life that lies in the square or disc around (x, y)."""
    low = first
    high = last
    while low < high:  # the first row that ends at the moment or later: it holds it, or the way there does
        middle = (low + high) // 2
        if float(b.t_max[middle]) < moment:
            low = middle + 1
        else:
            high = middle
    west = b.x_min[low]
    east = b.x_max[low]
    south = b.y_min[low]
    north = b.y_max[low]
    begin = float(b.t_min[low])
    if moment < begin:
        left = float(b.t_max[low - 1])
        u = (moment - left) / (begin - left)
        west = b.x_min[low - 1] + u * (west - b.x_min[low - 1])
        east = b.x_max[low - 1] + u * (east - b.x_max[low - 1])
        south = b.y_min[low - 1] + u * (south - b.y_min[low - 1])
        north = b.y_max[low - 1] + u * (north - b.y_max[low - 1])
    if disc:
        inside = 0
        for i in range(_LINES):
            gx = west + (i + 0.5) / _LINES * (east - west) - x
            for j in range(_LINES):
                gy = south + (j + 0.5) / _LINES * (north - south) - y
                inside += gx * gx + gy * gy <= half * half
        return inside / (_LINES * _LINES)
    return _covered(west, east, x - half, x + half) * _covered(south, north, y - half, y + half)


@inner
def _covered(low, high, begin, end):
    """The share of the interval low to high that lies between begin and end; of a point all or nothing."""
    if high <= low:
        return 1.0 if begin <= low <= end else 0.0
    return max(0.0, min(high, end) - max(low, begin)) / (high - low)
