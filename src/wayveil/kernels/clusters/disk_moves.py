"""Moving points into disks around a centre: the smallest translation, or to a place that says nothing about them."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["ClusterMembers", "DiskOffset", "PlanarPoints", "clamp", "smallest_circle", "translate"]

PlanarPoints = namedtuple("PlanarPoints", ["x", "y", "begin", "end"])
"""Trajectories in the plane: i has the rows ``begin[i]:end[i]`` (int64) of x, y (float64), which `translate` moves."""

ClusterMembers = namedtuple("ClusterMembers", ["member", "first"])
"""Cluster c has the trajectories ``member[first[c]:first[c + 1]]``, all with the same timestamps (both int64)."""

DiskOffset = namedtuple("DiskOffset", ["x", "y"])
"""Where each trajectory is put in the disks, seen from their centres: two float64 per trajectory, at most the radius of
the disks long; or none at all, if trajectories go to the nearest points of the disks."""


_ON_A_LINE = -1.0  # no squared radius


@kernel
def translate(points, clusters, half, use_mec, offset, c_begin, c_end):
    """Move the points of the clusters from `c_begin` to `c_end` into disks of radius `half`; return the way of each.

    The centre of each timestamp is the mean, or with `use_mec` the centre of the smallest enclosing circle.  Where
    `offset` holds numbers, trajectory i is put at this offset from the centres wherever it was; else it goes to the
    nearest points of the disks.
    O(points) time, for the circles O(points x members) at worst; O(members) memory.
    """
    begin = points.begin
    moved = np.zeros(c_end - c_begin, np.float64)
    # Step 4 of NWA: at each timestamp everybody moves into the disk of diameter delta around a common centre, so any
    # two of them are at most delta apart.
    for c in range(c_begin, c_end):
        members = clusters.member[clusters.first[c] : clusters.first[c + 1]]
        x = np.empty(members.size, np.float64)
        y = np.empty(members.size, np.float64)
        for step in range(points.end[members[0]] - begin[members[0]]):
            for i in range(members.size):
                x[i] = points.x[begin[members[i]] + step]
                y[i] = points.y[begin[members[i]] + step]
            centre_x = _mean(x)
            centre_y = _mean(y)
            if use_mec:
                centre_x, centre_y, _ = smallest_circle(x, y)
            for i in range(members.size):
                if offset.x.size > 0:
                    wish_x = centre_x + offset.x[members[i]]
                    wish_y = centre_y + offset.y[members[i]]
                    new_x, new_y = clamp(wish_x, wish_y, centre_x, centre_y, half)
                else:
                    new_x, new_y = clamp(x[i], y[i], centre_x, centre_y, half)
                row = begin[members[i]] + step
                points.x[row] = new_x
                points.y[row] = new_y
                moved[c - c_begin] += np.sqrt((new_x - x[i]) ** 2 + (new_y - y[i]) ** 2)
    return moved


@inner
def clamp(x, y, centre_x, centre_y, half):
    """Return the point of the disk of radius `half` that is nearest to (x, y), to a part in 10^12.

    At huge coordinates rounding can leave the disk again; then the point goes further in, at worst to the centre.
    """
    dx = x - centre_x
    dy = y - centre_y
    if dx * dx + dy * dy <= half * half:
        return x, y
    share = half / np.sqrt(dx * dx + dy * dy) * (1.0 - 1e-12)
    # Before each round the way from the centre is too long by rounding; a round shortens it by four times as much as
    # the one before, so twenty are enough to see that only the centre is left.
    less = 1e-12
    while less < 1.0:
        x = centre_x + dx * share
        y = centre_y + dy * share
        if (x - centre_x) ** 2 + (y - centre_y) ** 2 <= half * half:
            return x, y
        share = share * (1.0 - less)
        less = 4.0 * less
    return centre_x, centre_y


@inner
def _mean(values):
    """Return the mean; of equal values exactly this value."""
    total = 0.0
    for i in range(values.size):
        total += values[i] - values[0]
    return values[0] + total / values.size


@inner
def smallest_circle(x, y):
    """Return (x, y, radius) of the smallest circle around all points (float64, one each), to rounding.

    Linear for points in random order, quadratic for points along a line.
    """
    # Welzl's algorithm without recursion: whoever is outside the circle so far lies on the border of the next one.
    # Before round i the circle is the smallest around the points before i.  If i is outside, the second loop makes the
    # smallest one with i on its border, and the third the smallest with both i and j on it; three points on the border
    # determine a circle, so no fourth loop is needed.
    centre_x = x[0]
    centre_y = y[0]
    r2 = 0.0
    for i in range(1, x.size):
        if _is_outside(x[i], y[i], centre_x, centre_y, r2):
            centre_x = x[i]
            centre_y = y[i]
            r2 = 0.0
            for j in range(i):
                if _is_outside(x[j], y[j], centre_x, centre_y, r2):
                    centre_x = x[i] + (x[j] - x[i]) / 2
                    centre_y = y[i] + (y[j] - y[i]) / 2
                    r2 = ((x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2) / 4
                    for k in range(j):
                        if _is_outside(x[k], y[k], centre_x, centre_y, r2):
                            dx, dy, through_r2 = _circle_through(x[j] - x[i], y[j] - y[i], x[k] - x[i], y[k] - y[i])
                            if through_r2 != _ON_A_LINE:  # else the circle so far is kept
                                centre_x = x[i] + dx
                                centre_y = y[i] + dy
                                r2 = through_r2
    return centre_x, centre_y, np.sqrt(r2)


@inner
def _is_outside(x, y, centre_x, centre_y, r2):
    """Return whether a point is outside a circle by more than rounding."""
    return (x - centre_x) ** 2 + (y - centre_y) ** 2 > r2 * (1.0 + 1e-12)


@inner
def _circle_through(bx, by, px, py):
    """Return centre and squared radius, or `_ON_A_LINE`, of the circle through (0, 0) and two more points."""
    area = 2.0 * (bx * py - by * px)
    if area == 0.0:
        return 0.0, 0.0, _ON_A_LINE
    b2 = bx * bx + by * by
    p2 = px * px + py * py
    dx = (py * b2 - by * p2) / area
    dy = (bx * p2 - px * b2) / area
    return dx, dy, dx * dx + dy * dy
