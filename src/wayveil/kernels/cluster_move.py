"""Moving points into disks around a centre: the smallest translation, or to a place that says nothing about them."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["clamp", "smallest_circle", "translate"]


@kernel
def translate(x, y, begin, end, member, first, half, use_mec, off_x, off_y, c_begin, c_end):
    """Move the points of clusters into disks of radius `half`, in place; return the way moved per cluster.

    Cluster c has the trajectories ``member[first[c]:first[c + 1]]``, all with the same timestamps; the rows of i are
    ``begin[i]:end[i]``.  The centre of each timestamp is the mean, or the centre of the smallest enclosing circle.
    Where `off_x` and `off_y` hold a number per trajectory, trajectory i is put at this offset from the centres, of at
    most `half`, wherever it was; where they are empty, to the nearest point of the disks.
    O(points) time, for the circles O(points x members) at worst; O(members) memory.
    """
    moved = np.zeros(c_end - c_begin, np.float64)
    for c in range(c_begin, c_end):
        a, b = first[c], first[c + 1]
        px, py = np.empty(b - a, np.float64), np.empty(b - a, np.float64)
        for step in range(end[member[a]] - begin[member[a]]):
            for i in range(a, b):
                px[i - a], py[i - a] = x[begin[member[i]] + step], y[begin[member[i]] + step]
            cx, cy = _mean(px), _mean(py)
            if use_mec:
                cx, cy, _ = smallest_circle(px, py)
            for i in range(a, b):
                row = begin[member[i]] + step
                if off_x.size > 0:
                    x[row], y[row] = clamp(cx + off_x[member[i]], cy + off_y[member[i]], cx, cy, half)
                else:
                    x[row], y[row] = clamp(px[i - a], py[i - a], cx, cy, half)
                moved[c - c_begin] += np.sqrt((x[row] - px[i - a]) ** 2 + (y[row] - py[i - a]) ** 2)
    return moved


@inner
def clamp(x, y, cx, cy, half):
    """Return the point of the disk around (cx, cy) that is nearest to (x, y), to a part in 10^12.

    At huge coordinates rounding can leave the disk again; then the point goes further in, at worst to the centre.
    """
    dx, dy = x - cx, y - cy
    if dx * dx + dy * dy <= half * half:
        return x, y
    share, less = half / np.sqrt(dx * dx + dy * dy) * (1.0 - 1e-12), 1e-12
    while less < 1.0:
        x, y = cx + dx * share, cy + dy * share
        if (x - cx) ** 2 + (y - cy) ** 2 <= half * half:
            return x, y
        share, less = share * (1.0 - less), 4.0 * less
    return cx, cy


@inner
def _mean(values):
    """Return the mean; of equal values exactly this value."""
    total = 0.0
    for i in range(values.size):
        total += values[i] - values[0]
    return values[0] + total / values.size


@inner
def smallest_circle(x, y):
    """Return (x, y, radius) of the smallest circle around all points, to rounding.

    Point by point: whoever is outside the circle so far lies on the border of the next one.  Linear for points in
    random order, quadratic for points along a line.
    """
    cx, cy, r2 = x[0], y[0], 0.0
    for i in range(1, x.size):
        if _outside(x[i], y[i], cx, cy, r2):
            cx, cy, r2 = x[i], y[i], 0.0
            for j in range(i):
                if _outside(x[j], y[j], cx, cy, r2):
                    cx, cy = x[i] + (x[j] - x[i]) / 2, y[i] + (y[j] - y[i]) / 2
                    r2 = ((x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2) / 4
                    for k in range(j):
                        if _outside(x[k], y[k], cx, cy, r2):
                            cx, cy, r2 = _through(x[i], y[i], x[j], y[j], x[k], y[k], cx, cy, r2)
    return cx, cy, np.sqrt(r2)


@inner
def _outside(x, y, cx, cy, r2):
    return (x - cx) ** 2 + (y - cy) ** 2 > r2 * (1.0 + 1e-12)


@inner
def _through(ax, ay, bx, by, px, py, cx, cy, r2):
    """Return the circle through three points; where they lie on a line, the one before."""
    bx, by, px, py = bx - ax, by - ay, px - ax, py - ay
    area = 2.0 * (bx * py - by * px)
    if area == 0.0:
        return cx, cy, r2
    b2, p2 = bx * bx + by * by, px * px + py * py
    ux, uy = (py * b2 - by * p2) / area, (bx * p2 - px * b2) / area
    return ax + ux, ay + uy, ux * ux + uy * uy
